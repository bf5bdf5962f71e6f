#ifndef CAIRN_KERNELS_INTERPRETER_WARP_H_
#define CAIRN_KERNELS_INTERPRETER_WARP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/interpreter/groups.h"
#include "kernels/interpreter/memory.h"
#include "kernels/interpreter/program.h"

namespace cairn::interpreter {

inline constexpr std::uint64_t kTicksPerNanosecond = 2;

// What the warps of a block share.
struct BlockState {
  struct Barrier {
    std::uint32_t arrived = 0, wanted = 0;
  };
  static constexpr std::uint32_t kBarriers = 16;

  const Memory* memory = nullptr;
  std::vector<std::byte> shared;
  std::uint32_t shared_begin = 0;  // what is before it is not the kernel's
  std::array<Barrier, kBarriers> barriers;
  std::uint32_t threads = 0;
  std::uint64_t* ticks = nullptr;  // instructions of warps so far: time passes with them
  std::uint64_t barriers_met = 0;  // a bit a barrier that has just let go
  std::string fault;               // the first thing that went wrong; then the block ends
};

// 32 lanes, each at an instruction of its own: those that are furthest behind go first, together.
class Warp {
 public:
  enum class State : std::uint8_t {
    kReady,
    kMeeting,  // at an instruction that waits for other lanes
    kBarrier,  // behind a barrier that has not let go
    kYielded,  // asked for something that was not so yet
    kLeft,
  };

  Warp(const Kernel& kernel, BlockState& block, std::uint32_t number, std::uint32_t lanes);
  // The value of a register that never changes; `lane` for those that differ by lane.
  void Preset(std::int32_t reg, std::uint32_t lane, std::uint64_t value) {
    file_[static_cast<std::size_t>(reg)][lane] = value;
  }

  // About `budget` instructions at most. False: it could do nothing that helps anybody.
  bool Run(std::uint32_t budget);
  // Lanes that wait for a barrier that has let go, and those that yielded.
  void Wake(std::uint64_t barriers_met);
  bool has_left() const { return left_ == ~Mask{0}; }
  std::string Describe() const;  // where its lanes are

  // For operations.
  Register& at(const Instruction& in, std::size_t operand) {
    return file_[static_cast<std::size_t>(in.operands[operand].reg)];
  }
  // The bytes at `base + offset` of the operand, or, after a fault, some that nobody needs.
  std::byte* Global(const Instruction& in, std::size_t operand, std::uint32_t lane,
                    std::size_t bytes, bool writes);
  std::byte* Shared(const Instruction& in, std::size_t operand, std::uint32_t lane,
                    std::size_t bytes);
  std::byte* SharedAt(const Instruction& in, std::uint64_t address, std::size_t bytes);
  void Fault(const Instruction& in, const std::string& what);
  void Arrive(const Instruction& in, std::uint32_t barrier, std::uint32_t wanted, Mask lanes,
              bool waits);
  void Yield(Mask lanes) { yielding_ |= lanes; }
  void Progress() { has_progressed_ = true; }
  bool has_fault() const { return !block_.fault.empty(); }
  std::uint64_t ticks() const { return *block_.ticks; }
  std::uint32_t threads() const { return block_.threads; }
  std::uint32_t number() const { return number_; }
  Groups& copies(std::uint32_t lane) { return copies_[lane]; }
  Groups& bulk_stores(std::uint32_t lane) { return bulk_stores_[lane]; }
  Groups& products() { return products_; }
  // Of a thread.
  std::uint32_t registers() const { return registers_; }
  void SetRegisters(std::uint32_t count) { registers_ = count; }

 private:
  struct Group {
    Mask lanes = 0;
    std::int32_t pc = 0;
    std::int32_t next = 0;  // the least of the others that are ready
  };
  Group Pick() const;
  void Leave(const Instruction& in, Mask lanes, std::int32_t pc);
  void SetAt(Mask lanes, std::int32_t pc, State state);
  Mask Guarded(const Instruction& in, Mask lanes) const;
  // Runs a group until it parts, meets others or has caught up with them.
  void RunGroup(Group group, std::uint32_t& budget);
  void Meet(const Instruction& in, Mask lanes, std::int32_t pc);
  // Whom `lane`, one of `active`, meets at this instruction.
  Mask WantedBy(const Instruction& in, Mask active, std::uint32_t lane);

  const Kernel& kernel_;
  BlockState& block_;
  const std::uint32_t number_;
  std::vector<Register> file_;
  std::array<std::int32_t, kLanes> pc_ = {};
  std::array<State, kLanes> state_ = {};
  std::array<std::uint8_t, kLanes> barrier_ = {};
  Mask left_ = 0;
  Mask yielding_ = 0;
  std::uint32_t registers_ = 0;
  std::array<Groups, kLanes> copies_, bulk_stores_;
  Groups products_;
  bool has_progressed_ = false;
  std::array<std::byte, 256> nowhere_ = {};
};

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_WARP_H_
