#ifndef CAIRN_KERNELS_HOST_WEIGHTS_H_
#define CAIRN_KERNELS_HOST_WEIGHTS_H_

#include <cstddef>
#include <cstdint>

// Weight matrices: as a model file stores them, and as the CPU kernels read them.

// Small functions that the tiers use too. Never emitted out of line: such a copy, compiled for one
// instruction set, could be the one that the linker keeps for everyone.
#define CAIRN_HOST_INLINE [[gnu::always_inline]] constexpr

namespace cairn::host {

// Element types of GGUF that the kernels read. The quantised ones store 32 weights at a time along
// k: Q8_0 {f16 d, i8 q[32]}: d*q.  Q4_0 {f16 d, u8 q[16]}: d*(q-8).  Q4_1 {f16 d, f16 m, u8 q[16]}:
// d*q + m.  In the 4-bit types byte i holds weight i (low half) and weight i + 16 (high half).
enum class WeightType : std::uint8_t { kF32, kF16, kBf16, kQ8_0, kQ4_0, kQ4_1 };

inline constexpr std::uint32_t kQuantBlock = 32;    // weights in a quantised block, along k
inline constexpr std::uint32_t kPanelColumns = 16;  // output columns in a panel

CAIRN_HOST_INLINE bool IsQuantised(WeightType type) { return type >= WeightType::kQ8_0; }

// Bytes of 32 consecutive weights of one row, the same before and after packing.
CAIRN_HOST_INLINE std::size_t BytesPer32(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return 128;
    case WeightType::kF16:
      return 64;
    case WeightType::kBf16:
      return 64;
    case WeightType::kQ8_0:
      return 34;
    case WeightType::kQ4_0:
      return 18;
    case WeightType::kQ4_1:
      return 20;
  }
  return 0;
}

// A matrix as it lies in a model file: n rows (outputs) of k weights (inputs), row-major, no gaps.
// Quantised types need k % 32 == 0 (the parser's duty). `rows` needs no alignment.
struct MatrixSource {
  WeightType type = WeightType::kF32;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  const void* rows = nullptr;  // n * RowBytes(type, k) bytes
};

CAIRN_HOST_INLINE std::size_t RowBytes(WeightType type, std::uint32_t k) {
  return static_cast<std::size_t>(k) * BytesPer32(type) / 32;
}

// A matrix in panels of 16 output columns, the form that HostOps::gemm reads. A view: the caller
// owns `panels` (64-byte aligned, PackedBytes() bytes; huge pages help).
struct PackedMatrix {
  WeightType type = WeightType::kF32;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  const std::byte* panels = nullptr;
};

CAIRN_HOST_INLINE std::size_t PanelCount(std::uint32_t n) {
  return (static_cast<std::size_t>(n) + kPanelColumns - 1) / kPanelColumns;
}

// k rounded up to whole groups of 32: the tail of F32, F16 and BF16 panels is stored as zeros.
CAIRN_HOST_INLINE std::size_t PanelBytes(WeightType type, std::uint32_t k) {
  return (static_cast<std::size_t>(k) + kQuantBlock - 1) / kQuantBlock * BytesPer32(type) *
         kPanelColumns;
}

CAIRN_HOST_INLINE std::size_t PackedBytes(const MatrixSource& source) {
  return PanelCount(source.n) * PanelBytes(source.type, source.k);
}

// Writes panels [begin, end) of `source` into `panels`, the start of the whole packed matrix.
// Threads: disjoint ranges may be packed at once. The same for every tier.
void PackPanels(const MatrixSource& source, std::size_t begin, std::size_t end, std::byte* panels);

// Writes the k exactly dequantised weights of one row (an embedding) to `out`. Every tier gives
// these bits, and the GEMM multiplies by exactly these values.
void DequantiseRow(const MatrixSource& source, std::uint32_t row, float* out);

}  // namespace cairn::host
#endif  // CAIRN_KERNELS_HOST_WEIGHTS_H_
