#include "kernels/attention/attend.h"

#include "kernels/attention/element.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/attention/row_program.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kDimMax = 256;
constexpr std::uint32_t kLaneDims = kDimMax / 32;  // dims lane, lane + 32, ... of a head

// Softmax of some keys, not normalised: out / sum is their mean. In each lane, for its dims.
struct Partial {
  float most = kNothing;
  float sum = 0;
  float out[kLaneDims] = {};
};

// Adds `part` to `total`, in this order; adding a Partial of nothing changes no bit.
SK_DEVICE void Fold(Partial& total, const Partial& part) {
  if (part.most == kNothing) return;
  const float most = part.most > total.most ? part.most : total.most;
  const float keep = sk::Ex2(total.most - most), add = sk::Ex2(part.most - most);
  total.most = most;
  total.sum = sk::Fma(total.sum, keep, part.sum * add);
  SK_UNROLL
  for (std::uint32_t i = 0; i < kLaneDims; ++i) {
    total.out[i] = sk::Fma(total.out[i], keep, part.out[i] * add);
  }
}

// The query, turned to its position and rounded, into shared memory as floats.
template <class Element>
SK_DEVICE void TurnQuery(const AttendParams& params, const std::uint16_t* q, std::uint32_t position,
                         float* turned) {
  const RotateParams& keys = params.keys;
  const std::uint32_t lane = sk::LaneIndex(), pairs = keys.rotary_dim / 2;
  const bool is_adjacent = keys.pairs == RotaryPairs::kAdjacent;
  for (std::uint32_t i = lane; i < pairs; i += 32) {
    const std::uint32_t x_at = is_adjacent ? 2 * i : i, y_at = is_adjacent ? 2 * i + 1 : i + pairs;
    const std::uint16_t x_bits = q[sk::Index(x_at)];
    const std::uint16_t y_bits = q[sk::Index(y_at)];
    float x = Element::Low(x_bits), y = Element::Low(y_bits);
    const std::uint64_t turn = sk::Index(std::uint64_t{position} * pairs + i);
    RotatePair(x, y, reinterpret_cast<const Turn*>(keys.table)[turn]);
    const std::uint32_t rounded = Element::Pack(x, y);
    turned[sk::Index(x_at)] = Element::Low(rounded);
    turned[sk::Index(y_at)] = Element::High(rounded);
  }
  for (std::uint32_t i = 2 * pairs + lane; i < keys.head_dim; i += 32) {
    const std::uint16_t bits = q[sk::Index(i)];
    turned[sk::Index(i)] = Element::Low(bits);
  }
  sk::SyncWarp();
}

// The keys [0, tokens) of one tile; lane l scores keys l and l + 32.
template <class Element>
SK_DEVICE Partial AttendTile(const AttendParams& params, const float* q, std::uint32_t tile,
                             std::uint32_t head, std::uint32_t tokens) {
  const RotateParams& keys = params.keys;
  const std::uint32_t lane = sk::LaneIndex(), dim = keys.head_dim;
  Partial part;
  if (tokens == 0) return part;
  const std::uint64_t index = std::uint64_t{tile} * keys.kv_heads + head;
  const std::uint16_t* turned = keys.scratch + sk::Index(index) * (kTileTokens * dim);
  float score[2];
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t token = lane + 32 * half;
    const std::uint16_t* key = turned + sk::Index(token) * dim;
    float dot = 0;
    for (std::uint32_t i = 0; i < dim && token < tokens; ++i) {
      dot = sk::Fma(q[sk::Index(i)], Element::Low(key[i]), dot);
    }
    score[half] = token < tokens ? dot * (params.scale * kLog2E) : kNothing;
  }
  float most = score[0] > score[1] ? score[0] : score[1];
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    const float other = sk::ShuffleXor(most, step);
    most = other > most ? other : most;
  }
  // A masked key's weight is 0 exactly, also where all of a tile's scores are far below.
  float weight[2];
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    weight[half] = lane + 32 * half < tokens ? sk::Ex2(score[half] - most) : 0.0f;
  }
  float sum = weight[0] + weight[1];
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    sum += sk::ShuffleXor(sum, step);
  }
  part.most = most;
  part.sum = sum;

  const RotateTile& plan = keys.tiles[sk::Index(tile)];
  const std::uint64_t head_bytes = std::uint64_t{keys.block_tokens} * dim * 2;
  const std::uint64_t v_offset = keys.layer_offset + (keys.kv_heads + head) * head_bytes;
  for (std::uint32_t token = 0; token < tokens; ++token) {
    const float own = token < 32 ? weight[0] : weight[1];
    const float w = sk::Shuffle(own, token % 32);
    const std::uint32_t slot = plan.slots[sk::Index(token / keys.block_tokens)];
    const std::uint32_t of_block = sk::Index(token % keys.block_tokens);
    const auto* v =
        reinterpret_cast<const std::uint16_t*>(keys.pool + slot * keys.block_bytes + v_offset +
                                               std::uint64_t{of_block} * dim * 2);
    SK_UNROLL
    for (std::uint32_t i = 0; i < kLaneDims; ++i) {
      const std::uint32_t at = lane + 32 * i;
      if (at < dim) part.out[i] = sk::Fma(w, Element::Low(v[sk::Index(at)]), part.out[i]);
    }
  }
  return part;
}

// The simple kernel: one warp a (row, query head), every key read anew for each of them.
template <class Element>
SK_KERNEL void AttendRowsSimply(AttendParams params) {
  if (sk::BlockIndexX() >= *params.row_count) return;
  const AttendRow& row = params.rows[sk::Index(sk::BlockIndexX())];
  const std::uint32_t q_head = sk::BlockIndexY(), dim = params.keys.head_dim;
  const std::uint32_t head = q_head / (params.q_heads / params.keys.kv_heads);
  const std::uint64_t at = (std::uint64_t{sk::BlockIndexX()} * params.q_heads + q_head) * dim;
  auto* q = reinterpret_cast<float*>(sk::SharedMemory());
  TurnQuery<Element>(params, params.q + at, row.position, q);

  Partial total;
  for (std::uint32_t first = 0; first < row.tile_count; first += kSplitTiles) {
    Partial split;
    for (std::uint32_t i = first; i < row.tile_count && i < first + kSplitTiles; ++i) {
      const std::uint32_t tile = row.first_tile + i;
      const bool is_last = i + 1 == row.tile_count;
      const std::uint32_t all = params.keys.tiles[sk::Index(tile)].tokens;
      const std::uint32_t tokens = is_last ? row.last_tokens : all;
      Fold(split, AttendTile<Element>(params, q, tile, head, tokens));
    }
    Fold(total, split);
  }
  const float share = total.sum == 0 ? 0.0f : 1.0f / total.sum;
  SK_UNROLL
  for (std::uint32_t i = 0; i < kLaneDims; ++i) {
    const std::uint32_t d = sk::LaneIndex() + 32 * i;
    if (d < dim) params.out[sk::Index(at + d)] = total.out[i] * share;
  }
}

}  // namespace

std::string Validate(const AttendParams& params) {
  if (std::string wrong = Validate(params.keys); !wrong.empty()) return wrong;
  const auto wrong = [](const char* field, std::uint64_t value, const char* wanted) {
    return std::string("attend: ") + field + " is " + std::to_string(value) + ", not " + wanted;
  };
  const RotateParams& keys = params.keys;
  if (params.q_heads == 0 || params.q_heads % keys.kv_heads != 0 || params.q_heads > 65535) {
    return wrong("q_heads", params.q_heads, "a multiple of kv_heads up to 65535");
  }
  if (params.rows_max == 0) return wrong("rows_max", 0, "1 or more");
  const std::uint64_t layer_bytes =
      std::uint64_t{2} * keys.kv_heads * keys.block_tokens * keys.head_dim * 2;
  if (keys.layer_offset + layer_bytes > keys.block_bytes) {
    return wrong("layer_offset", keys.layer_offset, "such that K and V lie inside a block");
  }
  if (!(params.scale > -1e30f && params.scale < 1e30f)) return "attend: scale is not finite";
  if (params.q == nullptr || params.out == nullptr || params.rows == nullptr ||
      params.row_count == nullptr) {
    return "attend: a pointer is null";
  }
  return "";
}

std::string ValidateForTiles(const AttendParams& params, const char* kernel) {
  if (std::string wrong = Validate(params); !wrong.empty()) return wrong;
  const auto wrong = [&](const char* field, std::uint64_t value, const char* wanted) {
    return std::string(kernel) + ": " + field + " is " + std::to_string(value) + ", not " + wanted;
  };
  const RotateParams& keys = params.keys;
  if (keys.head_dim != 64 && keys.head_dim != 128 && keys.head_dim != 256) {
    return wrong("head_dim", keys.head_dim, "64, 128 or 256");
  }
  if (keys.rotary_dim % 4 != 0) return wrong("rotary_dim", keys.rotary_dim, "a multiple of 4");
  if (keys.block_bytes % 16 != 0) return wrong("block_bytes", keys.block_bytes, "a multiple of 16");
  if (keys.layer_offset % 16 != 0) {
    return wrong("layer_offset", keys.layer_offset, "a multiple of 16");
  }
  if (!(params.scale >= 1e-30f)) return std::string(kernel) + ": scale is not 1e-30 or more";
  const auto is_aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  };
  if (!is_aligned(keys.pool) || !is_aligned(params.q) || !is_aligned(keys.table) ||
      !is_aligned(keys.scratch) || !is_aligned(params.out)) {
    return std::string(kernel) + ": pool, q, table, scratch or out is not 16-byte aligned";
  }
  return "";
}

rt::Status AttendRows(rt::Stream& stream, const AttendParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream,
                    {.blocks_x = params.rows_max,
                     .blocks_y = params.q_heads,
                     .threads = 32,
                     .shared_bytes = params.keys.head_dim * 4},
                    params.keys.element == ElementType::kF16 ? AttendRowsSimply<F16>
                                                             : AttendRowsSimply<Bf16>,
                    params);
}

}  // namespace cairn::kernels
