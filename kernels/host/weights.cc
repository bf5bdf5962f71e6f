#include "kernels/host/weights.h"

#include <cstring>

namespace cairn::host {
namespace {

constexpr std::size_t kPackedQ4Scales = 2;  // f16 vectors before the weights of a Q4_1 group: d, m

std::uint16_t Load16(const unsigned char* p) {
  std::uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

float FromBits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float HalfToFloat(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fff) << 13;
  if ((half & 0x7c00) == 0x7c00) return FromBits(sign | magnitude | 0x7f800000);
  const float scaled = FromBits(magnitude) * 0x1p112f;  // exact, also for subnormals
  return (half & 0x8000) != 0 ? -scaled : scaled;
}

// The 4-bit weight i (0..31) of a GGUF block's 16 bytes.
unsigned Nibble(const unsigned char* q, std::uint32_t i) {
  return i < 16 ? q[i] & 0x0f : q[i - 16] >> 4;
}

// One group of 32 along k for one column (0..15) of a panel, from `row_group`, its bytes in the
// file.
void PackQuantisedColumn(WeightType type, const unsigned char* row_group, std::uint32_t column,
                         unsigned char* group) {
  std::memcpy(group + column * 2, row_group, 2);  // d
  if (type == WeightType::kQ8_0) {
    unsigned char* q = group + kPanelColumns * 2;
    for (std::uint32_t i = 0; i < kQuantBlock; ++i)
      q[i * kPanelColumns + column] = row_group[2 + i];
    return;
  }
  std::size_t scales = 1;
  if (type == WeightType::kQ4_1) {
    std::memcpy(group + (kPanelColumns + column) * 2, row_group + 2, 2);  // m
    scales = kPackedQ4Scales;
  }
  const unsigned char* from = row_group + scales * 2;
  unsigned char* q = group + scales * kPanelColumns * 2;
  for (std::uint32_t t = 0; t < kQuantBlock / 2; ++t) {
    q[t * kPanelColumns + column] =
        static_cast<unsigned char>(Nibble(from, 2 * t) | (Nibble(from, 2 * t + 1) << 4));
  }
}

void PackPlainColumn(std::size_t element, const unsigned char* row_group, std::uint32_t count,
                     std::uint32_t column, unsigned char* group) {
  for (std::uint32_t i = 0; i < count; ++i) {
    std::memcpy(group + (i * kPanelColumns + column) * element, row_group + i * element, element);
  }
}

}  // namespace

void PackPanels(const MatrixSource& source, std::size_t begin, std::size_t end, std::byte* panels) {
  const std::size_t panel_bytes = PanelBytes(source.type, source.k);
  const std::size_t row_bytes = RowBytes(source.type, source.k);
  const std::size_t group_bytes = BytesPer32(source.type);  // of one column
  const auto* rows = static_cast<const unsigned char*>(source.rows);
  for (std::size_t p = begin; p < end; ++p) {
    auto* panel = reinterpret_cast<unsigned char*>(panels) + p * panel_bytes;
    std::memset(panel, 0, panel_bytes);  // columns past n and the tail of k are zero weights
    for (std::uint32_t c = 0; c < kPanelColumns; ++c) {
      const std::size_t row = p * kPanelColumns + c;
      if (row >= source.n) break;
      for (std::uint32_t from = 0; from < source.k; from += kQuantBlock) {
        const std::size_t at = from / kQuantBlock * group_bytes;
        const unsigned char* row_group = rows + row * row_bytes + at;
        unsigned char* group = panel + at * kPanelColumns;
        if (IsQuantised(source.type)) {
          PackQuantisedColumn(source.type, row_group, c, group);
        } else {
          const std::uint32_t left = source.k - from;
          PackPlainColumn(group_bytes / kQuantBlock, row_group,
                          left < kQuantBlock ? left : kQuantBlock, c, group);
        }
      }
    }
  }
}

void DequantiseRow(const MatrixSource& source, std::uint32_t row, float* out) {
  const auto* from =
      static_cast<const unsigned char*>(source.rows) + row * RowBytes(source.type, source.k);
  for (std::uint32_t i = 0; i < source.k; ++i) {
    const unsigned char* group = from + i / kQuantBlock * BytesPer32(source.type);
    const std::uint32_t j = i % kQuantBlock;
    switch (source.type) {
      case WeightType::kF32:
        std::memcpy(out + i, from + i * 4, 4);
        break;
      case WeightType::kF16:
        out[i] = HalfToFloat(Load16(from + i * 2));
        break;
      case WeightType::kBf16:
        out[i] = FromBits(static_cast<std::uint32_t>(Load16(from + i * 2)) << 16);
        break;
      case WeightType::kQ8_0:
        out[i] =
            HalfToFloat(Load16(group)) * static_cast<float>(static_cast<signed char>(group[2 + j]));
        break;
      case WeightType::kQ4_0:
        out[i] = HalfToFloat(Load16(group)) *
                 static_cast<float>(static_cast<int>(Nibble(group + 2, j)) - 8);
        break;
      case WeightType::kQ4_1:
        out[i] = HalfToFloat(Load16(group)) * static_cast<float>(Nibble(group + 4, j)) +
                 HalfToFloat(Load16(group + 2));
        break;
    }
  }
}

}  // namespace cairn::host
