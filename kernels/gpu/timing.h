#ifndef CAIRN_KERNELS_GPU_TIMING_H_
#define CAIRN_KERNELS_GPU_TIMING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gpu/bench.h"

// What tools/gpu-check times, in its order. Each function prints its rows; a failure ends its own
// rows only.

namespace cairn::gpu {

struct AttentionSize {
  std::uint32_t requests, tokens, q_heads, kv_heads, head_dim;
};
struct PrefillSize {
  std::uint32_t context, new_tokens, q_heads, kv_heads, head_dim;
};
struct GemmSize {
  std::uint32_t rows, n, k;
};

// A model's shape, as far as it matters to kernels of rows, and how many rows to try.
struct RowSizes {
  std::uint32_t hidden, intermediate, vocabulary, layers, kv_heads, head_dim, block_tokens;
  std::vector<std::uint32_t> rows;
};

// One real set, and one that the emulator does in seconds.
struct Sizes {
  static Sizes Real();
  static Sizes Tiny();
  std::uint64_t stream_bytes;    // of a buffer that is read or copied, for the ceilings
  std::uint32_t product_rounds;  // of the bare loops of products
  std::uint32_t matmul;          // n = k = rows of the ceiling's product
  std::vector<AttentionSize> decode;
  PrefillSize prefill;
  std::vector<GemmSize> gemms;
  RowSizes rows;
  std::uint64_t checksum_block, gather_bytes;
  std::vector<std::uint32_t> gather_blocks;  // bytes of a block
  std::vector<std::uint64_t> copies;         // bytes of a host-device copy
};

// Read and copy of device memory, bare loops of mma.sync and wgmma, cuBLAS: sets bench.ceilings().
rt::Status TimeCeilings(Bench& bench, const Sizes& sizes, const std::string& cublas_path);
// Rows of "decode": keys rotated before ("plain"), in registers ("unrotated"), by a kernel of their
// own ("rotate, plain"); their batches alternate. Fails where the three outputs differ in a bit.
rt::Status TimeDecode(Bench& bench, const AttentionSize& size);
rt::Status TimePrefill(Bench& bench, const PrefillSize& size);
rt::Status TimeGemms(Bench& bench, const Sizes& sizes, const std::string& cublas_path);
// Norm, SwiGLU, embed, sample, StoreKv, TakeKv, and the exchange of blocks.
rt::Status TimeRows(Bench& bench, const RowSizes& sizes);
rt::Status TimeCopies(Bench& bench, const Sizes& sizes);      // checksum, gather, scatter
rt::Status TimeHostCopies(Bench& bench, const Sizes& sizes);  // pinned, both ways

// All of them. "" or what was wrong with each group that failed.
std::string TimeAll(Bench& bench, const Sizes& sizes, const std::string& cublas_path);

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_TIMING_H_
