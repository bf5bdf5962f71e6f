#ifndef CAIRN_TESTS_UNIT_KERNELS_HOST_ATTENTION_WORLD_H_
#define CAIRN_TESTS_UNIT_KERNELS_HOST_ATTENTION_WORLD_H_

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/host/rope_table.h"
#include "tests/unit/kernels_host/tier_test.h"

namespace cairn::host {

// The KV of one segment in blocks at scattered places; every byte that no token wrote is NaN.
class SegmentBlocks {
 public:
  SegmentBlocks(const HostOps& ops, const KvShape& shape, std::uint32_t tokens_max)
      : ops_(&ops), shape_(shape) {
    const std::size_t bytes = (KvBlockBytes(shape) + 4095) / 4096 * 4096;
    const std::size_t count = (tokens_max + shape.block_tokens - 1) / shape.block_tokens;
    memory_.assign((count + 1) * bytes, std::byte{0xff});
    auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
    base = (base + 4095) / 4096 * 4096;
    for (std::size_t i = 0; i < count; ++i) {  // in an order that is not that of the addresses
      blocks_.push_back(reinterpret_cast<std::byte*>(base) + (count - 1 - i) * bytes);
    }
  }
  void Store(std::uint32_t layer, std::uint32_t token, const float* k, const float* v) {
    std::byte* block = blocks_[token / shape_.block_tokens];
    ops_->store_kv({&shape_, layer, token % shape_.block_tokens, block, k, v});
  }
  const std::byte* const* blocks() const { return blocks_.data(); }
  std::byte* block(std::size_t i) { return blocks_[i]; }

 private:
  const HostOps* ops_;
  KvShape shape_;
  std::vector<std::byte> memory_;
  std::vector<std::byte*> blocks_;
};

struct WorldOptions {
  KvDtype dtype = KvDtype::kBf16;
  RotaryLayout layout = RotaryLayout::kAdjacent;
  std::uint32_t q_heads = 6;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_dim = 32;
  std::uint32_t rotary_dim = 32;
  std::uint32_t block_tokens = 16;
  std::vector<std::uint32_t> before = {70, 0, 10, 64, 130, 3};  // tokens of the attended segments
  std::uint32_t own_tokens = 150;
  std::uint32_t hole = 0;  // positions skipped between segments (a base that jumps)
};

// Random K, V and Q of a prompt, and the calls that attend over it.
class AttentionWorld {
 public:
  AttentionWorld(const HostOps& ops, const WorldOptions& options)
      : ops(&ops),
        options(options),
        shape{2, options.kv_heads, options.head_dim, options.block_tokens, options.dtype},
        table({.rotary_dim = options.rotary_dim,
               .max_positions = 4096,
               .theta = 100000.0,
               .layout = options.layout}) {
    std::uint32_t position = 0;
    std::uint32_t seed = 100;
    const std::size_t width = options.kv_heads * options.head_dim;
    for (const std::uint32_t tokens : options.before) {
      k.push_back(RandomFloats(tokens * width, seed++));
      v.push_back(RandomFloats(tokens * width, seed++));
      segments.emplace_back(ops, shape, tokens);
      for (std::uint32_t t = 0; t < tokens; ++t)
        segments.back().Store(1, t, &k.back()[t * width], &v.back()[t * width]);
      before.push_back({position, tokens, nullptr});
      position += tokens + options.hole;
    }
    for (std::size_t i = 0; i < before.size(); ++i) before[i].blocks = segments[i].blocks();
    own_position = position;
    k.push_back(RandomFloats(options.own_tokens * width, seed++));
    v.push_back(RandomFloats(options.own_tokens * width, seed++));
    q = RandomFloats(options.own_tokens * QWidth(), seed++, 2.0f);
  }
  std::size_t QWidth() const { return options.q_heads * options.head_dim; }

  AttentionCall Call(const SegmentBlocks& own, std::uint32_t first, std::uint32_t rows,
                     float* out) const {
    return {.shape = &shape,
            .rope = &table.view(),
            .layer = 1,
            .q_heads = options.q_heads,
            .before = before.data(),
            .before_count = before.size(),
            .own_position = own_position,
            .first_row = first,
            .own_blocks = own.blocks(),
            .rows = rows,
            .q = q.data() + first * QWidth(),
            .q_stride = QWidth(),
            .out = out + first * QWidth(),
            .out_stride = QWidth()};
  }
  void StoreOwn(SegmentBlocks& own, std::uint32_t begin, std::uint32_t end) const {
    const std::size_t width = options.kv_heads * options.head_dim;
    for (std::uint32_t t = begin; t < end; ++t)
      own.Store(1, t, &k.back()[t * width], &v.back()[t * width]);
  }
  SegmentBlocks OwnBlocks() const { return SegmentBlocks(*ops, shape, options.own_tokens); }
  std::vector<std::byte> Scratch() const {
    return std::vector<std::byte>(AttentionScratchBytes(shape, options.q_heads), std::byte{0xff});
  }

  // Prefill in chunks that end at `cuts` (and at the end), each chunk storing its own KV first.
  std::vector<float> Prefill(std::vector<std::uint32_t> cuts) const {
    SegmentBlocks own = OwnBlocks();
    std::vector<float> out(options.own_tokens * QWidth(), NAN);
    std::vector<std::byte> scratch = Scratch();
    std::uint32_t first = 0;
    cuts.push_back(options.own_tokens);
    for (const std::uint32_t end : cuts) {
      StoreOwn(own, first, end);
      const AttentionCall call = Call(own, first, end - first, out.data());
      for (std::uint32_t h = 0; h < options.kv_heads; ++h)
        ops->attend(call, h, 0, call.rows, scratch.data());
      first = end;
    }
    return out;
  }

  const HostOps* ops;
  WorldOptions options;
  KvShape shape;
  RopeTable table;
  std::vector<SegmentBlocks> segments;
  std::vector<AttendedSegment> before;
  std::uint32_t own_position = 0;
  std::vector<std::vector<float>> k, v;  // one for each segment, the own one last
  std::vector<float> q;
};

}  // namespace cairn::host
#endif  // CAIRN_TESTS_UNIT_KERNELS_HOST_ATTENTION_WORLD_H_
