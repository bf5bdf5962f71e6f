#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kernels/interpreter/statement.h"
#include "kernels/interpreter/warp.h"

// What lanes and warps do together: shuffles, votes, barriers, mbarriers, and what only orders.

namespace cairn::interpreter {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// shfl.sync.mode.b32 d|p, a, b, c, mask: c holds the last lane of a segment and, from bit 8 on,
// which bits of a lane name its segment.
template <class F>
void Shuffle(Warp& warp, const Instruction& in, Mask lanes, F source_of) {
  const Register from = warp.at(in, 2);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const u32 b = warp.at(in, 3)[lane] & 31, c = static_cast<u32>(warp.at(in, 4)[lane]);
    const u32 segment = c >> 8 & 31;
    const u32 last = (lane & segment) | (c & 31 & ~segment);
    u32 source = lane;
    const bool is_inside = source_of(lane, b, lane & segment, last, segment, source);
    if (!is_inside) source = lane;
    if ((lanes >> source & 1) == 0) return warp.Fault(in, "a lane that is not in the mask");
    warp.at(in, 0)[lane] = from[source] & 0xffffffff;
    warp.at(in, 1)[lane] = is_inside ? 1 : 0;
  }
}
void ShuffleXor(Warp& warp, const Instruction& in, Mask lanes) {
  Shuffle(warp, in, lanes, [](u32 lane, u32 b, u32, u32 last, u32, u32& source) {
    source = lane ^ b;
    return source <= last;
  });
}
void ShuffleIndex(Warp& warp, const Instruction& in, Mask lanes) {
  Shuffle(warp, in, lanes, [](u32, u32 b, u32 first, u32 last, u32 segment, u32& source) {
    source = first | (b & ~segment);
    return source <= last;
  });
}
// The last lane's place is the first one's here.
void ShuffleUp(Warp& warp, const Instruction& in, Mask lanes) {
  Shuffle(warp, in, lanes, [](u32 lane, u32 b, u32, u32 last, u32, u32& source) {
    source = lane - b;
    return static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(last);
  });
}
void ShuffleDown(Warp& warp, const Instruction& in, Mask lanes) {
  Shuffle(warp, in, lanes, [](u32 lane, u32 b, u32, u32 last, u32, u32& source) {
    source = lane + b;
    return source <= last;
  });
}

void Ballot(Warp& warp, const Instruction& in, Mask lanes) {
  u32 votes = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0 && (warp.at(in, 1)[lane] & 1) != 0) votes |= 1u << lane;
  }
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) warp.at(in, 0)[lane] = votes;
  }
}

// d|p, mask: one lane of the mask, the same every time, has p; d is its number.
void Elect(Warp& warp, const Instruction& in, Mask lanes) {
  const auto chosen = static_cast<u32>(std::countr_zero(lanes));
  for (u32 lane = chosen; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    warp.at(in, 0)[lane] = chosen;
    warp.at(in, 1)[lane] = lane == chosen ? 1 : 0;
  }
}

template <auto kFunction>
void Reduce(Warp& warp, const Instruction& in, Mask lanes) {
  u32 result = static_cast<u32>(warp.at(in, 1)[static_cast<u32>(std::countr_zero(lanes))]);
  for (u32 lane = static_cast<u32>(std::countr_zero(lanes)) + 1; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0)
      result = kFunction(result, static_cast<u32>(warp.at(in, 1)[lane]));
  }
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) warp.at(in, 0)[lane] = result;
  }
}
constexpr auto kLeast = [](u32 a, u32 b) { return std::min(a, b); };
constexpr auto kMost = [](u32 a, u32 b) { return std::max(a, b); };
constexpr auto kSum = [](u32 a, u32 b) { return a + b; };

// Groups of the lanes' asynchronous work. Waits name how many groups may still be under way.
template <Groups& (Warp::*kOf)(u32)>
void Commit(Warp& warp, const Instruction&, Mask lanes) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) (warp.*kOf)(lane).Commit();
  }
}
template <Groups& (Warp::*kOf)(u32)>
void WaitGroup(Warp& warp, const Instruction& in, Mask lanes) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) (warp.*kOf)(lane).Wait(warp.at(in, 0)[lane]);
  }
}
void CommitProducts(Warp& warp, const Instruction&, Mask) { warp.products().Commit(); }
void WaitProducts(Warp& warp, const Instruction& in, Mask) {
  warp.products().Wait(warp.at(in, 0)[0]);
}

void OrderOnly(Warp&, const Instruction&, Mask) {}
void Sleep(Warp& warp, const Instruction&, Mask lanes) { warp.Yield(lanes); }

// bar.sync a(, b), barrier.cta.sync, barrier.cta.arrive: b threads, or all.
template <bool kWaits>
void Barrier(Warp& warp, const Instruction& in, Mask lanes) {
  const auto lane = static_cast<u32>(std::countr_zero(lanes));
  const u32 threads =
      in.operands.size() > 1 ? static_cast<u32>(warp.at(in, 1)[lane]) : warp.threads();
  for (u32 other = lane; other < kLanes; ++other) {
    if ((lanes >> other & 1) != 0 && warp.at(in, 0)[other] != warp.at(in, 0)[lane]) {
      return warp.Fault(in, "lanes of a warp name several barriers");
    }
  }
  warp.Arrive(in, static_cast<u32>(warp.at(in, 0)[lane]), threads, lanes, kWaits);
}

// An mbarrier as the interpreter keeps it in its 8 bytes. Bytes may come before they are expected.
// `bytes` has the range that PTX gives a tx-count: 21 bits with its sign.
struct Mbarrier {
  u64 pending : 12, expected : 12, phase : 1, seal : 18;
  std::int64_t bytes : 21;
};
static_assert(sizeof(Mbarrier) == 8);
constexpr u64 kSeal = 0x2a5c3;
bool IsMbarrier(const std::byte* at) {
  Mbarrier value;
  std::memcpy(&value, at, 8);
  return value.seal == kSeal;
}

class MbarrierAt {
 public:
  MbarrierAt(Warp& warp, const Instruction& in, std::size_t operand, u32 lane)
      : warp_(warp), in_(in), at_(warp.Shared(in, operand, lane, 8)) {
    std::memcpy(&value, at_, 8);
    if (value.seal != kSeal) warp.Fault(in, "no mbarrier is there");
  }
  ~MbarrierAt() {
    if (value.pending == 0 && value.bytes == 0) {
      value.phase ^= 1;
      value.pending = value.expected;
    }
    if (!warp_.has_fault()) std::memcpy(at_, &value, 8);
    warp_.Progress();
  }
  void Arrive() {
    if (value.pending == 0) return warp_.Fault(in_, "one arrival too many");
    --value.pending;
  }
  void Expect(std::int64_t bytes) {
    const std::int64_t now = value.bytes + bytes;
    if (now < -kBytesMax || now > kBytesMax) return warp_.Fault(in_, "more bytes than 2^20 - 1");
    value.bytes = now;
  }
  Mbarrier value;

 private:
  static constexpr std::int64_t kBytesMax = (1 << 20) - 1;
  Warp& warp_;
  const Instruction& in_;
  std::byte* const at_;
};

void InitMbarrier(Warp& warp, const Instruction& in, Mask lanes) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const auto count = static_cast<u32>(warp.at(in, 1)[lane]);
    if (count == 0 || count > 4095) return warp.Fault(in, "an mbarrier's count");
    if (IsMbarrier(warp.Shared(in, 0, lane, 8))) {
      return warp.Fault(in, "an mbarrier is there, which nobody invalidated");
    }
    const Mbarrier made{
        .pending = count & 0xfff, .expected = count & 0xfff, .phase = 0, .seal = kSeal, .bytes = 0};
    std::memcpy(warp.Shared(in, 0, lane, 8), &made, 8);
  }
}
void InvalidateMbarrier(Warp& warp, const Instruction& in, Mask lanes) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::byte* const at = warp.Shared(in, 0, lane, 8);
    if (!IsMbarrier(at)) return warp.Fault(in, "no mbarrier is there");
    std::memset(at, 0xff, 8);
  }
}
void ArriveAtMbarrier(Warp& warp, const Instruction& in, Mask lanes) {  // _, [a]
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    MbarrierAt at(warp, in, 1, lane);
    at.Arrive();
  }
}
void ExpectBytes(Warp& warp, const Instruction& in, Mask lanes) {  // [a], bytes
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    MbarrierAt at(warp, in, 0, lane);
    at.Expect(static_cast<u32>(warp.at(in, 1)[lane]));
  }
}
void ArriveExpectingBytes(Warp& warp, const Instruction& in, Mask lanes) {  // _, [a], bytes
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    MbarrierAt at(warp, in, 1, lane);
    at.Expect(static_cast<u32>(warp.at(in, 2)[lane]));
    at.Arrive();
  }
}
// p, [a], parity: has the phase of that parity ended?
void TryWait(Warp& warp, const Instruction& in, Mask lanes) {
  Mask waiting = 0;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    Mbarrier value;
    std::memcpy(&value, warp.Shared(in, 1, lane, 8), 8);
    if (value.seal != kSeal) return warp.Fault(in, "no mbarrier is there");
    if (warp.at(in, 2)[lane] > 1) return warp.Fault(in, "a parity that is neither 0 nor 1");
    const bool has_ended = value.phase != (warp.at(in, 2)[lane] & 1);
    warp.at(in, 0)[lane] = has_ended ? 1 : 0;
    if (!has_ended) waiting |= 1u << lane;
  }
  if (waiting != 0) warp.Yield(waiting);
  if (waiting != lanes) warp.Progress();
}
// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier]
void LoadBulk(Warp& warp, const Instruction& in, Mask lanes) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const auto size = static_cast<u32>(warp.at(in, 2)[lane]);
    if (size == 0 || size % 16 != 0) return warp.Fault(in, "a size that is no multiple of 16");
    const std::byte* const from = warp.Global(in, 1, lane, size, false);
    std::byte* const to = warp.Shared(in, 0, lane, size);
    if (warp.has_fault()) return;
    std::memcpy(to, from, size);
    MbarrierAt at(warp, in, 3, lane);
    at.Expect(-std::int64_t{size});
  }
}

// A multiprocessor's clock, or, with kPerTick, the nanoseconds of the whole.
template <u64 kPerTick>
void LookAtClock(Warp& warp, const Instruction& in, Mask lanes) {
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) warp.at(in, 0)[lane] = warp.ticks() / kPerTick;
  }
}

// What ptxas checks of it, and that the kernel says what its threads start
// with; BlockRun adds up.
template <bool kClaims>
void SetRegisters(Warp& warp, const Instruction& in, Mask) {
  const auto count = static_cast<u32>(warp.at(in, 0)[0]);
  const u32 first = warp.registers();
  if (count < 24 || count > 256 || count % 8 != 0) return warp.Fault(in, "a count of registers");
  if (first == 0) return warp.Fault(in, "a kernel without .maxnreg");
  if (kClaims ? count < first : count > first) {
    return warp.Fault(in, "it has " + std::to_string(first) + " registers a thread");
  }
  warp.SetRegisters(count);
}

using Table = std::unordered_map<std::string_view, Operation>;
const Table& All() {
  static const Table kAll = {
      {"shfl.sync.bfly.b32", {&ShuffleXor, 6, Meets::kMask}},
      {"shfl.sync.idx.b32", {&ShuffleIndex, 6, Meets::kMask}},
      {"shfl.sync.up.b32", {&ShuffleUp, 6, Meets::kMask}},
      {"shfl.sync.down.b32", {&ShuffleDown, 6, Meets::kMask}},
      {"vote.sync.ballot.b32", {&Ballot, 3, Meets::kMask}},
      {"redux.sync.max.u32", {&Reduce<kMost>, 3, Meets::kMask}},
      {"redux.sync.min.u32", {&Reduce<kLeast>, 3, Meets::kMask}},
      {"redux.sync.add.u32", {&Reduce<kSum>, 3, Meets::kMask}},
      {"elect.sync", {&Elect, 3, Meets::kMask}},
      {"bar.warp.sync", {&OrderOnly, 1, Meets::kMask}},
      {"bar.sync", {&Barrier<true>, 1, Meets::kWarp}},  // .aligned
      {"barrier.cta.sync", {&Barrier<true>, 2, Meets::kBarrier}},
      {"barrier.cta.arrive", {&Barrier<false>, 2, Meets::kBarrier}},
      {"mbarrier.init.shared::cta.b64", {&InitMbarrier, 2}},
      {"mbarrier.inval.shared::cta.b64", {&InvalidateMbarrier, 1}},
      {"mbarrier.arrive.shared::cta.b64", {&ArriveAtMbarrier, 2}},
      {"mbarrier.arrive.expect_tx.shared::cta.b64", {&ArriveExpectingBytes, 3}},
      {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64", {&ExpectBytes, 2}},
      {"mbarrier.try_wait.parity.shared::cta.b64", {&TryWait, 3}},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", {&LoadBulk, 4}},
      {"nanosleep.u32", {&Sleep, 1}},
      {"cp.async.commit_group", {&Commit<&Warp::copies>, 0}},
      {"cp.async.wait_group", {&WaitGroup<&Warp::copies>, 1}},
      {"cp.async.bulk.commit_group", {&Commit<&Warp::bulk_stores>, 0}},
      {"cp.async.bulk.wait_group", {&WaitGroup<&Warp::bulk_stores>, 1}},
      {"cp.async.bulk.wait_group.read", {&WaitGroup<&Warp::bulk_stores>, 1}},
      {"fence.proxy.async.shared::cta", {&OrderOnly, 0}},
      {"fence.mbarrier_init.release.cluster", {&OrderOnly, 0}},
      {"membar.cta", {&OrderOnly, 0}},
      {"membar.gl", {&OrderOnly, 0}},
      {"wgmma.fence.sync.aligned", {&OrderOnly, 0, Meets::kWarp}},
      {"wgmma.commit_group.sync.aligned", {&CommitProducts, 0, Meets::kWarp}},
      {"wgmma.wait_group.sync.aligned", {&WaitProducts, 1, Meets::kWarp}},
      {"setmaxnreg.inc.sync.aligned.u32", {&SetRegisters<true>, 1, Meets::kWarp}},
      {"setmaxnreg.dec.sync.aligned.u32", {&SetRegisters<false>, 1, Meets::kWarp}},
  };
  return kAll;
}

}  // namespace

Operation FindTogether(const Statement& statement, Instruction& instruction) {
  if (statement.opcode == "mov.u64" && statement.text.ends_with("%clock64")) {
    return {&LookAtClock<1>, 2, Meets::kNobody};
  }
  if (statement.opcode == "mov.u64" && statement.text.ends_with("%globaltimer")) {
    return {&LookAtClock<kTicksPerNanosecond>, 2, Meets::kNobody};
  }
  const auto found = All().find(statement.opcode);
  if (found == All().end()) return {};
  if (found->second.meets == Meets::kMask) {  // the member mask stands last
    instruction.detail = static_cast<std::int32_t>(instruction.operands.size()) - 1;
  }
  return found->second;
}

}  // namespace cairn::interpreter
