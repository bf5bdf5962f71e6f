#include <algorithm>
#include <cstring>

#include "kernels/sk/async_copy.h"
#include "kernels/sk/emu/block.h"
#include "kernels/sk/fence.h"
#include "kernels/sk/mbarrier.h"

// Shared memory, asynchronous copies into and out of it, mbarriers, and the two proxies.
//
// The generic proxy's bytes are `arena`, the async proxy's are `async_view`: a bulk load writes
// both when it arrives, plain stores write the first only, FenceProxyAsync copies first to second.

namespace cairn::sk::emu {
namespace {

constexpr std::int64_t kTransactionBytesMax = (1 << 20) - 1;  // PTX's range of the tx-count
constexpr std::uint32_t kArrivalsMax = (1 << 20) - 1;

// What an initialised mbarrier's 8 bytes hold: a store into them is noticed.
std::uint64_t Seal(SharedAddress address) {
  return 0x6d6261727269657eu ^ std::uint64_t{address} << 32;
}

std::string Text(std::uint64_t number) { return std::to_string(number); }

bool Overlap(SharedAddress a, std::uint32_t a_bytes, SharedAddress b, std::uint32_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

std::byte* Block::At(SharedAddress address, std::uint32_t bytes, std::uint32_t alignment,
                     const char* operation, Site site) {
  const std::uint64_t end = std::uint64_t{address} + bytes;
  if (address < kSharedBase || end > std::uint64_t{kSharedBase} + grid.shared_bytes) {
    Fail(operation, site,
         Text(bytes) + " bytes at shared address " + Text(address) + ", outside of " +
             Text(kSharedBase) + " to " + Text(kSharedBase + grid.shared_bytes));
  }
  if (address % alignment != 0) {
    Fail(operation, site,
         "shared address " + Text(address) + " is not a multiple of " + Text(alignment));
  }
  return arena.get() + (address - kSharedBase);
}

// ---- mbarriers ----------------------------------------------------------------------------------

Mbarrier& Block::MbarrierAt(SharedAddress address, const char* operation, Site site) {
  const std::byte* place = At(address, kMbarrierBytes, kMbarrierBytes, operation, site);
  for (Mbarrier& mbarrier : mbarriers) {
    if (mbarrier.address != address) continue;
    const std::uint64_t seal = Seal(address);
    if (std::memcmp(place, &seal, sizeof seal) != 0) {
      Fail(operation, site, "something was written over the mbarrier at " + Text(address));
    }
    return mbarrier;
  }
  Fail(operation, site, "there is no mbarrier at " + Text(address) + " (yet)");
}

void Block::Arrive(Mbarrier& mbarrier, std::uint32_t arrivals, std::int64_t bytes,
                   const char* operation, Site site) {
  if (arrivals > mbarrier.pending) {
    Fail(operation, site,
         "one arrival more than the " + Text(mbarrier.arrivals) +
             " that the phase of the mbarrier at " + Text(mbarrier.address) + " counts");
  }
  mbarrier.pending -= arrivals;
  mbarrier.transaction_bytes += bytes;
  if (std::abs(mbarrier.transaction_bytes) > kTransactionBytesMax) {
    Fail(operation, site, "an mbarrier counts 2^20 - 1 bytes at most");
  }
  if (mbarrier.pending != 0 || mbarrier.transaction_bytes != 0) return;
  mbarrier.phase ^= 1;
  mbarrier.pending = mbarrier.arrivals;
  for (Thread& thread : threads) {
    if (thread.state == ThreadState::kWaiting && thread.awaited_mbarrier == mbarrier.address) {
      Wake(thread);
    }
  }
  NoteProgress();
}

// ---- Bulk loads ---------------------------------------------------------------------------------

void Block::CompleteRandomLoad() {
  const std::uint32_t i = random.Below(static_cast<std::uint32_t>(loads.size()));
  const PendingLoad load = loads[i];
  loads.erase(loads.begin() + i);
  std::byte* target = arena.get() + (load.target - kSharedBase);
  std::memcpy(target, load.source, load.bytes);
  std::memcpy(AsyncAt(target), load.source, load.bytes);
  // The mbarrier was checked at the issue; if it is gone now, the kernel took it away too soon.
  Mbarrier& mbarrier = MbarrierAt(load.mbarrier, "BulkLoad (its completion)", Site{});
  Arrive(mbarrier, 0, -std::int64_t{load.bytes}, "BulkLoad (its completion)", Site{});
}

// ---- cp.async -----------------------------------------------------------------------------------

void Block::RunCopies(Thread& thread, std::uint32_t groups_left) {
  const std::uint32_t end = thread.copy_groups > groups_left ? thread.copy_groups - groups_left : 0;
  std::vector<PendingCopy>& copies = thread.copies;
  const auto kept = std::stable_partition(copies.begin(), copies.end(),
                                          [&](const PendingCopy& c) { return c.group < end; });
  for (auto left = static_cast<std::uint32_t>(kept - copies.begin()); left > 0; --left) {
    std::swap(copies[random.Below(left)], copies[left - 1]);
    const PendingCopy& copy = copies[left - 1];
    if (copy.source_bytes > 0) std::memcpy(copy.target, copy.source, copy.source_bytes);
    std::memset(copy.target + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  }
  copies.erase(copies.begin(), kept);
}

void IssueCopy(SharedAddress target, const void* source, std::uint32_t bytes,
               std::uint32_t source_bytes, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "CopyAsync")) return;
  std::byte* place = block.At(target, bytes, bytes, "CopyAsync", site);
  if (source_bytes > bytes) {
    block.Fail("CopyAsync", site, Text(source_bytes) + " source bytes of " + Text(bytes));
  }
  if (source_bytes > 0 && reinterpret_cast<std::uintptr_t>(source) % bytes != 0) {
    block.Fail("CopyAsync", site, "the source is not a multiple of " + Text(bytes));
  }
  std::memset(place, 0xff, bytes);
  self.copies.push_back(
      {place, static_cast<const std::byte*>(source), bytes, source_bytes, self.copy_groups});
}

void WaitCopies(std::uint32_t groups, Site site) {
  Thread& self = Current();
  std::uint32_t less = 0;
  if (IsSkipped(self, site, "WaitCopies", less)) return;
  self.block->MayGiveWay();
  self.block->RunCopies(self, groups + less);
}

// ---- Bulk stores --------------------------------------------------------------------------------

void Block::RunStores(Thread& thread, std::uint32_t groups_left, bool read_only) {
  const std::uint32_t end =
      thread.store_groups > groups_left ? thread.store_groups - groups_left : 0;
  std::vector<PendingStore*> due;
  for (PendingStore& store : thread.stores) {
    if (store.group < end) due.push_back(&store);
  }
  for (auto left = static_cast<std::uint32_t>(due.size()); left > 0; --left) {
    std::swap(due[random.Below(left)], due[left - 1]);
    PendingStore& store = *due[left - 1];
    if (!store.is_read) {
      const std::byte* source = async_view.data() + (store.source - kSharedBase);
      store.value.assign(source, source + store.bytes);
      store.is_read = true;
    }
    if (!read_only) std::memcpy(store.target, store.value.data(), store.bytes);
  }
  if (!read_only) {
    std::erase_if(thread.stores, [&](const PendingStore& store) { return store.group < end; });
  }
}

void WaitBulk(std::uint32_t groups, bool read_only, Site site) {
  Thread& self = Current();
  std::uint32_t less = 0;
  if (IsSkipped(self, site, read_only ? "WaitBulkRead" : "WaitBulk", less)) return;
  self.block->MayGiveWay();
  self.block->RunStores(self, groups + less, read_only);
}

void Block::CheckThreadEnd(Thread& thread) {
  for (const PendingStore& store : thread.stores) {
    if (!store.is_read) {
      Fail("BulkStore", store.site,
           "the thread ends, and nothing has waited until its source was read");
    }
  }
  RunStores(thread, 0, /*read_only=*/false);
  ++thread.copy_groups;  // what was issued and never waited for arrives, too late for anyone
  RunCopies(thread, 0);
}

}  // namespace cairn::sk::emu

// ---- The operations -----------------------------------------------------------------------------

namespace cairn::sk {

using emu::Block;
using emu::Current;
using emu::IsSkipped;
using emu::Mbarrier;
using emu::Text;
using emu::Thread;

void CommitCopies(Site site) {
  Thread& self = Current();
  if (IsSkipped(self, site, "CommitCopies")) return;
  ++self.copy_groups;
}

void BulkLoad(SharedAddress target, const void* source, std::uint32_t bytes, SharedAddress mbarrier,
              Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "BulkLoad")) return;
  std::byte* place = block.At(target, bytes, 16, "BulkLoad", site);
  if (bytes == 0 || bytes % 16 != 0 || reinterpret_cast<std::uintptr_t>(source) % 16 != 0) {
    block.Fail("BulkLoad", site, "size (" + Text(bytes) + ") and source must be multiples of 16");
  }
  if (!block.MbarrierAt(mbarrier, "BulkLoad", site).is_async_ready) {
    block.Fail("BulkLoad", site,
               "no fence made the mbarrier's initialisation visible to the async proxy");
  }
  if (std::memcmp(place, block.AsyncAt(place), bytes) != 0) {
    block.Fail("BulkLoad", site,
               "generic writes to its target were not ordered by FenceProxyAsync");
  }
  for (const emu::PendingLoad& other : block.loads) {
    if (emu::Overlap(target, bytes, other.target, other.bytes)) {
      block.Fail("BulkLoad", site, "another bulk load into the same bytes is under way");
    }
  }
  std::memset(place, 0xff, bytes);
  std::memset(block.AsyncAt(place), 0xff, bytes);
  block.loads.push_back({target, static_cast<const std::byte*>(source), bytes, mbarrier});
  block.MayGiveWay();
}

void BulkStore(void* target, SharedAddress source, std::uint32_t bytes, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "BulkStore")) return;
  block.At(source, bytes, 16, "BulkStore", site);
  if (bytes == 0 || bytes % 16 != 0 || reinterpret_cast<std::uintptr_t>(target) % 16 != 0) {
    block.Fail("BulkStore", site, "size (" + Text(bytes) + ") and target must be multiples of 16");
  }
  std::memset(target, 0xff, bytes);
  self.stores.push_back(
      {static_cast<std::byte*>(target), source, bytes, self.store_groups, false, {}, site});
}

void CommitBulk(Site site) {
  Thread& self = Current();
  if (IsSkipped(self, site, "CommitBulk")) return;
  ++self.store_groups;
}

void FenceProxyAsync(Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "FenceProxyAsync")) return;
  if (block.grid.shared_bytes > 0) {
    std::memcpy(block.async_view.data(), block.arena.get(), block.grid.shared_bytes);
  }
  for (Mbarrier& mbarrier : block.mbarriers) mbarrier.is_async_ready = true;
  block.MayGiveWay();
}

void FenceMbarrierInit(Site site) {
  Thread& self = Current();
  if (IsSkipped(self, site, "FenceMbarrierInit")) return;
  for (Mbarrier& mbarrier : self.block->mbarriers) mbarrier.is_async_ready = true;
}

void FenceBlock(Site site) { IsSkipped(Current(), site, "FenceBlock"); }
void FenceDevice(Site site) { IsSkipped(Current(), site, "FenceDevice"); }

void MbarrierInit(SharedAddress mbarrier, std::uint32_t arrivals, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "MbarrierInit")) return;
  std::byte* place = block.At(mbarrier, kMbarrierBytes, kMbarrierBytes, "MbarrierInit", site);
  if (arrivals == 0 || arrivals > emu::kArrivalsMax) {
    block.Fail("MbarrierInit", site, Text(arrivals) + " arrivals: 1 to 2^20 - 1 are possible");
  }
  for (const Mbarrier& other : block.mbarriers) {
    if (other.address == mbarrier) {
      block.Fail("MbarrierInit", site, "there is an mbarrier already; MbarrierInvalidate ends one");
    }
  }
  const std::uint64_t seal = emu::Seal(mbarrier);
  std::memcpy(place, &seal, sizeof seal);
  block.mbarriers.push_back({mbarrier, arrivals, arrivals, 0, 0, false});
}

void MbarrierInvalidate(SharedAddress mbarrier, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "MbarrierInvalidate")) return;
  const Mbarrier& found = block.MbarrierAt(mbarrier, "MbarrierInvalidate", site);
  block.mbarriers.erase(block.mbarriers.begin() + (&found - block.mbarriers.data()));
}

void MbarrierArrive(SharedAddress mbarrier, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "MbarrierArrive")) return;
  block.Arrive(block.MbarrierAt(mbarrier, "MbarrierArrive", site), 1, 0, "MbarrierArrive", site);
  block.MayGiveWay();
}

void MbarrierArriveExpect(SharedAddress mbarrier, std::uint32_t bytes, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "MbarrierArriveExpect")) return;
  block.Arrive(block.MbarrierAt(mbarrier, "MbarrierArriveExpect", site), 1, bytes,
               "MbarrierArriveExpect", site);
  block.MayGiveWay();
}

void MbarrierExpect(SharedAddress mbarrier, std::uint32_t bytes, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (IsSkipped(self, site, "MbarrierExpect")) return;
  // The bytes are added before the phase is looked at: adding cannot end it.
  Mbarrier& found = block.MbarrierAt(mbarrier, "MbarrierExpect", site);
  found.transaction_bytes += bytes;
}

void MbarrierWait(SharedAddress mbarrier, std::uint32_t parity, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  std::uint32_t less = 0;
  if (IsSkipped(self, site, "MbarrierWait", less)) return;
  parity = (parity ^ less) & 1;
  block.MayGiveWay();
  // Looked at anew after each wake-up: whoever sleeps through a whole phase misses it, as on a GPU.
  while (block.MbarrierAt(mbarrier, "MbarrierWait", site).phase == parity) {
    self.awaited_mbarrier = mbarrier;
    block.WaitIn("MbarrierWait", site);
  }
  self.awaited_mbarrier = 0;
}

bool MbarrierTryWait(SharedAddress mbarrier, std::uint32_t parity, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  std::uint32_t less = 0;
  if (IsSkipped(self, site, "MbarrierTryWait", less)) return true;
  parity = (parity ^ less) & 1;
  if (block.MbarrierAt(mbarrier, "MbarrierTryWait", site).phase != parity) return true;
  block.WaitIn("MbarrierTryWait", site, emu::ThreadState::kPolling);
  return block.MbarrierAt(mbarrier, "MbarrierTryWait", site).phase != parity;
}

}  // namespace cairn::sk
