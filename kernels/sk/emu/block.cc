#include "kernels/sk/emu/block.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/sk/index.h"

namespace cairn::sk::emu {
namespace {

thread_local Thread* current_thread = nullptr;

// Rounds without any progress in which every poller was asked again, before it counts as a
// deadlock.
constexpr std::uint32_t kIdleRoundsMax = 64;

std::string Count(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

Thread& Current() {
  if (current_thread == nullptr) __builtin_trap();  // an sk operation outside a kernel
  return *current_thread;
}

bool IsSkipped(Thread& thread, Site site, const char* operation) {
  return thread.block->sites.Visit(site, operation).is_skipped;
}
bool IsSkipped(Thread& thread, Site site, const char* operation, std::uint32_t& less) {
  const SiteTable::Entry& entry = thread.block->sites.Visit(site, operation);
  less = entry.is_lessened ? 1 : 0;
  return entry.is_skipped;
}
int ShiftAt(Site site) { return Current().block->sites.Visit(site, "Index").shift; }

// ---- Set-up -------------------------------------------------------------------------------------

void Block::Freer::operator()(std::byte* memory) const { std::free(memory); }

Block::Block(const Grid& grid, const std::array<std::uint32_t, 3>& index, std::uint64_t seed,
             SiteTable& sites, Random& random)
    : grid(grid),
      index(index),
      seed(seed),
      sites(sites),
      random(random),
      threads(grid.threads),
      warps((grid.threads + kWarpLanes - 1) / kWarpLanes),
      live_threads(grid.threads) {
  void* memory = nullptr;
  if (grid.shared_bytes > 0 && posix_memalign(&memory, 1024, grid.shared_bytes) != 0) std::abort();
  arena.reset(static_cast<std::byte*>(memory));
  if (memory != nullptr) std::memset(memory, 0xff, grid.shared_bytes);
  async_view.assign(grid.shared_bytes, std::byte{0xff});
  for (std::uint32_t i = 0; i < grid.threads; ++i) {
    threads[i].block = this;
    threads[i].index = i;
    threads[i].warp = &warps[i / kWarpLanes];
    threads[i].warp->ready |= 1u << (i % kWarpLanes);
  }
  for (std::uint32_t i = 0; i < warps.size(); ++i) {
    warps[i].index = i;
    warps[i].priority = random.Below(1u << 16);
    warps[i].registers = grid.registers_per_thread;
    ready_warps_ |= 1u << i;
  }
  static constexpr std::uint32_t kGiveWay[] = {0, 8, 64, 0};
  static constexpr std::uint32_t kEarlyLoad[] = {0, 16, 256, 0};
  give_way_one_in_ = kGiveWay[random.Below(4)];
  early_load_one_in_ = kEarlyLoad[random.Below(4)];
  by_priority_ = random.OneIn(2);
}

void Block::Run(const std::function<void()>& kernel, std::vector<std::unique_ptr<Fiber>>& fibers) {
  kernel_ = &kernel;
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    threads[i].fiber = fibers[i].get();
    threads[i].fiber->Start(&Block::ThreadMain, &threads[i]);
  }
  running_warp_ = PickWarp();
  Thread* first = PickNext();
  current_thread = first;
  Fiber::Switch(main_fiber_, *first->fiber);
  current_thread = nullptr;
  if (error.empty()) error = BlockEndError();
}

void Block::ThreadMain(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  Block& block = *thread.block;
  (*block.kernel_)();
  block.CheckThreadEnd(thread);
  thread.state = ThreadState::kDone;
  thread.warp->ready &= ~(1u << thread.lane());
  if (thread.warp->ready == 0) block.ready_warps_ &= ~(1u << thread.warp->index);
  block.NoteProgress();
  if (--block.live_threads == 0) block.LeaveForGood();
  Thread* next = block.PickNext();
  current_thread = next;
  Fiber::SwitchForGood(*thread.fiber, *next->fiber);
}

void Block::LeaveForGood() { Fiber::SwitchForGood(*current_thread->fiber, main_fiber_); }

// ---- Who goes on --------------------------------------------------------------------------------

std::uint32_t Block::PickWarp() {
  std::uint32_t chosen = 0;
  if (by_priority_) {
    if (random.OneIn(64)) warps[random.Below(warps.size())].priority = random.Below(1u << 16);
    for (std::uint32_t left = ready_warps_, best = 0; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      if (warps[i].priority >= best) best = warps[i].priority, chosen = i;
    }
  } else {
    std::uint32_t left = ready_warps_;
    for (std::uint32_t skip = random.Below(std::popcount(left)); skip > 0; --skip) left &= left - 1;
    chosen = static_cast<std::uint32_t>(std::countr_zero(left));
  }
  warps[chosen].cursor = random.Below(kWarpLanes);
  warps[chosen].is_descending = random.OneIn(2);
  return chosen;
}

// The next thread to run, made to wait for nothing any more. Fails if there is none and never will.
Thread* Block::PickNext() {
  if (!loads.empty() && random.OneIn(early_load_one_in_)) CompleteRandomLoad();
  while (ready_warps_ == 0) {
    if (!loads.empty()) {
      CompleteRandomLoad();
    } else if (pollers_ > 0 && idle_rounds_ < kIdleRoundsMax) {
      ++idle_rounds_;
      WakePollers();
    } else {
      error = DeadlockReport();
      LeaveForGood();
    }
  }
  if (warps[running_warp_].ready == 0 || random.OneIn(give_way_one_in_)) running_warp_ = PickWarp();
  Warp& warp = warps[running_warp_];
  // The first ready lane from the cursor on, in the direction of this turn.
  const std::uint32_t lane =
      warp.is_descending
          ? (warp.cursor - std::countl_zero(std::rotl(warp.ready, 31 - warp.cursor))) % kWarpLanes
          : (warp.cursor + std::countr_zero(std::rotr(warp.ready, warp.cursor))) % kWarpLanes;
  warp.cursor = (warp.is_descending ? lane - 1 : lane + 1) % kWarpLanes;
  return &threads[warp.index * kWarpLanes + lane];
}

void Block::WaitIn(const char* operation, Site site, ThreadState state) {
  Thread& self = Current();
  self.state = state;
  self.operation = operation;
  self.site = site;
  if (state == ThreadState::kPolling) ++pollers_;
  if (state != ThreadState::kReady) {
    self.warp->ready &= ~(1u << self.lane());
    if (self.warp->ready == 0) ready_warps_ &= ~(1u << self.warp->index);
  }
  Thread* next = PickNext();
  if (next == &self) return;
  current_thread = next;
  Fiber::Switch(*self.fiber, *next->fiber);
}

void Block::MayGiveWay() {
  if (!random.OneIn(give_way_one_in_)) return;
  running_warp_ = PickWarp();
  WaitIn("", Site{}, ThreadState::kReady);
}

void Block::Wake(Thread& thread) {
  if (thread.state == ThreadState::kPolling) --pollers_;
  thread.state = ThreadState::kReady;
  thread.warp->ready |= 1u << thread.lane();
  ready_warps_ |= 1u << thread.warp->index;
}

void Block::WakePollers() {
  for (Thread& thread : threads) {
    if (thread.state == ThreadState::kPolling) Wake(thread);
  }
}

void Block::NoteProgress() {
  idle_rounds_ = 0;
  if (pollers_ > 0) WakePollers();
}

// ---- Errors -------------------------------------------------------------------------------------

void Block::Fail(const char* operation, Site site, std::string what, Site other) {
  {
    const Thread& self = Current();
    const std::string text = std::move(what);
    error = std::string(operation) + " at " + SiteName(site) + ": " + text;
    if (other.line != 0) error += SiteName(other);
    error += " (block " + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
             std::to_string(index[2]) + ", warp " + std::to_string(self.warp->index) + ", lane " +
             std::to_string(self.lane()) + ", seed " + std::to_string(seed) + ")";
  }
  LeaveForGood();
  __builtin_trap();  // nothing resumes a thread after an error
}

std::string Block::DeadlockReport() const {
  // What waits where, each with the warps in question.
  std::map<std::string, std::map<std::uint32_t, std::size_t>> waiting;
  for (const Thread& thread : threads) {
    const std::string where =
        thread.state == ThreadState::kDone
            ? std::string("have left the kernel")
            : std::string("wait in ") + thread.operation + " at " + SiteName(thread.site);
    ++waiting[where][thread.warp->index];
  }
  std::string report = "deadlock in block " + std::to_string(index[0]) + "," +
                       std::to_string(index[1]) + "," + std::to_string(index[2]) + ", seed " +
                       std::to_string(seed) + ":";
  for (const auto& [where, by_warp] : waiting) {
    report += "\n  ";
    for (const auto& [warp, lanes] : by_warp) {
      report += "warp " + std::to_string(warp) + " (" + Count(lanes, "lane") + ") ";
    }
    report += where;
  }
  for (const Mbarrier& mbarrier : mbarriers) {
    report += "\n  mbarrier at shared address " + std::to_string(mbarrier.address) + ": phase " +
              std::to_string(mbarrier.phase) + ", " + std::to_string(mbarrier.pending) + " of " +
              std::to_string(mbarrier.arrivals) + " arrivals and " +
              std::to_string(mbarrier.transaction_bytes) + " bytes missing";
  }
  for (std::size_t i = 0; i < barriers.size(); ++i) {
    if (barriers[i].arrived == 0) continue;
    report += "\n  barrier " + std::to_string(i) + ": " + std::to_string(barriers[i].arrived) +
              " of " + std::to_string(barriers[i].expected) + " threads have arrived";
  }
  return report;
}

std::string Block::BlockEndError() const {
  const std::string where = " (block " + std::to_string(index[0]) + "," + std::to_string(index[1]) +
                            "," + std::to_string(index[2]) + ", seed " + std::to_string(seed) + ")";
  if (!loads.empty()) {
    return "the block ends while " + Count(loads.size(), "bulk load") + " into it are under way" +
           where;
  }
  for (const NamedBarrier& barrier : barriers) {
    if (barrier.arrived != 0) {
      return "the block ends while " + std::to_string(barrier.arrived) + " of " +
             std::to_string(barrier.expected) + " threads have arrived at a barrier" + where;
    }
  }
  for (std::size_t i = 0; i < warps.size(); ++i) {
    const Warp& warp = warps[i];
    if (!warp.products.empty()) {
      return "the block ends while products are under way: Wgmma at " +
             SiteName(warp.products[0].site) + " was never waited for by warp " +
             std::to_string(i) + where;
    }
    const Warp& leader = warps[i / 4 * 4];
    if (warp.group_history != leader.group_history) {
      return "warps " + std::to_string(leader.index) + " and " + std::to_string(i) +
             " of one warpgroup did not do the same wgmma and setmaxnreg operations (" +
             std::to_string(leader.group_operations) + " and " +
             std::to_string(warp.group_operations) + ")" + where;
    }
  }
  return "";
}

}  // namespace cairn::sk::emu
