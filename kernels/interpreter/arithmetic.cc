#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "kernels/interpreter/each.h"
#include "kernels/interpreter/formats.h"
#include "kernels/interpreter/statement.h"

// Opcodes whose result depends on their sources only.

namespace cairn::interpreter {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using Table = std::unordered_map<std::string_view, Operation>;

template <class T>
constexpr auto kSame = [](T a) { return a; };
template <class T>
constexpr auto kAdd = [](T a, T b) { return static_cast<T>(a + b); };
template <class T>
constexpr auto kSubtract = [](T a, T b) { return static_cast<T>(a - b); };
template <class T>
constexpr auto kMultiply = [](T a, T b) { return static_cast<T>(a * b); };
// PTX leaves a quotient by zero open; GPUs give all ones.
template <class T>
constexpr auto kDivide =
    [](T a, T b) { return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b); };
template <class T>
constexpr auto kRemainder = [](T a, T b) { return b == 0 ? a : static_cast<T>(a % b); };
template <class T>
constexpr auto kAnd = [](T a, T b) { return static_cast<T>(a & b); };
template <class T>
constexpr auto kOr = [](T a, T b) { return static_cast<T>(a | b); };
template <class T>
constexpr auto kXor = [](T a, T b) { return static_cast<T>(a ^ b); };
template <class T>
constexpr auto kLeast = [](T a, T b) { return std::min(a, b); };
template <class T>
constexpr auto kMost = [](T a, T b) { return std::max(a, b); };
// Amounts beyond the width shift everything out.
template <class T>
constexpr auto kShiftLeft =
    [](T a, u32 n) { return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n); };
template <class T>
constexpr auto kShiftRight = [](T a, u32 n) {
  constexpr u32 kWidth = 8 * sizeof(T);
  if (n >= kWidth) return static_cast<T>(a < 0 ? ~T{0} : T{0});
  return static_cast<T>(a >> n);
};
template <class T>
constexpr auto kChoose = [](T a, T b, bool which) { return which ? a : b; };
template <class D, class S>
constexpr auto kConvert = [](S a) { return static_cast<D>(a); };

template <class T>
constexpr auto kEqual = [](T a, T b) { return a == b; };
template <class T>
constexpr auto kUnequal = [](T a, T b) { return a != b && a == a && b == b; };
template <class T>
constexpr auto kLess = [](T a, T b) { return a < b; };
template <class T>
constexpr auto kLessEqual = [](T a, T b) { return a <= b; };
template <class T>
constexpr auto kGreater = [](T a, T b) { return a > b; };
template <class T>
constexpr auto kGreaterEqual = [](T a, T b) { return a >= b; };

template <class T>
constexpr auto kInsertBits = [](T a, T b, u32 from, u32 count) {
  constexpr u32 kWidth = 8 * sizeof(T);
  from &= 0xff;
  count &= 0xff;
  for (u32 i = 0; i < count && from + i < kWidth; ++i) {
    const T bit = T{1} << (from + i);
    b = (a >> i & 1) != 0 ? (b | bit) : (b & ~bit);
  }
  return b;
};
// Each of four nibbles of `how` names one of the eight bytes of {b, a}; its top bit copies a sign.
constexpr auto kPermuteBytes = [](u32 a, u32 b, u32 how) {
  const u64 bytes = static_cast<u64>(b) << 32 | a;
  u32 out = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 nibble = how >> (4 * i) & 0xf;
    u32 byte = static_cast<u32>(bytes >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    out |= byte << (8 * i);
  }
  return out;
};

// A number that is too small for f32's normal ones becomes a zero of its sign (.ftz).
f32 Flush(f32 a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }
constexpr auto kExp2 = [](f32 a) {
  return Flush(static_cast<f32>(std::exp2(static_cast<double>(Flush(a)))));
};
constexpr auto kReciprocal = [](f32 a) { return 1.0f / a; };
constexpr auto kReciprocalFlushed = [](f32 a) { return Flush(1.0f / Flush(a)); };
constexpr auto kSquareRoot = [](f32 a) { return std::sqrt(a); };
constexpr auto kDivideFloat = [](f32 a, f32 b) { return a / b; };
constexpr auto kFma = [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); };
constexpr auto kNegate = [](f32 a) { return -a; };
// The larger; a NaN only if both are; +0 is more than -0.
constexpr auto kMaxFloat = [](f32 a, f32 b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
};
// The first source goes into the upper half.
template <class F>
constexpr auto kPackTwo =
    [](f32 high, f32 low) { return static_cast<u32>(F::Nearest(high) << 16 | F::Nearest(low)); };
constexpr auto kPackE4m3 = [](f32 high, f32 low) {
  return static_cast<u16>(E4m3::Nearest(high) << 8 | E4m3::Nearest(low));
};
constexpr auto kUnpackE4m3 = [](u16 two) {
  return static_cast<u32>(F16::Nearest(E4m3::Value(two >> 8u)) << 16 |
                          F16::Nearest(E4m3::Value(two & 0xffu)));
};
constexpr auto kFromF16 = [](u16 a) { return static_cast<f32>(F16::Value(a)); };

// Whole numbers and their bits.
Table WholeNumbers() {
  return {
      {"add.s32", Lanewise<kAdd<u32>, u32, u32>()},
      {"add.s64", Lanewise<kAdd<u64>, u64, u64>()},
      {"add.u64", Lanewise<kAdd<u64>, u64, u64>()},
      {"sub.s32", Lanewise<kSubtract<u32>, u32, u32>()},
      {"sub.s64", Lanewise<kSubtract<u64>, u64, u64>()},
      {"neg.s32", Lanewise<[](u32 a) { return 0 - a; }, u32>()},
      {"mul.lo.s32", Lanewise<kMultiply<u32>, u32, u32>()},
      {"mul.lo.s64", Lanewise<kMultiply<u64>, u64, u64>()},
      {"mul.wide.u16", Lanewise<[](u16 a, u16 b) { return u32{a} * b; }, u16, u16>()},
      {"mul.wide.u32", Lanewise<[](u32 a, u32 b) { return u64{a} * b; }, u32, u32>()},
      {"mul.wide.s32", Lanewise<[](s32 a, s32 b) { return s64{a} * b; }, s32, s32>()},
      {"mul.hi.u32",
       Lanewise<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }, u32, u32>()},
      {"mul.hi.u64", Lanewise<[](u64 a, u64 b) {
         return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64);
       },
                              u64, u64>()},
      {"mad.lo.s32", Lanewise<[](u32 a, u32 b, u32 c) { return a * b + c; }, u32, u32, u32>()},
      {"div.u32", Lanewise<kDivide<u32>, u32, u32>()},
      {"div.u64", Lanewise<kDivide<u64>, u64, u64>()},
      {"rem.u32", Lanewise<kRemainder<u32>, u32, u32>()},
      {"rem.u64", Lanewise<kRemainder<u64>, u64, u64>()},
      {"min.u32", Lanewise<kLeast<u32>, u32, u32>()},
      {"max.u32", Lanewise<kMost<u32>, u32, u32>()},
      {"min.s32", Lanewise<kLeast<s32>, s32, s32>()},
      {"max.s32", Lanewise<kMost<s32>, s32, s32>()},
      {"min.u64", Lanewise<kLeast<u64>, u64, u64>()},
      {"max.u64", Lanewise<kMost<u64>, u64, u64>()},
      {"and.b16", Lanewise<kAnd<u16>, u16, u16>()},
      {"and.b32", Lanewise<kAnd<u32>, u32, u32>()},
      {"and.b64", Lanewise<kAnd<u64>, u64, u64>()},
      {"and.pred", Lanewise<[](bool a, bool b) { return a && b; }, bool, bool>()},
      {"or.b16", Lanewise<kOr<u16>, u16, u16>()},
      {"or.b32", Lanewise<kOr<u32>, u32, u32>()},
      {"or.b64", Lanewise<kOr<u64>, u64, u64>()},
      {"or.pred", Lanewise<[](bool a, bool b) { return a || b; }, bool, bool>()},
      {"xor.b32", Lanewise<kXor<u32>, u32, u32>()},
      {"xor.b64", Lanewise<kXor<u64>, u64, u64>()},
      {"xor.pred", Lanewise<[](bool a, bool b) { return a != b; }, bool, bool>()},
      {"not.b32", Lanewise<[](u32 a) { return ~a; }, u32>()},
      {"not.b64", Lanewise<[](u64 a) { return ~a; }, u64>()},
      {"not.pred", Lanewise<[](bool a) { return !a; }, bool>()},
      {"shl.b32", Lanewise<kShiftLeft<u32>, u32, u32>()},
      {"shl.b64", Lanewise<kShiftLeft<u64>, u64, u32>()},
      {"shr.u16", Lanewise<kShiftRight<u16>, u16, u32>()},
      {"shr.u32", Lanewise<kShiftRight<u32>, u32, u32>()},
      {"shr.s32", Lanewise<kShiftRight<s32>, s32, u32>()},
      {"shr.b32", Lanewise<kShiftRight<u32>, u32, u32>()},
      {"shr.b64", Lanewise<kShiftRight<u64>, u64, u32>()},
      {"shr.u64", Lanewise<kShiftRight<u64>, u64, u32>()},
      {"bfi.b32", Lanewise<kInsertBits<u32>, u32, u32, u32, u32>()},
      {"bfi.b64", Lanewise<kInsertBits<u64>, u64, u64, u32, u32>()},
      {"prmt.b32", Lanewise<kPermuteBytes, u32, u32, u32>()},
  };
}

Table Floats() {
  return {
      {"add.rn.f32", Lanewise<kAdd<f32>, f32, f32>()},
      {"sub.rn.f32", Lanewise<kSubtract<f32>, f32, f32>()},
      {"mul.rn.f32", Lanewise<kMultiply<f32>, f32, f32>()},
      {"add.f32", Lanewise<kAdd<f32>, f32, f32>()},
      {"sub.f32", Lanewise<kSubtract<f32>, f32, f32>()},
      {"mul.f32", Lanewise<kMultiply<f32>, f32, f32>()},
      {"fma.rn.f32", Lanewise<kFma, f32, f32, f32>()},
      {"div.rn.f32", Lanewise<kDivideFloat, f32, f32>()},
      {"rcp.rn.f32", Lanewise<kReciprocal, f32>()},
      {"rcp.approx.ftz.f32", Lanewise<kReciprocalFlushed, f32>()},
      {"sqrt.rn.f32", Lanewise<kSquareRoot, f32>()},
      {"ex2.approx.ftz.f32", Lanewise<kExp2, f32>()},
      {"neg.f32", Lanewise<kNegate, f32>()},
      {"max.f32", Lanewise<kMaxFloat, f32, f32>()},
      {"cvt.rn.f32.u32", Lanewise<kConvert<f32, u32>, u32>()},
      {"cvt.rn.f32.s32", Lanewise<kConvert<f32, s32>, s32>()},
      {"cvt.f32.f16", Lanewise<kFromF16, u16>()},
      {"cvt.rn.bf16x2.f32", Lanewise<kPackTwo<Bf16>, f32, f32>()},
      {"cvt.rn.f16x2.f32", Lanewise<kPackTwo<F16>, f32, f32>()},
      {"cvt.rn.satfinite.e4m3x2.f32", Lanewise<kPackE4m3, f32, f32>()},
      {"cvt.rn.f16x2.e4m3x2", Lanewise<kUnpackE4m3, u16>()},
  };
}

// Moves, choices and comparisons.
Table Moves() {
  return {
      {"mov.u16", Lanewise<kSame<u16>, u16>()},
      {"mov.u32", Lanewise<kSame<u32>, u32>()},
      {"mov.u64", Lanewise<kSame<u64>, u64>()},
      {"mov.f32", Lanewise<kSame<u32>, u32>()},
      {"mov.pred", Lanewise<kSame<bool>, bool>()},
      {"cvta.to.global.u64", Lanewise<kSame<u64>, u64>()},
      {"cvt.u16.u32", Lanewise<kConvert<u16, u32>, u32>()},
      {"cvt.u32.u16", Lanewise<kConvert<u32, u16>, u16>()},
      {"cvt.u32.u64", Lanewise<kConvert<u32, u64>, u64>()},
      {"cvt.u64.u32", Lanewise<kConvert<u64, u32>, u32>()},
      {"cvt.u64.u16", Lanewise<kConvert<u64, u16>, u16>()},
      {"cvt.s64.s32", Lanewise<kConvert<s64, s32>, s32>()},
      {"selp.u16", Lanewise<kChoose<u16>, u16, u16, bool>()},
      {"selp.u32", Lanewise<kChoose<u32>, u32, u32, bool>()},
      {"selp.b32", Lanewise<kChoose<u32>, u32, u32, bool>()},
      {"selp.b64", Lanewise<kChoose<u64>, u64, u64, bool>()},
      {"selp.f32", Lanewise<kChoose<u32>, u32, u32, bool>()},
      {"setp.neu.f32", Lanewise<[](f32 a, f32 b) { return !(a == b); }, f32, f32>()},
      {"setp.gtu.f32", Lanewise<[](f32 a, f32 b) { return !(a <= b); }, f32, f32>()},
      {"setp.ltu.f32", Lanewise<[](f32 a, f32 b) { return !(a >= b); }, f32, f32>()},
      {"setp.leu.f32", Lanewise<[](f32 a, f32 b) { return !(a > b); }, f32, f32>()},
      {"setp.geu.f32", Lanewise<[](f32 a, f32 b) { return !(a < b); }, f32, f32>()},
  };
}

template <class T>
void AddComparisons(Table& table, const std::array<std::string_view, 6>& names) {
  table[names[0]] = Lanewise<kEqual<T>, T, T>();
  table[names[1]] = Lanewise<kUnequal<T>, T, T>();
  table[names[2]] = Lanewise<kLess<T>, T, T>();
  table[names[3]] = Lanewise<kLessEqual<T>, T, T>();
  table[names[4]] = Lanewise<kGreater<T>, T, T>();
  table[names[5]] = Lanewise<kGreaterEqual<T>, T, T>();
}
#define COMPARISONS(type)                                                                \
  {                                                                                      \
    "setp.eq." type, "setp.ne." type, "setp.lt." type, "setp.le." type, "setp.gt." type, \
        "setp.ge." type                                                                  \
  }

Table AllOf() {
  Table all = WholeNumbers();
  all.merge(Floats());
  all.merge(Moves());
  AddComparisons<u16>(all, COMPARISONS("b16"));
  AddComparisons<std::int16_t>(all, COMPARISONS("s16"));
  AddComparisons<u16>(all, COMPARISONS("u16"));
  AddComparisons<u32>(all, COMPARISONS("b32"));
  AddComparisons<s32>(all, COMPARISONS("s32"));
  AddComparisons<u32>(all, COMPARISONS("u32"));
  AddComparisons<u64>(all, COMPARISONS("b64"));
  AddComparisons<s64>(all, COMPARISONS("s64"));
  AddComparisons<u64>(all, COMPARISONS("u64"));
  AddComparisons<f32>(all, COMPARISONS("f32"));
  return all;
}
#undef COMPARISONS

// mov of two halves into one register, or of one register into two halves.
template <u32 kBits>
void Join(Warp& warp, const Instruction& in, Mask lanes) {
  constexpr u64 kHalf = (u64{1} << kBits) - 1;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const u64 low = warp.at(in, 1)[lane] & kHalf, high = warp.at(in, 2)[lane] & kHalf;
    warp.at(in, 0)[lane] = high << kBits | low;
  }
}
template <u32 kBits>
void Part(Warp& warp, const Instruction& in, Mask lanes) {
  constexpr u64 kHalf = (u64{1} << kBits) - 1;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const u64 both = warp.at(in, 2)[lane];
    warp.at(in, 0)[lane] = both & kHalf;
    warp.at(in, 1)[lane] = both >> kBits & kHalf;
  }
}

}  // namespace

Operation FindArithmetic(const Statement& statement, Instruction&) {
  static const Table kAll = AllOf();
  if (statement.opcode == "mov.b32" || statement.opcode == "mov.b64") {
    const bool is_64 = statement.opcode == "mov.b64";
    if (statement.groups == std::vector<std::size_t>{1, 2}) {
      return {is_64 ? &Join<32> : &Join<16>, 3, Meets::kNobody};
    }
    if (statement.groups == std::vector<std::size_t>{2, 1}) {
      return {is_64 ? &Part<32> : &Part<16>, 3, Meets::kNobody};
    }
    return is_64 ? Lanewise<kSame<u64>, u64>() : Lanewise<kSame<u32>, u32>();
  }
  const auto found = kAll.find(statement.opcode);
  return found == kAll.end() ? Operation{} : found->second;
}

}  // namespace cairn::interpreter
