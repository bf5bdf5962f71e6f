#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "kernels/interpreter/formats.h"
#include "kernels/interpreter/statement.h"
#include "kernels/interpreter/warp.h"

// Matrices: PTX ISA 9.0, "Warp Level Matrix Instructions" and "Asynchronous Warpgroup Level Matrix
// Instructions". Written from the manual's figures, not from sk/emu, which it is to be compared
// with.

namespace cairn::interpreter {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::uint16_t HalfAt(const std::byte* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, 2);
  return value;
}

// ldmatrix.x1, .x2, .x4(.trans): matrix m has its eight rows of 16 bytes where lanes 8 m to 8 m + 7
// say; lane l gets two neighbours of row l / 4 (transposed: of column l / 4).
template <bool kTransposed>
void LoadMatrix(Warp& warp, const Instruction& in, Mask lanes) {
  const auto count = static_cast<u32>(in.detail);
  if (lanes != ~Mask{0}) return warp.Fault(in, "lanes are missing");
  std::array<const std::byte*, kLanes> rows = {};
  for (u32 lane = 0; lane < 8 * count; ++lane) rows[lane] = warp.Shared(in, count, lane, 16);
  for (u32 m = 0; m < count; ++m) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      u32 word = 0;
      for (u32 i = 0; i < 2; ++i) {
        const u32 along = lane % 4 * 2 + i, across = lane / 4;
        const std::byte* const row = rows[8 * m + (kTransposed ? along : across)];
        word |= u32{HalfAt(row + 2 * (kTransposed ? across : along))} << (16 * i);
      }
      warp.at(in, m)[lane] = word;
    }
  }
}

void StoreMatrix(Warp& warp, const Instruction& in, Mask lanes) {
  const auto count = static_cast<u32>(in.detail);
  if (lanes != ~Mask{0}) return warp.Fault(in, "lanes are missing");
  for (u32 m = 0; m < count; ++m) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      std::byte* const row = warp.Shared(in, 0, 8 * m + lane / 4, 16);
      const auto word = static_cast<u32>(warp.at(in, 1 + m)[lane]);
      std::memcpy(row + lane % 4 * 4, &word, 4);
    }
  }
  warp.Progress();
}

// The k-th of the 16 values in a row of A: which register of four it is in, and which half.
struct InFragment {
  u32 lane, reg, half;
};
InFragment OfA(u32 row, u32 k) {  // row below 16
  return {row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2, k % 2};
}
InFragment OfB(u32 k, u32 n) { return {n * 4 + k % 8 / 2, k / 8, k % 2}; }
InFragment OfC(u32 row, u32 n) { return {row % 8 * 4 + n % 8 / 2, row / 8 * 2 + n % 2, 0}; }

template <class F>
double ValueAt(Warp& warp, const Instruction& in, std::size_t first, InFragment at) {
  return F::Value(static_cast<u32>(warp.at(in, first + at.reg)[at.lane] >> (16 * at.half)) &
                  0xffff);
}
float FloatAt(Warp& warp, const Instruction& in, std::size_t operand, u32 lane) {
  const auto bits = static_cast<u32>(warp.at(in, operand)[lane]);
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}
void SetFloat(Warp& warp, const Instruction& in, std::size_t operand, u32 lane, float value) {
  u32 bits = 0;
  std::memcpy(&bits, &value, 4);
  warp.at(in, operand)[lane] = bits;
}

// mma.sync.aligned.m16n8k16.row.col.f32.X.X.f32 {d}, {a}, {b}, {c}. The sum is rounded once; PTX
// promises no order, and GPUs round otherwise.
template <class F>
void Multiply(Warp& warp, const Instruction& in, Mask lanes) {
  if (lanes != ~Mask{0}) return warp.Fault(in, "lanes are missing");
  std::array<std::array<double, 16>, 16> a;
  std::array<std::array<double, 16>, 8> b;
  for (u32 k = 0; k < 16; ++k) {
    for (u32 row = 0; row < 16; ++row) a[row][k] = ValueAt<F>(warp, in, 4, OfA(row, k));
    for (u32 n = 0; n < 8; ++n) b[n][k] = ValueAt<F>(warp, in, 8, OfB(k, n));
  }
  for (u32 row = 0; row < 16; ++row) {
    for (u32 n = 0; n < 8; ++n) {
      const InFragment at = OfC(row, n);
      double sum = FloatAt(warp, in, 10 + at.reg, at.lane);
      for (u32 k = 0; k < 16; ++k) sum += a[row][k] * b[n][k];
      SetFloat(warp, in, at.reg, at.lane, static_cast<float>(sum));
    }
  }
}

// "Matrix Descriptor Format": start 0..13, leading 16..29, stride 32..45 (of 16 bytes), base offset
// 49..51, swizzle 62..63.
struct Descriptor {
  explicit Descriptor(u64 bits)
      : start(static_cast<u32>(bits & 0x3fff) * 16),
        leading(static_cast<u32>(bits >> 16 & 0x3fff) * 16),
        stride(static_cast<u32>(bits >> 32 & 0x3fff) * 16),
        base_offset(static_cast<u32>(bits >> 49 & 7)),
        mode(static_cast<u32>(bits >> 62)) {}
  // Bytes of a swizzle's line: 16 (none), 128, 64, 32.
  u32 line() const { return mode == 0 ? 16 : 256 >> mode; }

  // Where value (k, n) of a tile is, 16 bits each. K-major: a line holds one n (or row) and several
  // k; eight of them make a core matrix, `stride` bytes apart. MN-major: a line holds one k and
  // several n; eight of them, likewise, and the next n are `leading` bytes on.
  u32 AddressOf(u32 k, u32 n, bool is_mn_major) const {
    const u32 in_line = line() / 2;  // values
    u32 at = 0;
    if (!is_mn_major) {
      at = n / 8 * stride + n % 8 * line() + k % in_line * 2 +
           (mode == 0 ? k / in_line * leading : 0);
    } else if (mode == 0) {
      at = n / in_line * stride + k / 8 * leading + k % 8 * line() + n % in_line * 2;
    } else {
      at = n / in_line * leading + k / 8 * stride + k % 8 * line() + n % in_line * 2;
    }
    at += start;
    // Bits 4.. are crossed with the line's number in a pattern of eight lines of 128 bytes.
    if (mode != 0) at ^= (((at >> 7) - base_offset) & (line() / 16 - 1)) << 4;
    return at;
  }

  u32 start, leading, stride, base_offset, mode;
};

// wgmma.mma_async.sync.aligned.m64nNk16.f32.X.X {d}, (a descriptor or {a}), b, p, 1, 1(, ta), tb: a
// warp computes its 16 rows when it comes. Sums of eight products at a time, in f32: another order
// than mma.sync's here, so that who mixes them is found.
template <class F>
void MultiplyGroup(Warp& warp, const Instruction& in, Mask lanes) {
  if (lanes != ~Mask{0}) return warp.Fault(in, "lanes are missing");
  warp.products().Add();
  const auto n_count = static_cast<u32>(in.detail);
  const std::size_t results = n_count / 2;
  const bool is_a_shared = in.operands.size() == results + 7;
  const std::size_t b_at = results + (is_a_shared ? 1 : 4);
  if (warp.at(in, b_at + 2)[0] != 1 || warp.at(in, b_at + 3)[0] != 1) {
    return warp.Fault(in, "negated inputs are not known");
  }
  const bool is_a_mn_major = is_a_shared && warp.at(in, b_at + 4)[0] != 0;
  const bool is_b_mn_major = warp.at(in, in.operands.size() - 1)[0] != 0;
  // One descriptor and one predicate for all lanes: the machine reads them once
  // a warp.
  for (const std::size_t operand : {is_a_shared ? results : b_at, b_at, b_at + 1}) {
    const Register& value = warp.at(in, operand);
    if (std::count(value.begin(), value.end(), value[0]) != kLanes) {
      return warp.Fault(in, "lanes disagree about a descriptor or scale-d");
    }
  }
  const Descriptor b_tile(warp.at(in, b_at)[0]);
  std::array<std::array<float, 16>, 16> a;
  std::array<float, 16> b;
  for (u32 row = 0; row < 16; ++row) {
    for (u32 k = 0; k < 16; ++k) {
      if (!is_a_shared) {
        a[row][k] = static_cast<float>(ValueAt<F>(warp, in, results, OfA(row, k)));
        continue;
      }
      const Descriptor tile(warp.at(in, results)[0]);
      const u32 address = tile.AddressOf(k, warp.number() % 4 * 16 + row, is_a_mn_major);
      a[row][k] = static_cast<float>(F::Value(HalfAt(warp.SharedAt(in, address, 2))));
    }
  }
  for (u32 n = 0; n < n_count; ++n) {
    for (u32 k = 0; k < 16; ++k) {
      const u32 address = b_tile.AddressOf(k, n, is_b_mn_major);
      b[k] = static_cast<float>(F::Value(HalfAt(warp.SharedAt(in, address, 2))));
    }
    for (u32 row = 0; row < 16; ++row) {
      const InFragment at = OfC(row, n);
      const std::size_t reg = n / 8 * 4 + at.reg;
      float sum = (warp.at(in, b_at + 1)[0] & 1) != 0 ? FloatAt(warp, in, reg, at.lane) : 0.0f;
      for (u32 half = 0; half < 16; half += 8) {
        float part = 0;
        for (u32 k = half; k < half + 8; ++k) part += a[row][k] * b[k];
        sum += part;
      }
      SetFloat(warp, in, reg, at.lane, sum);
    }
  }
}

// N of "m64nNk16"; 0 if it is none.
u32 ColumnsOf(std::string_view shape) {
  if (!shape.starts_with("m64n") || !shape.ends_with("k16")) return 0;
  u32 n = 0;
  const std::string_view digits = shape.substr(4, shape.size() - 7);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return error == std::errc() && end == digits.data() + digits.size() && n % 8 == 0 && n <= 256 ? n
                                                                                                : 0;
}

}  // namespace

Operation FindMatrix(const Statement& statement, Instruction& instruction) {
  const std::string_view opcode = statement.opcode;
  const bool is_load = opcode.starts_with("ldmatrix.sync.aligned.m8n8.x");
  if (is_load || opcode.starts_with("stmatrix.sync.aligned.m8n8.x")) {
    if (!opcode.ends_with(".shared.b16")) return {};
    instruction.detail = statement.parts[4][1] - '0';
    if (instruction.detail != 1 && instruction.detail != 2 && instruction.detail != 4) return {};
    if (!is_load && statement.Has("trans")) return {};  // sk has no such store
    const Execute load = statement.Has("trans") ? &LoadMatrix<true> : &LoadMatrix<false>;
    return {is_load ? load : &StoreMatrix, 1 + instruction.detail, Meets::kWarp};
  }
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") {
    return {&Multiply<Bf16>, 14, Meets::kWarp};
  }
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") {
    return {&Multiply<F16>, 14, Meets::kWarp};
  }
  if (!opcode.starts_with("wgmma.mma_async.sync.aligned.") || statement.parts.size() != 8)
    return {};
  const u32 n = ColumnsOf(statement.parts[4]);
  const bool is_bf16 = opcode.ends_with(".f32.bf16.bf16");
  if (n == 0 || (!is_bf16 && !opcode.ends_with(".f32.f16.f16"))) return {};
  instruction.detail = static_cast<std::int32_t>(n);
  const bool is_a_shared = statement.groups.size() > 1 && statement.groups[1] == 1;
  return {is_bf16 ? &MultiplyGroup<Bf16> : &MultiplyGroup<F16>,
          static_cast<std::int32_t>(n / 2) + (is_a_shared ? 7 : 9), Meets::kWarp};
}

}  // namespace cairn::interpreter
