#include "kernels/attention/decode.h"

#include "kernels/attention/decode_kernel.h"

namespace cairn::kernels {
namespace {

template <class Element, std::uint32_t kDim, class Turns>
rt::Status LaunchSplits(rt::Stream& stream, const DecodeParams& params) {
  return rt::Launch(stream,
                    {.blocks_x = params.blocks,
                     .threads = kTileThreads,
                     .shared_bytes = DecodeMemory<kDim>::kBytes},
                    DecodeSplits<Element, kDim, Turns>, params);
}

// Of keys in the pool: which rotation, if there is one.
template <class Element, std::uint32_t kDim, std::uint32_t kRotary>
rt::Status LaunchTurning(rt::Stream& stream, const DecodeParams& params) {
  if (params.rows.keys.pairs == RotaryPairs::kAdjacent) {
    return LaunchSplits<Element, kDim, KeyTurns<kRotary, RotaryPairs::kAdjacent>>(stream, params);
  }
  return LaunchSplits<Element, kDim, KeyTurns<kRotary, RotaryPairs::kHalfSplit>>(stream, params);
}

template <class Element>
rt::Status LaunchFor(rt::Stream& stream, const DecodeParams& params) {
  const std::uint32_t dim = params.rows.keys.head_dim;
  if (params.keys_from == KeysFrom::kScratch) {
    if (dim == 64) return LaunchSplits<Element, 64, NoTurns>(stream, params);
    if (dim == 128) return LaunchSplits<Element, 128, NoTurns>(stream, params);
    return LaunchSplits<Element, 256, NoTurns>(stream, params);
  }
  if (dim == 64) return LaunchTurning<Element, 64, 64>(stream, params);
  if (dim == 256) return LaunchTurning<Element, 256, 64>(stream, params);
  if (params.rows.keys.rotary_dim == 64) return LaunchTurning<Element, 128, 64>(stream, params);
  return LaunchTurning<Element, 128, 128>(stream, params);
}

}  // namespace

DecodePlan PlanDecode(std::span<const AttendRow> rows) {
  DecodePlan plan;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const AttendRow& row = rows[i];
    plan.first_items.push_back(static_cast<std::uint32_t>(plan.items.size()));
    for (std::uint32_t first = 0; first < row.tile_count; first += kSplitTiles) {
      const bool is_last = row.tile_count - first <= kSplitTiles;
      plan.items.push_back({i, row.first_tile + first,
                            is_last ? row.tile_count - first : kSplitTiles,
                            is_last ? row.last_tokens : kTileTokens, row.position});
    }
  }
  return plan;
}

bool HasTileKernels(std::uint32_t head_dim, std::uint32_t rotary_dim, std::uint32_t group) {
  const bool has_dim = head_dim == 64 || head_dim == 128 || head_dim == 256;
  return has_dim && rotary_dim <= head_dim && rotary_dim % 4 == 0 && group >= 1 &&
         group <= kGroupMax;
}

bool RotatesInRegisters(std::uint32_t head_dim, std::uint32_t rotary_dim) {
  if (head_dim == 128) return rotary_dim == 128 || rotary_dim == 64;
  return (head_dim == 64 || head_dim == 256) && rotary_dim == 64;
}

std::uint32_t DecodeBlocksPerSm(std::uint32_t head_dim) {
  if (head_dim == 64) return DecodeMemory<64>::kBlocks;
  return head_dim == 128 ? DecodeMemory<128>::kBlocks : DecodeMemory<256>::kBlocks;
}

std::string Validate(const DecodeParams& params) {
  AttendParams rows = params.rows;
  if (params.keys_from == KeysFrom::kPool) {  // what RotateKeys alone needs may be missing
    rows.keys.scratch = reinterpret_cast<std::uint16_t*>(rows.out);
    rows.keys.tiles_max = 1;
  }
  if (std::string wrong = ValidateForTiles(rows, "decode"); !wrong.empty()) return wrong;
  const auto wrong = [](const char* field, std::uint64_t value, const char* wanted) {
    return std::string("decode: ") + field + " is " + std::to_string(value) + ", not " + wanted;
  };
  const RotateParams& keys = params.rows.keys;
  if (params.rows.q_heads / keys.kv_heads > kGroupMax) {
    return wrong("q_heads / kv_heads", params.rows.q_heads / keys.kv_heads, "1 to 8");
  }
  if (params.keys_from == KeysFrom::kPool && !RotatesInRegisters(keys.head_dim, keys.rotary_dim)) {
    return wrong("rotary_dim", keys.rotary_dim, "64, or 128 of 128, as rotation in registers asks");
  }
  if (params.items_max == 0) return wrong("items_max", 0, "1 or more");
  if (std::uint64_t{params.items_max} * keys.kv_heads > 1u << 31) {
    return wrong("items_max", params.items_max, "2^31 / kv_heads at most");
  }
  if (params.blocks == 0 || params.blocks > 1u << 30) {
    return wrong("blocks", params.blocks, "1 to 2^30");
  }
  if (params.items == nullptr || params.item_count == nullptr || params.first_items == nullptr ||
      params.partial_out == nullptr || params.partial_softmax == nullptr) {
    return "decode: a pointer is null";
  }
  return "";
}

rt::Status AttendDecode(rt::Stream& stream, const DecodeParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.rows.keys.element == ElementType::kF16;
  rt::Status status = is_f16 ? LaunchFor<F16>(stream, params) : LaunchFor<Bf16>(stream, params);
  if (!status.ok()) return status;
  const std::uint32_t dim = params.rows.keys.head_dim;
  return rt::Launch(
      stream,
      {.blocks_x = params.rows.rows_max, .blocks_y = params.rows.q_heads, .threads = dim},
      dim == 64 ? MergeSplits<64> : dim == 128 ? MergeSplits<128> : MergeSplits<256>, params);
}

}  // namespace cairn::kernels
