#include "kernels/interpreter/warp.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

namespace cairn::interpreter {

Warp::Warp(const Kernel& kernel, BlockState& block, std::uint32_t number, std::uint32_t lanes)
    : kernel_(kernel), block_(block), number_(number), registers_(kernel.registers_first) {
  // What nobody wrote is NaN, or -1.
  file_.resize(static_cast<std::size_t>(kernel.registers));
  std::memset(file_.data(), 0xff, file_.size() * sizeof(Register));
  for (std::uint32_t lane = lanes; lane < kLanes; ++lane) {
    left_ |= 1u << lane;
    state_[lane] = State::kLeft;
  }
}

bool Warp::Run(std::uint32_t budget) {
  has_progressed_ = false;
  // Who waits for a barrier that lets go is woken before anybody can come to it again.
  while (budget > 0 && block_.fault.empty() && block_.barriers_met == 0) {
    const Group group = Pick();
    if (group.lanes == 0) return has_progressed_;
    RunGroup(group, budget);
  }
  return true;  // it has more to do
}

Warp::Group Warp::Pick() const {
  Group group{.pc = INT_MAX, .next = INT_MAX};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (state_[lane] != State::kReady) continue;
    if (pc_[lane] < group.pc) {
      group.next = group.pc;
      group.pc = pc_[lane];
      group.lanes = 0;
    }
    if (pc_[lane] == group.pc) {
      group.lanes |= 1u << lane;
    } else if (pc_[lane] < group.next) {
      group.next = pc_[lane];
    }
  }
  return group;
}

void Warp::SetAt(Mask lanes, std::int32_t pc, State state) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    pc_[lane] = pc;
    state_[lane] = state;
  }
}

Mask Warp::Guarded(const Instruction& in, Mask lanes) const {
  if (in.guard < 0) return lanes;
  const Register& guard = file_[static_cast<std::size_t>(in.guard)];
  Mask out = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (((guard[lane] & 1) != 0) != in.is_guard_negated) out |= 1u << lane;
  }
  return out & lanes;
}

void Warp::RunGroup(Group group, std::uint32_t& budget) {
  auto [lanes, pc, next] = group;
  while (budget > 0 && block_.fault.empty()) {
    --budget;
    ++*block_.ticks;
    if (static_cast<std::size_t>(pc) >= kernel_.code.size()) {
      return Fault(kernel_.code.back(), "the kernel's end was run over");
    }
    const Instruction& in = kernel_.code[static_cast<std::size_t>(pc)];
    if (in.operation.meets != Meets::kNobody) return Meet(in, lanes, pc);
    const Mask active = Guarded(in, lanes);
    switch (in.kind) {
      case Instruction::Kind::kUnknown:
        return Fault(in, "this instruction is not known to the interpreter");
      case Instruction::Kind::kPlain:
        if (active != 0) in.operation.execute(*this, in, active);
        ++pc;
        break;
      case Instruction::Kind::kExit:
        Leave(in, active, pc);
        lanes &= ~active;
        ++pc;
        break;
      case Instruction::Kind::kBranch:
        if (active != 0 && active != lanes) {
          SetAt(active, in.target, State::kReady);
          return SetAt(lanes & ~active, pc + 1, State::kReady);
        }
        pc = active != 0 ? in.target : pc + 1;
        break;
    }
    if (yielding_ != 0) {
      SetAt(lanes, pc, State::kReady);
      SetAt(yielding_, pc, State::kYielded);
      yielding_ = 0;
      return;
    }
    if (pc >= next || lanes == 0) break;
  }
  SetAt(lanes, pc, State::kReady);
}

void Warp::Leave(const Instruction& in, Mask lanes, std::int32_t pc) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    if (copies_[lane].has_work() || bulk_stores_[lane].has_work() || products_.has_work()) {
      return Fault(in, "lane " + std::to_string(lane) + " leaves work that nobody waited for");
    }
  }
  SetAt(lanes, pc, State::kLeft);
  left_ |= lanes;
  has_progressed_ = true;
}

void Warp::Meet(const Instruction& in, Mask lanes, std::int32_t pc) {
  const Mask active = Guarded(in, lanes);
  SetAt(lanes & ~active, pc + 1, State::kReady);
  SetAt(active, pc, State::kMeeting);
  Mask here = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (state_[lane] == State::kMeeting && pc_[lane] == pc) here |= 1u << lane;
  }
  // The lanes may be of several masks.
  for (Mask left = active; left != 0 && block_.fault.empty();) {
    const Mask wanted = WantedBy(in, active, static_cast<std::uint32_t>(std::countr_zero(left)));
    left &= ~wanted;
    if ((wanted & ~here) != 0) continue;  // the others will come here, too
    for (std::uint32_t lane = 0; lane < kLanes && in.operation.meets == Meets::kMask; ++lane) {
      if ((wanted >> lane & 1) != 0 && WantedBy(in, active, lane) != wanted) {
        return Fault(in, "lanes that name different masks");
      }
    }
    SetAt(wanted, pc + 1, State::kReady);
    has_progressed_ = true;
    in.operation.execute(*this, in, wanted);
  }
}

Mask Warp::WantedBy(const Instruction& in, Mask active, std::uint32_t lane) {
  if (in.operation.meets == Meets::kBarrier) return active;
  if (in.operation.meets == Meets::kWarp) return ~left_;
  const auto wanted = static_cast<Mask>(at(in, static_cast<std::size_t>(in.detail))[lane]);
  if ((wanted >> lane & 1) == 0 || (wanted & left_) != 0) {
    Fault(in, "a member mask that is without its own lane, or with one that has left");
  }
  return wanted | 1u << lane;
}

void Warp::Wake(std::uint64_t barriers_met) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool is_let_go = state_[lane] == State::kBarrier && (barriers_met >> barrier_[lane] & 1);
    if (is_let_go || state_[lane] == State::kYielded) state_[lane] = State::kReady;
  }
}

void Warp::Arrive(const Instruction& in, std::uint32_t barrier, std::uint32_t wanted, Mask lanes,
                  bool waits) {
  if (barrier >= BlockState::kBarriers || wanted == 0 || wanted % kLanes != 0 ||
      wanted > block_.threads) {
    return Fault(
        in, "barrier " + std::to_string(barrier) + " for " + std::to_string(wanted) + " threads");
  }
  BlockState::Barrier& at = block_.barriers[barrier];
  if (at.arrived == 0) at.wanted = wanted;
  if (at.wanted != wanted) return Fault(in, "threads disagree about a barrier's count");
  at.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
  for (std::uint32_t lane = 0; lane < kLanes && waits; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    state_[lane] = State::kBarrier;
    barrier_[lane] = static_cast<std::uint8_t>(barrier);
  }
  if (at.arrived > wanted) return Fault(in, "more threads than its count came to a barrier");
  if (at.arrived < wanted) return;
  at = {};
  block_.barriers_met |= std::uint64_t{1} << barrier;
}

std::byte* Warp::Global(const Instruction& in, std::size_t operand, std::uint32_t lane,
                        std::size_t bytes, bool writes) {
  const std::uint64_t address =
      at(in, operand)[lane] + static_cast<std::uint64_t>(std::int64_t{in.operands[operand].offset});
  const std::size_t unit = std::min<std::size_t>(bytes & (~bytes + 1), 16);
  if (address % unit == 0 && block_.memory->Allows(address, bytes, writes)) {
    return reinterpret_cast<std::byte*>(address);
  }
  Fault(in, std::string(writes ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " +
                std::to_string(address) + ", lane " + std::to_string(lane));
  return nowhere_.data();
}

std::byte* Warp::Shared(const Instruction& in, std::size_t operand, std::uint32_t lane,
                        std::size_t bytes) {
  const auto base = static_cast<std::uint32_t>(at(in, operand)[lane]);
  return SharedAt(in, base + static_cast<std::uint32_t>(in.operands[operand].offset), bytes);
}

std::byte* Warp::SharedAt(const Instruction& in, std::uint64_t address, std::size_t bytes) {
  const std::size_t unit = std::min<std::size_t>(bytes & (~bytes + 1), 16);
  if (address % unit == 0 && address >= block_.shared_begin && address <= block_.shared.size() &&
      bytes <= block_.shared.size() - address) {
    return block_.shared.data() + address;
  }
  Fault(in, std::to_string(bytes) + " bytes of shared memory at " + std::to_string(address) +
                ", where it has " + std::to_string(block_.shared.size()));
  return nowhere_.data();
}

void Warp::Fault(const Instruction& in, const std::string& what) {
  if (!block_.fault.empty()) return;
  block_.fault = kernel_.name + ", line " + std::to_string(in.line) + " of its PTX, warp " +
                 std::to_string(number_) + ": " + what + ": " + in.text;
}

std::string Warp::Describe() const {
  static constexpr const char* kNames[] = {"ready", "meeting", "barrier", "asking", "left"};
  std::string out = "warp " + std::to_string(number_) + ":";
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (lane > 0 && state_[lane] == state_[lane - 1] && pc_[lane] == pc_[lane - 1]) continue;
    // A barrier is behind who waits for it.
    const std::int32_t at = pc_[lane] - (state_[lane] == State::kBarrier ? 1 : 0);
    const std::size_t last = kernel_.code.size() - 1;
    const Instruction& in = kernel_.code[std::min(static_cast<std::size_t>(at), last)];
    out += " lane " + std::to_string(lane) + " " + kNames[static_cast<int>(state_[lane])];
    if (state_[lane] != State::kLeft) out += " at line " + std::to_string(in.line) + " " + in.text;
  }
  return out;
}

}  // namespace cairn::interpreter
