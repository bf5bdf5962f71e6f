#include "kernels/copy/exchange.h"

#include "kernels/attention/element.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/attention/rotate_tile.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;

// One head of one layer of one block: what a thread block does at a time.
struct Part {
  ExchangeBlock block;
  const std::uint32_t* engine_tokens;  // of its tokens
  std::byte* keys;                     // in the pool: its first slot
  std::byte* values;
  std::byte* engine_keys;  // in the engine: token 0
  std::byte* engine_values;
};

// By all lanes of each warp, with the same answer.
SK_DEVICE bool IsRefused(const ExchangeParams& params, const ExchangeBlock& block,
                         const std::uint32_t* engine_tokens) {
  if (block.slot >= params.pool_slots || block.tokens > params.blocks.block_tokens) return true;
  if (params.rotary_dim > 0) {
    if (block.position >= params.positions) return true;
    if (block.first_in_tile >= kTileTokens) return true;
    if (block.first_in_tile + block.tokens > kTileTokens) return true;
  }
  bool is_beyond = false;
  for (std::uint32_t token = sk::LaneIndex(); token < block.tokens; token += 32) {
    is_beyond = is_beyond || engine_tokens[sk::Index(token)] >= params.engine.tokens;
  }
  const std::uint32_t lanes = sk::Ballot(is_beyond);
  return lanes != 0;
}

// Item `item` of the list's blocks x layers x heads. False: it is refused, which the first item of
// a block counts.
SK_DEVICE bool FindPart(const ExchangeParams& params, std::uint64_t item, Part& part) {
  const KvBlocks& blocks = params.blocks;
  const std::uint32_t block_items = params.engine.layer_count * blocks.kv_heads;
  const std::uint64_t index = item / block_items;
  const std::uint32_t in_block = static_cast<std::uint32_t>(item % block_items);
  const std::uint32_t layer = in_block / blocks.kv_heads, head = in_block % blocks.kv_heads;
  part.block = params.list[sk::Index(index)];
  part.engine_tokens = params.engine_tokens + sk::Index(index) * blocks.block_tokens;
  if (IsRefused(params, part.block, part.engine_tokens)) {
    if (in_block == 0 && sk::ThreadIndex() == 0) sk::AtomicAdd(params.refused, 1u);
    return false;
  }
  const std::uint64_t head_bytes = std::uint64_t{blocks.block_tokens} * blocks.head_dim * 2;
  const std::uint32_t of_keys = (params.engine.first_layer + layer) * 2 * blocks.kv_heads + head;
  std::byte* block = blocks.pool + sk::Index(std::uint64_t{part.block.slot}) * blocks.block_bytes;
  part.keys = block + sk::Index(of_keys) * head_bytes;
  part.values = block + sk::Index(of_keys + blocks.kv_heads) * head_bytes;
  part.engine_keys = params.engine.keys[sk::Index(layer)];
  part.engine_values = params.engine.values[sk::Index(layer)];
  part.engine_keys += sk::Index(head) * params.engine.strides.head;
  part.engine_values += sk::Index(head) * params.engine.strides.head;
  return true;
}

// Bytes from the engine's token 0 to that which holds token `token` of the part.
SK_DEVICE std::uint64_t EngineOffset(const ExchangeParams& params, const Part& part,
                                     std::uint32_t token) {
  const std::uint32_t at = part.engine_tokens[sk::Index(token)];
  const std::uint32_t block = sk::Index(at / params.engine.block_tokens);
  const std::uint32_t in_block = sk::Index(at % params.engine.block_tokens);
  return block * params.engine.strides.block + in_block * params.engine.strides.token;
}

// The table's row.
SK_DEVICE const Turn* TurnsOf(const ExchangeParams& params, std::uint32_t position) {
  const std::uint64_t row = sk::Index(std::uint64_t{position});
  return reinterpret_cast<const Turn*>(params.table) + row * (params.rotary_dim / 2);
}

// ---- The simple kernel: a pair, or an element, of a key and a value at a time -------------------

template <class Element, bool kImports>
SK_DEVICE void TurnBits(const ExchangeParams& params, const Part& part, std::uint32_t token,
                        std::uint32_t pair, std::uint16_t& x_bits, std::uint16_t& y_bits) {
  const Turn* of_slot = TurnsOf(params, part.block.first_in_tile + token);
  const Turn* of_tile = TurnsOf(params, part.block.position);
  const Turn slot = of_slot[sk::Index(pair)];
  const Turn tile = of_tile[sk::Index(pair)];
  float x = Element::Low(x_bits), y = Element::Low(y_bits);
  RotatePair(x, y, kImports ? Back(tile) : slot);
  RotatePair(x, y, kImports ? Back(slot) : tile);
  const std::uint32_t packed = Element::Pack(x, y);
  x_bits = static_cast<std::uint16_t>(packed);
  y_bits = static_cast<std::uint16_t>(packed >> 16);
}

template <class Element, bool kImports>
SK_DEVICE void MovePart(const ExchangeParams& params, const Part& part) {
  const std::uint32_t dim = params.blocks.head_dim, pairs = params.rotary_dim / 2;
  const std::uint32_t units = dim - pairs;
  const bool is_adjacent = params.pairs == RotaryPairs::kAdjacent;
  for (std::uint32_t i = sk::ThreadIndex(); i < params.blocks.block_tokens * units; i += kThreads) {
    const std::uint32_t token = i / units, unit = i % units;
    const bool is_there = token < part.block.tokens, is_pair = unit < pairs;
    if (!kImports && !is_there) return;
    const std::uint64_t offset = is_there ? EngineOffset(params, part, token) : 0;
    const std::uint32_t x_at = !is_pair ? pairs + unit : is_adjacent ? 2 * unit : unit;
    const std::uint32_t y_at = is_adjacent ? x_at + 1 : x_at + pairs;
    const auto move = [&](std::byte* in_pool, std::byte* in_engine, bool turns) {
      auto* pool = reinterpret_cast<std::uint16_t*>(in_pool) + std::uint64_t{token} * dim;
      auto* engine = reinterpret_cast<std::uint16_t*>(in_engine + offset);
      const std::uint16_t* from = kImports ? engine : pool;
      std::uint16_t* to = kImports ? pool : engine;
      std::uint16_t x = 0, y = 0;
      if (is_there) x = from[sk::Index(x_at)];
      if (is_there && is_pair) y = from[sk::Index(y_at)];
      if (is_there && is_pair && turns) {
        TurnBits<Element, kImports>(params, part, token, unit, x, y);
      }
      to[sk::Index(x_at)] = x;
      if (is_pair) to[sk::Index(y_at)] = y;
    };
    move(part.keys, part.engine_keys, true);
    move(part.values, part.engine_values, false);
  }
}

template <class Element, bool kImports>
SK_KERNEL void ExchangePairs(ExchangeParams params) {
  const std::uint32_t block_items = params.engine.layer_count * params.blocks.kv_heads;
  const std::uint64_t items = std::uint64_t{*params.count} * block_items;
  for (std::uint64_t item = sk::BlockIndexX(); item < items; item += sk::BlockCountX()) {
    Part part;
    if (FindPart(params, item, part)) MovePart<Element, kImports>(params, part);
  }
}

// ---- The fast kernel: pieces of 16 bytes --------------------------------------------------------

// A thread moves a unit of a token: one piece of its key and one of its value, or two where pairs
// are half-split and turn. All its loads, up to 64 bytes, are under way before it waits for one.
template <class Element, bool kImports>
SK_DEVICE void MovePieces(const ExchangeParams& params, const Part& part) {
  const bool is_adjacent = params.pairs == RotaryPairs::kAdjacent;
  const std::uint32_t pieces = params.blocks.head_dim / 8;
  const std::uint32_t turned = params.rotary_dim / (is_adjacent ? 8 : 16);  // units that turn
  const std::uint32_t units = is_adjacent ? pieces : pieces - turned;
  const std::uint32_t tokens = kImports ? params.blocks.block_tokens : part.block.tokens;
  for (std::uint32_t i = sk::ThreadIndex(); i < tokens * units; i += kThreads) {
    const std::uint32_t token = i / units, unit = i % units;
    const bool is_turned = unit < turned, has_partner = is_turned && !is_adjacent;
    const std::uint32_t x_at = is_turned || is_adjacent ? unit : unit + turned;
    const std::uint32_t y_at = unit + turned;
    const bool is_there = token < part.block.tokens;
    const std::uint64_t in_pool = std::uint64_t{token} * params.blocks.head_dim * 2;
    const std::uint64_t in_engine = is_there ? EngineOffset(params, part, token) : 0;
    const std::byte* key_from = kImports ? part.engine_keys + in_engine : part.keys + in_pool;
    const std::byte* value_from = kImports ? part.engine_values + in_engine : part.values + in_pool;
    sk::Words4 key_x{}, key_y{}, value_x{}, value_y{};
    if (is_there) {
      const std::uint32_t key_x_from = sk::Index(x_at);
      const std::uint32_t value_x_from = sk::Index(x_at);
      key_x = sk::LoadStreaming16(key_from + key_x_from * 16);
      value_x = sk::LoadStreaming16(value_from + value_x_from * 16);
    }
    if (is_there && has_partner) {
      const std::uint32_t key_y_from = sk::Index(y_at);
      const std::uint32_t value_y_from = sk::Index(y_at);
      key_y = sk::LoadStreaming16(key_from + key_y_from * 16);
      value_y = sk::LoadStreaming16(value_from + value_y_from * 16);
    }
    if (is_there && is_turned) {
      const Turn* of_slot = TurnsOf(params, part.block.first_in_tile + token);
      const Turn* of_tile = TurnsOf(params, part.block.position);
      TurnPiece<Element, kImports>(key_x, key_y, of_slot, of_tile, unit, is_adjacent);
    }
    std::byte* key_to = kImports ? part.keys + in_pool : part.engine_keys + in_engine;
    std::byte* value_to = kImports ? part.values + in_pool : part.engine_values + in_engine;
    const std::uint32_t key_x_to = sk::Index(x_at);
    const std::uint32_t value_x_to = sk::Index(x_at);
    sk::Store16(key_to + key_x_to * 16, key_x);
    sk::Store16(value_to + value_x_to * 16, value_x);
    if (!has_partner) continue;
    const std::uint32_t key_y_to = sk::Index(y_at);
    const std::uint32_t value_y_to = sk::Index(y_at);
    sk::Store16(key_to + key_y_to * 16, key_y);
    sk::Store16(value_to + value_y_to * 16, value_y);
  }
}

template <class Element, bool kImports>
SK_KERNEL void ExchangePieces(ExchangeParams params) {
  const std::uint32_t block_items = params.engine.layer_count * params.blocks.kv_heads;
  const std::uint64_t items = std::uint64_t{*params.count} * block_items;
  for (std::uint64_t item = sk::BlockIndexX(); item < items; item += sk::BlockCountX()) {
    Part part;
    if (FindPart(params, item, part)) MovePieces<Element, kImports>(params, part);
  }
}

bool IsAligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

bool IsInPieces(const ExchangeParams& params) {
  const EngineStrides& strides = params.engine.strides;
  return params.rotary_dim % 16 == 0 && params.engine.is_aligned && IsAligned(params.table) &&
         strides.block % 16 == 0 && strides.token % 16 == 0 && strides.head % 16 == 0;
}

template <bool kImports>
rt::Status Exchange(rt::Stream& stream, const ExchangeParams& params, bool is_simple) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.element == ElementType::kF16;
  const rt::LaunchConfig config{.blocks_x = params.grid, .threads = kThreads};
  if (is_simple || !IsInPieces(params)) {
    return rt::Launch(stream, config,
                      is_f16 ? ExchangePairs<F16, kImports> : ExchangePairs<Bf16, kImports>,
                      params);
  }
  return rt::Launch(stream, config,
                    is_f16 ? ExchangePieces<F16, kImports> : ExchangePieces<Bf16, kImports>,
                    params);
}

std::string Wrong(const char* field, std::uint64_t value, const char* wanted) {
  return std::string("exchange: ") + field + " is " + std::to_string(value) + ", not " + wanted;
}

std::string ValidateEngine(const ExchangeParams& params) {
  const EngineCache& engine = params.engine;
  if (engine.layer_count == 0 || engine.layer_count > params.blocks.layers) {
    return Wrong("layer_count", engine.layer_count, "within 1 to the pool's layers");
  }
  if (engine.first_layer > params.blocks.layers - engine.layer_count) {
    return Wrong("first_layer", engine.first_layer, "one with layer_count of the pool's behind it");
  }
  if (engine.block_tokens == 0) return Wrong("the engine's block_tokens", 0, "1 or more");
  const EngineStrides& strides = engine.strides;
  const std::uint64_t token_bytes = std::uint64_t{params.blocks.head_dim} * 2;
  for (const std::uint64_t stride : {strides.block, strides.token, strides.head}) {
    if (stride % 2 != 0 || stride < token_bytes) {
      return Wrong("a stride", stride, "even and at least a head's values of a token");
    }
  }
  if (engine.keys == nullptr || engine.values == nullptr) {
    return "exchange: the engine's keys or values are null";
  }
  return "";
}

std::string ValidateRotation(const ExchangeParams& params) {
  if (params.rotary_dim % 2 != 0 || params.rotary_dim > params.blocks.head_dim) {
    return Wrong("rotary_dim", params.rotary_dim, "even and at most head_dim");
  }
  if (params.rotary_dim == 0) return "";
  if (params.positions < kTileTokens) return Wrong("positions", params.positions, "64 or more");
  if (params.table == nullptr || reinterpret_cast<std::uintptr_t>(params.table) % 8 != 0) {
    return "exchange: the table is null or not 8-byte aligned";
  }
  return "";
}

}  // namespace

std::string Validate(const ExchangeParams& params) {
  const KvBlocks& blocks = params.blocks;
  if (blocks.head_dim == 0 || blocks.head_dim % 8 != 0 || blocks.head_dim > 256) {
    return Wrong("head_dim", blocks.head_dim, "a multiple of 8 up to 256");
  }
  if (blocks.block_tokens == 0 || blocks.block_tokens > kTileTokens) {
    return Wrong("block_tokens", blocks.block_tokens, "within 1 to 64");
  }
  if (blocks.kv_heads == 0 || blocks.kv_heads > 65535) {
    return Wrong("kv_heads", blocks.kv_heads, "within 1 to 65535");
  }
  if (blocks.layers == 0 || blocks.layers > 4096) {
    return Wrong("layers", blocks.layers, "within 1 to 4096");
  }
  const std::uint64_t bytes = std::uint64_t{blocks.layers} * 2 * blocks.kv_heads *
                              blocks.block_tokens * blocks.head_dim * 2;
  if (blocks.block_bytes % 16 != 0 || blocks.block_bytes < bytes) {
    return Wrong("block_bytes", blocks.block_bytes, "a multiple of 16 that holds all layers");
  }
  if (blocks.pool == nullptr || !IsAligned(blocks.pool)) {
    return "exchange: the pool is null or not 16-byte aligned";
  }
  if (std::string wrong = ValidateEngine(params); !wrong.empty()) return wrong;
  if (std::string wrong = ValidateRotation(params); !wrong.empty()) return wrong;
  if (params.list == nullptr || params.engine_tokens == nullptr || params.count == nullptr ||
      params.refused == nullptr) {
    return "exchange: a pointer is null";
  }
  if (params.grid == 0) return "exchange: a grid of 0 blocks";
  return "";
}

rt::Status ImportBlocks(rt::Stream& stream, const ExchangeParams& params) {
  return Exchange<true>(stream, params, false);
}
rt::Status ExportBlocks(rt::Stream& stream, const ExchangeParams& params) {
  return Exchange<false>(stream, params, false);
}
rt::Status ImportBlocksSimply(rt::Stream& stream, const ExchangeParams& params) {
  return Exchange<true>(stream, params, true);
}
rt::Status ExportBlocksSimply(rt::Stream& stream, const ExchangeParams& params) {
  return Exchange<false>(stream, params, true);
}

}  // namespace cairn::kernels
