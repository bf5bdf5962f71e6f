#include "kernels/linear/packed.h"
#include "kernels/linear/packed_tiles.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kPackThreads = 256;

// A block a tile, a thread 16 bytes and step.
SK_KERNEL void PackTiles(PackParams params) {
  const std::uint32_t k_tile = sk::BlockIndexX(), n_tile = sk::BlockIndexY();
  const std::uint64_t tile = sk::Index(std::uint64_t{n_tile} * PackedTilesDeep(params.k) + k_tile);
  std::uint16_t* packed = params.packed + tile * (kPackedTileBytes / 2);
  const std::uint32_t chunk = sk::ThreadIndex() % 8;
  const std::uint32_t k = k_tile * kLinearStepDepth + chunk * 8;
  for (std::uint32_t row = sk::ThreadIndex() / 8; row < kLinearTileColumns;
       row += kPackThreads / 8) {
    const std::uint32_t column = n_tile * kLinearTileColumns + row;
    sk::Words4 words = {};
    if (column < params.n && k < params.k) {
      const std::uint64_t piece = sk::Index((std::uint64_t{column} * params.k + k) / 8);
      words = sk::LoadStreaming16(params.w + piece * 8);
    }
    const std::uint32_t row_to = sk::Index(row);
    const std::uint32_t chunk_to = sk::Index(chunk);
    sk::Store16(packed + PackedByte(row_to, chunk_to) / 2, words);
  }
}

// A block a tile, a thread a value and step, which asks what belongs there: 16-byte chunk c of row
// r is the one of k that differs from c in the bits of r % 8.
SK_KERNEL void PackTilesSimply(PackParams params) {
  const std::uint32_t k_tile = sk::BlockIndexX(), n_tile = sk::BlockIndexY();
  const std::uint64_t tile = std::uint64_t{n_tile} * PackedTilesDeep(params.k) + k_tile;
  for (std::uint32_t at = sk::ThreadIndex(); at < 128 * 64; at += kPackThreads) {
    const std::uint32_t row = at / 64, chunk = at % 64 / 8, value = at % 8;
    const std::uint32_t column = n_tile * 128 + row;
    const std::uint32_t k = k_tile * 64 + (chunk ^ row % 8) * 8 + value;
    std::uint16_t bits = 0;
    if (column < params.n && k < params.k) {
      bits = params.w[sk::Index(std::uint64_t{column} * params.k + k)];
    }
    params.packed[sk::Index(tile * 128 * 64 + at)] = bits;
  }
}

bool IsAligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

rt::Status LaunchPack(rt::Stream& stream, const PackParams& params, void (*kernel)(PackParams)) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream,
                    {.blocks_x = PackedTilesDeep(params.k),
                     .blocks_y = PackedTilesAcross(params.n),
                     .threads = kPackThreads},
                    kernel, params);
}

}  // namespace

std::size_t PackedWeightsBytes(std::uint32_t n, std::uint32_t k) {
  return std::size_t{PackedTilesAcross(n)} * PackedTilesDeep(k) * kPackedTileBytes;
}

std::string Validate(const PackParams& params) {
  if (params.w == nullptr || params.packed == nullptr) return "pack: w or packed is null";
  if (!IsAligned(params.w) || !IsAligned(params.packed)) {
    return "pack: w or packed is not 16-byte aligned";
  }
  // Shapes are those of products.
  LinearParams product;
  const std::uint32_t count = 1;
  product.x = product.w = params.w;
  product.y = params.packed;
  product.n = params.n;
  product.k = params.k;
  product.row_count = &count;
  product.rows_max = 65535;
  return Validate(product);
}

rt::Status PackWeights(rt::Stream& stream, const PackParams& params) {
  return LaunchPack(stream, params, PackTiles);
}

rt::Status PackWeightsSimply(rt::Stream& stream, const PackParams& params) {
  return LaunchPack(stream, params, PackTilesSimply);
}

}  // namespace cairn::kernels
