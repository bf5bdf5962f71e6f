#ifndef CAIRN_KERNELS_TEST_ATTENTION_WORLD_H_
#define CAIRN_KERNELS_TEST_ATTENTION_WORLD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/attention/attend.h"
#include "kernels/attention/decode.h"
#include "kernels/attention/prefill.h"
#include "kernels/attention/prefill_wgmma.h"
#include "kernels/sk/emu/random.h"

// Requests over one pool, for tests of attention: random K, V and queries, poison in all that
// nobody owns, the answers in double, and each kernel run over them on an emulated device.

namespace cairn::test {

struct AttentionShape {
  std::uint32_t head_dim = 64, rotary_dim = 64, block_tokens = 16, kv_heads = 1, q_heads = 1;
  kernels::RotaryPairs pairs = kernels::RotaryPairs::kHalfSplit;
  kernels::ElementType element = kernels::ElementType::kBf16;
};

// World holds a plan and the bytes that it is about.
//
// Poison (0xffff, NaN) is: every slot of the pool that holds no token of a segment, also behind a
// segment's end in its last block; other layers; rows of the table for positions that no tile and
// no query has; slots of the plan beyond those that a tile needs; the scratch.
class World {
 public:
  static constexpr std::uint32_t kPositions = 2048, kSlots = 48, kLayers = 2, kLayer = 1;

  World(const AttentionShape& shape, std::uint64_t seed);

  // Appends the tiles of a segment of `tokens` tokens whose first has `position`; K and V are new.
  // Its blocks lie anywhere. Returns the index of its first tile.
  std::uint32_t AddSegment(std::uint32_t tokens, std::uint32_t position);
  // Appends tiles first to first + count - 1 once more, as they are seen from another origin.
  std::uint32_t AddView(std::uint32_t first, std::uint32_t count, std::uint32_t position);
  // Appends a row with a random query. A query token that is the last of what it sees.
  void AddRow(const kernels::AttendRow& row);
  // Rows for tokens begin to end - 1 of a list of tiles that starts with `first`, token 0 being the
  // list's first; `position` is that of `begin`.
  void AddRows(std::uint32_t first, std::uint32_t begin, std::uint32_t end, std::uint32_t position);

  // The world while only the first `rows` rows were asked for, the list's tokens behind the last of
  // them not yet being written. The rows see one list, all there is, each a token more.
  World UpTo(std::size_t rows) const;
  // The world without the rows before `row`.
  World From(std::size_t row) const;

  std::size_t block_values() const {
    return std::size_t{2} * kLayers * shape.kv_heads * shape.block_tokens * shape.head_dim;
  }
  std::size_t row_values() const { return std::size_t{shape.q_heads} * shape.head_dim; }
  // Index in `pool` of a token's K or V.
  std::size_t At(std::uint32_t tile, std::uint32_t token, bool is_v, std::uint32_t head) const;

  // The output of one row's head in double: keys and query turned in double and rounded once.
  std::vector<double> Expected(const kernels::AttendRow& row, std::size_t q_at, std::uint32_t head,
                               double scale) const;
  // Of all rows, in order.
  std::vector<double> ExpectedAll(double scale) const;
  // How far a kernel whose weights are rounded may be off.
  double bound() const;

  AttentionShape shape;
  std::vector<kernels::RotateTile> tiles;
  std::vector<kernels::AttendRow> rows;
  std::vector<std::uint16_t> pool, q;

 private:
  std::vector<double> Widened(const std::uint16_t* bits) const;
  std::vector<double> Turned(const std::uint16_t* bits, std::uint32_t position) const;
  std::uint16_t RandomBits();

  sk::emu::Random random_;
  std::uint32_t next_slot_ = 0;
};

// The kernels of AttendRows, AttendDecode and AttendPrefill; or the first rows by AttendDecode from
// the pool, the others by AttendPrefill; or those of AttendPrefillWgmma.
enum class Way { kSimple, kDecodeFromPool, kDecodeFromScratch, kPrefill, kMixed, kPrefillWgmma };

struct RunOptions {
  std::uint64_t seed = 1;
  float scale = 0.125f;
  std::uint32_t blocks = 3;                // of AttendDecode's grid
  std::uint32_t decoding_rows = 0;         // of kMixed
  std::optional<std::uint32_t> items_max;  // of AttendDecode; else more than there are
  std::optional<std::vector<kernels::QueryTile>> query_tiles;  // else PlanQueryTiles's
};
// The output of all rows; what a launcher said, or memory around the output changed: a failure.
std::vector<float> RunAttention(const World& world, Way way, const RunOptions& options);
// Whether a way has kernels for a shape.
bool IsPossible(const AttentionShape& shape, Way way);
// The keys that RotateKeys leaves in the scratch, [tile][kv_head][64][head_dim].
std::vector<std::uint16_t> RunRotateKeys(const World& world, std::uint64_t seed);
// ... and what SwizzleTiles leaves in its own, the order of swizzle_tiles.h; room for a tile more.
std::vector<std::uint16_t> RunSwizzleTiles(const World& world, std::uint64_t seed, bool is_simple);

// A world of several requests: a list of two segments, one of spans and the prompt that they are
// used in, one of five tiles (two splits), a row that sees nothing. Deals out few tokens.
World MakeWorld(const AttentionShape& shape, std::uint64_t seed);

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_ATTENTION_WORLD_H_
