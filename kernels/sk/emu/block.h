#ifndef CAIRN_KERNELS_SK_EMU_BLOCK_H_
#define CAIRN_KERNELS_SK_EMU_BLOCK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/sk/emu/fiber.h"
#include "kernels/sk/emu/machine.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/emu/sites.h"
#include "kernels/sk/wgmma.h"

// One running block: its threads as fibers, the scheduler that picks who goes on, and the state of
// what is under way. Private to the emulator: kernels see kernels/sk/*.h.
//
// Threads switch at operations of sk only. All lanes, warps and copies that may go on are equally
// legal next steps; Random picks, and how it picks (run ahead, or interleave finely) changes from
// block to block, so that a few seeds see very different schedules.

namespace cairn::sk::emu {

struct Block;
struct Warp;

inline constexpr std::uint32_t kPoison =
    0xffffffffu;  // a NaN in f32, and by halves in bf16 and f16

// ---- What is under way --------------------------------------------------------------------------

struct PendingCopy {  // one cp.async
  std::byte* target;
  const std::byte* source;
  std::uint32_t bytes;
  std::uint32_t source_bytes;
  std::uint32_t group;
};

struct PendingLoad {  // one bulk copy to shared memory
  SharedAddress target;
  const std::byte* source;
  std::uint32_t bytes;
  SharedAddress mbarrier;
};

struct PendingStore {  // one bulk copy to global memory
  std::byte* target;
  SharedAddress source;
  std::uint32_t bytes;
  std::uint32_t group;
  bool is_read;  // the source has been read, into `value`
  std::vector<std::byte> value;
  Site site;
};

struct Mbarrier {
  SharedAddress address;
  std::uint32_t arrivals;          // of each phase
  std::uint32_t pending;           // arrivals still missing in this phase
  std::int64_t transaction_bytes;  // still to come in this phase
  std::uint32_t phase;             // parity of the phase under way
  bool is_async_ready;             // a fence followed its initialisation
};

struct NamedBarrier {
  std::uint32_t expected = 0;
  std::uint32_t arrived = 0;
  std::vector<struct Thread*> waiting;
};

// The accumulators of one wgmma chain, of the 32 lanes of a warp.
struct Accumulator {
  std::array<float*, kWarpLanes> registers;
  std::uint32_t count;         // of each lane
  std::vector<float> values;   // [lane][count], what hardware holds while products are under way
  std::uint32_t products = 0;  // under way
};

struct Product {
  std::array<WgmmaCall, kWarpLanes> calls;
  std::array<std::array<std::uint32_t, 4>, kWarpLanes> a_registers;  // as they were at the issue
  std::uint32_t group;
  bool is_computed;
  Site site;
};

// Registers whose bytes at the last WgmmaFence are known.
struct FencedRegisters {
  std::array<const void*, kWarpLanes> registers;
  std::uint32_t bytes;
  std::vector<std::byte> value;  // empty: not known
};

// A collective that some lanes of a warp have reached. `arguments` are on their stacks.
struct Meeting {
  const char* operation;
  std::uint32_t mask;
  std::uint32_t arrived;
  std::array<void*, kWarpLanes> arguments;
  std::array<Site, kWarpLanes> sites;
  std::uint32_t first_lane;
};

// ---- Threads ------------------------------------------------------------------------------------

enum class ThreadState : std::uint8_t { kReady, kWaiting, kPolling, kDone };

struct Thread {
  Block* block = nullptr;
  Warp* warp = nullptr;
  Fiber* fiber = nullptr;
  std::uint32_t index = 0;
  ThreadState state = ThreadState::kReady;
  const char* operation = "";  // what it waits in, and where
  Site site;

  std::vector<PendingCopy> copies;
  std::uint32_t copy_groups = 0;  // committed
  std::vector<PendingStore> stores;
  std::uint32_t store_groups = 0;
  SharedAddress awaited_mbarrier = 0;

  std::uint32_t lane() const { return index % kWarpLanes; }
};

struct Warp {
  std::uint32_t index = 0;
  std::uint32_t ready = 0;   // lanes that may go on
  std::uint32_t cursor = 0;  // where the search for the next lane starts
  bool is_descending = false;
  std::uint32_t priority = 0;
  std::vector<Meeting> meetings;

  std::vector<Product> products;
  std::vector<Accumulator> accumulators;
  std::vector<FencedRegisters> fenced;
  std::uint32_t product_groups = 0;  // committed
  bool is_wgmma_fenced = false;
  std::uint32_t registers = 0;      // of each lane, by setmaxnreg
  std::uint64_t group_history = 0;  // hash of what all warps of a warpgroup must do alike
  std::uint32_t group_operations = 0;
};

// ---- Block --------------------------------------------------------------------------------------

struct Block {
  Block(const Grid& grid, const std::array<std::uint32_t, 3>& index, std::uint64_t seed,
        SiteTable& sites, Random& random);

  // Runs all threads to their end or to the first error; fibers[i] is thread i's.
  void Run(const std::function<void()>& kernel, std::vector<std::unique_ptr<Fiber>>& fibers);

  // ---- Scheduling (block.cc). All but the last two are called on the fiber of the running thread.
  // Ends the run with an error, `what` followed by the name of the site `other`, if there is one.
  // Does not return, so the caller's frame is never unwound: `what` by value, since it is moved on.
  [[noreturn]] void Fail(const char* operation, Site site, std::string what, Site other = {});
  // Lets others run until something wakes the running thread.
  void WaitIn(const char* operation, Site site, ThreadState state = ThreadState::kWaiting);
  // Lets another warp run now and then.
  void MayGiveWay();
  void Wake(Thread& thread);
  void NoteProgress();  // what pollers look at has changed

  // ---- Meetings of lanes (meeting.cc): returns in every lane of `mask` once `run`, called by the
  // last of them, has filled their arguments. `is_any_site`: the lanes may stand at different
  // sites.
  void Meet(const char* operation, std::uint32_t mask, void* arguments, void (*run)(Meeting&),
            Site site, bool is_any_site = false);

  // ---- Shared memory (copies.cc)
  // The byte at `address`; fails unless `bytes` from there are inside and aligned to `alignment`.
  std::byte* At(SharedAddress address, std::uint32_t bytes, std::uint32_t alignment,
                const char* operation, Site site);
  // The same place as the async proxy sees it.
  std::byte* AsyncAt(const std::byte* place) { return async_view.data() + (place - arena.get()); }
  Mbarrier& MbarrierAt(SharedAddress address, const char* operation, Site site);
  void Arrive(Mbarrier& mbarrier, std::uint32_t arrivals, std::int64_t bytes, const char* operation,
              Site site);
  void CompleteRandomLoad();
  void RunCopies(Thread& thread, std::uint32_t groups_left);
  void RunStores(Thread& thread, std::uint32_t groups_left, bool read_only);

  // ---- At the end of a thread and of the block: what must not be under way any more.
  void CheckThreadEnd(Thread& thread);
  std::string BlockEndError() const;

  const Grid& grid;
  const std::array<std::uint32_t, 3> index;
  const std::uint64_t seed;
  SiteTable& sites;
  Random& random;
  std::string error;

  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::uint32_t live_threads = 0;

  struct Freer {
    void operator()(std::byte* arena) const;
  };
  std::unique_ptr<std::byte[], Freer> arena;  // as the generic proxy sees it; ends at a red zone
  std::vector<std::byte> async_view;
  std::vector<Mbarrier> mbarriers;
  std::vector<PendingLoad> loads;
  std::array<NamedBarrier, 16> barriers;
  std::uint32_t registers_free = 0;  // given back by ReleaseRegisters

 private:
  static void ThreadMain(void* thread);
  Thread* PickNext();
  void WakePollers();
  std::uint32_t PickWarp();
  std::string DeadlockReport() const;
  void LeaveForGood();

  const std::function<void()>* kernel_ = nullptr;
  Fiber main_fiber_;
  std::uint32_t ready_warps_ = 0;
  std::uint32_t running_warp_ = 0;
  std::uint32_t idle_rounds_ = 0;
  std::uint32_t pollers_ = 0;
  // How this block is scheduled, drawn at its start; one in n, 0 for never.
  std::uint32_t give_way_one_in_ = 0;
  std::uint32_t early_load_one_in_ = 0;
  bool by_priority_ = false;
};

// The running emulated thread of this OS thread. Outside a kernel there is none: a trap.
Thread& Current();

// Counts the operation at its site; true when a mutation says to leave it out.
bool IsSkipped(Thread& thread, Site site, const char* operation);
// The same; `less` becomes 1 if the site's wait is to be lowered.
bool IsSkipped(Thread& thread, Site site, const char* operation, std::uint32_t& less);

}  // namespace cairn::sk::emu

#endif  // CAIRN_KERNELS_SK_EMU_BLOCK_H_
