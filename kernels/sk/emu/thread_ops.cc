#include <cstring>

#include "kernels/sk/emu/block.h"
#include "kernels/sk/memory.h"
#include "kernels/sk/thread.h"

// Indices, barriers of a block, registers of a warpgroup, plain memory and atomics.

namespace cairn::sk::emu {
namespace {

void CheckAligned(const void* pointer, std::size_t alignment, const char* operation) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  Thread& self = Current();
  self.block->Fail(operation, self.site,
                   "a pointer is not a multiple of " + std::to_string(alignment) +
                       " (the site is that of the thread's last wait)");
}

void ArriveAt(std::uint32_t id, std::uint32_t threads, bool is_waiting, const char* operation,
              Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  if (id >= block.barriers.size()) {
    block.Fail(operation, site, "barrier " + std::to_string(id) + ": there are 16");
  }
  NamedBarrier& barrier = block.barriers[id];
  if (threads == 0 || threads % kWarpLanes != 0 || threads > block.threads.size()) {
    block.Fail(operation, site, "a barrier of " + std::to_string(threads) + " threads");
  }
  if (barrier.arrived != 0 && barrier.expected != threads) {
    block.Fail(operation, site,
               "barrier " + std::to_string(id) + " of " + std::to_string(threads) +
                   " threads, and others arrived at it as one of " +
                   std::to_string(barrier.expected));
  }
  barrier.expected = threads;
  ++barrier.arrived;
  if (barrier.arrived < threads) {
    if (!is_waiting) return block.MayGiveWay();
    barrier.waiting.push_back(&self);
    return block.WaitIn(operation, site);
  }
  barrier.arrived = 0;
  for (Thread* thread : barrier.waiting) block.Wake(*thread);
  barrier.waiting.clear();
  block.NoteProgress();
  block.MayGiveWay();
}

struct RegisterArguments {
  int registers;
  bool is_claim;
};

void GiveOrTakeRegisters(Meeting& meeting) {
  const auto& arguments = *static_cast<RegisterArguments*>(meeting.arguments[0]);
  Block& block = *Current().block;
  Warp& warp = *Current().warp;
  const Site site = meeting.sites[0];
  const auto wanted = static_cast<std::uint32_t>(arguments.registers);
  const bool is_up = wanted > warp.registers;
  if (is_up != arguments.is_claim && wanted != warp.registers) {
    block.Fail(meeting.operation, site,
               "from " + std::to_string(warp.registers) + " to " + std::to_string(wanted) +
                   " registers is the other direction");
  }
  if (is_up) {
    const std::uint32_t missing = (wanted - warp.registers) * kWarpLanes;
    if (block.registers_free < missing) return;  // the lanes try again when some come free
    block.registers_free -= missing;
  } else {
    block.registers_free += (warp.registers - wanted) * kWarpLanes;
    block.NoteProgress();
  }
  warp.registers = wanted;
}

}  // namespace

void ChangeRegisters(int registers, bool is_claim, Site site) {
  Thread& self = Current();
  Block& block = *self.block;
  const char* operation = is_claim ? "ClaimRegisters" : "ReleaseRegisters";
  if (IsSkipped(self, site, operation)) return;
  if (registers % 8 != 0 || registers < 24 || registers > 256) {
    block.Fail(
        operation, site,
        std::to_string(registers) + " registers: a multiple of 8 from 24 to 256 is possible");
  }
  if (block.grid.registers_per_thread == 0) {
    block.Fail(operation, site, "the launch says no registers_per_thread");
  }
  RegisterArguments arguments{registers, is_claim};
  block.Meet(operation, kFullWarp, &arguments, GiveOrTakeRegisters, site);
  while (self.warp->registers != static_cast<std::uint32_t>(registers)) {
    block.WaitIn(operation, site, ThreadState::kPolling);
    block.Meet(operation, kFullWarp, &arguments, GiveOrTakeRegisters, site);
  }
  if (self.lane() != 0) return;
  self.warp->group_history = self.warp->group_history * 31 + static_cast<std::uint64_t>(registers);
  ++self.warp->group_operations;
}

}  // namespace cairn::sk::emu

namespace cairn::sk {

using emu::Block;
using emu::Current;
using emu::IsSkipped;
using emu::Thread;

std::uint32_t ThreadIndex() { return Current().index; }
std::uint32_t ThreadCount() { return Current().block->grid.threads; }
std::uint32_t BlockIndexX() { return Current().block->index[0]; }
std::uint32_t BlockIndexY() { return Current().block->index[1]; }
std::uint32_t BlockIndexZ() { return Current().block->index[2]; }
std::uint32_t BlockCountX() { return Current().block->grid.blocks_x; }
std::uint32_t BlockCountY() { return Current().block->grid.blocks_y; }
std::uint32_t BlockCountZ() { return Current().block->grid.blocks_z; }

void SyncBlock(Site site) {
  Thread& self = Current();
  if (IsSkipped(self, site, "SyncBlock")) return;
  // Hardware counts whole warps here; a last warp that is not full counts its threads.
  Block& block = *self.block;
  emu::NamedBarrier& barrier = block.barriers[0];
  const auto threads = static_cast<std::uint32_t>(block.threads.size());
  if (threads % kWarpLanes == 0) return emu::ArriveAt(0, threads, true, "SyncBlock", site);
  barrier.expected = threads;
  if (++barrier.arrived < threads) {
    barrier.waiting.push_back(&self);
    return block.WaitIn("SyncBlock", site);
  }
  barrier.arrived = 0;
  for (Thread* thread : barrier.waiting) block.Wake(*thread);
  barrier.waiting.clear();
  block.NoteProgress();
}

void SyncNamed(std::uint32_t id, std::uint32_t threads, Site site) {
  Thread& self = Current();
  std::uint32_t less = 0;
  if (IsSkipped(self, site, "SyncNamed", less)) return;
  emu::ArriveAt(id, threads - less * kWarpLanes, true, "SyncNamed", site);
}

void ArriveNamed(std::uint32_t id, std::uint32_t threads, Site site) {
  Thread& self = Current();
  std::uint32_t less = 0;
  if (IsSkipped(self, site, "ArriveNamed", less)) return;
  emu::ArriveAt(id, threads - less * kWarpLanes, false, "ArriveNamed", site);
}

void Pause(Site site) { Current().block->WaitIn("Pause", site, emu::ThreadState::kPolling); }

std::byte* SharedMemory() { return Current().block->arena.get(); }

SharedAddress ToShared(const void* pointer) {
  Block& block = *Current().block;
  const auto* place = static_cast<const std::byte*>(pointer);
  if (place < block.arena.get() || place > block.arena.get() + block.grid.shared_bytes) {
    block.Fail("ToShared", Current().site,
               "the pointer is not into shared memory (the site is that of the last wait)");
  }
  return emu::kSharedBase + static_cast<SharedAddress>(place - block.arena.get());
}

Words4 Load16(const void* pointer) {
  emu::CheckAligned(pointer, 16, "Load16");
  Words4 value;
  std::memcpy(&value, pointer, sizeof value);
  return value;
}
void Store16(void* pointer, const Words4& value) {
  emu::CheckAligned(pointer, 16, "Store16");
  std::memcpy(pointer, &value, sizeof value);
}
Words4 LoadStreaming16(const void* pointer) { return Load16(pointer); }

std::uint32_t AtomicAdd(std::uint32_t* pointer, std::uint32_t value) {
  const std::uint32_t old = *pointer;
  *pointer = old + value;
  return old;
}
float AtomicAdd(float* pointer, float value) {
  const float old = *pointer;
  *pointer = old + value;
  return old;
}
std::uint32_t AtomicMax(std::uint32_t* pointer, std::uint32_t value) {
  const std::uint32_t old = *pointer;
  if (value > old) *pointer = value;
  return old;
}
std::uint32_t AtomicExchange(std::uint32_t* pointer, std::uint32_t value) {
  const std::uint32_t old = *pointer;
  *pointer = value;
  return old;
}
std::uint32_t AtomicCompareExchange(std::uint32_t* pointer, std::uint32_t expected,
                                    std::uint32_t value) {
  const std::uint32_t old = *pointer;
  if (old == expected) *pointer = value;
  return old;
}

}  // namespace cairn::sk
