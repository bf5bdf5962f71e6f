// What attention's bits must not depend on (engine.md, "Exactness").
#include <algorithm>
#include <cmath>

#include "tests/unit/kernels_host/attention_world.h"

namespace cairn::host {
namespace {

class AttentionBitsTest : public TierTest {
 protected:
  void SetUp() override {
    TierTest::SetUp();
    if (IsSkipped()) return;
    world_ = std::make_unique<AttentionWorld>(*ops_, WorldOptions{});
    expected_ = world_->Prefill({});
  }
  std::unique_ptr<AttentionWorld> world_;
  std::vector<float> expected_;
};

TEST_P(AttentionBitsTest, TheCutOfAChunkedPrefill) {
  for (std::uint32_t cut = 1; cut < world_->options.own_tokens; ++cut) {
    ASSERT_TRUE(SameBits(world_->Prefill({cut}), expected_)) << "cut at " << cut;
  }
  EXPECT_TRUE(SameBits(world_->Prefill({1, 2, 7, 63, 64, 65, 100, 149}), expected_));
}

TEST_P(AttentionBitsTest, DecodeRowByRow) {
  std::vector<std::uint32_t> cuts;
  for (std::uint32_t row = 1; row < world_->options.own_tokens; ++row) cuts.push_back(row);
  EXPECT_TRUE(SameBits(world_->Prefill(cuts), expected_));
}

TEST_P(AttentionBitsTest, RangesOfRowsAndTheOrderOfWork) {
  const std::uint32_t rows = world_->options.own_tokens;
  for (const std::uint32_t step : {1u, 5u, 64u, 100u}) {
    SegmentBlocks own = world_->OwnBlocks();
    world_->StoreOwn(own, 0, rows);
    std::vector<float> out(expected_.size(), NAN);
    std::vector<std::byte> scratch = world_->Scratch();
    const AttentionCall call = world_->Call(own, 0, rows, out.data());
    for (std::uint32_t begin = (rows - 1) / step * step;; begin -= step) {  // last range first
      for (std::uint32_t h = world_->options.kv_heads; h-- > 0;) {
        ops_->attend(call, h, begin, std::min(begin + step, rows), scratch.data());
      }
      if (begin == 0) break;
    }
    ASSERT_TRUE(SameBits(out, expected_)) << "step " << step;
  }
}

TEST_P(AttentionBitsTest, SplitsDoneApartAndThenFolded) {
  for (const std::uint32_t rows : {1u, 2u, 50u}) {
    const std::uint32_t first = world_->options.own_tokens - rows;
    SegmentBlocks own = world_->OwnBlocks();
    world_->StoreOwn(own, 0, world_->options.own_tokens);
    std::vector<float> out(expected_);
    std::fill(out.begin() + first * world_->QWidth(), out.end(), NAN);
    std::vector<std::byte> scratch = world_->Scratch();
    const AttentionCall call = world_->Call(own, first, rows, out.data());
    ASSERT_EQ(SplitCount(call), 3u);  // tiles: 2 + 0 + 1 + 1 + 3 + 1 + 3 own
    std::vector<float> partials(PartialsFloats(call), NAN);
    for (std::uint32_t h = 0; h < world_->options.kv_heads; ++h) {
      for (const std::size_t split : {2u, 0u, 1u}) {
        ops_->attend_splits(call, h, split, split + 1, scratch.data(), partials.data());
      }
      ops_->fold_splits(call, h, partials.data());
    }
    EXPECT_TRUE(SameBits(out, expected_)) << rows;
  }
}

TEST_P(AttentionBitsTest, BlockSizeAndPlaces) {
  for (const std::uint32_t block_tokens : {32u, 64u}) {
    WorldOptions options;
    options.block_tokens = block_tokens;
    EXPECT_TRUE(SameBits(AttentionWorld(*ops_, options).Prefill({40, 41}), expected_))
        << block_tokens;
  }
}

TEST_P(AttentionBitsTest, EmptyAttendedSegments) {
  WorldOptions options;
  options.before = {70, 10, 64, 130, 3};  // the same without the empty one
  AttentionWorld world(*ops_, options);
  // Same random numbers: the world draws them by segment, so copy them over.
  for (std::size_t i = 0, from = 0; i < world.before.size(); ++i, ++from) {
    if (from == 1) ++from;
    world.segments[i] = world_->segments[from];
    world.before[i] = world_->before[from];
  }
  world.k.back() = world_->k.back(), world.v.back() = world_->v.back(), world.q = world_->q;
  EXPECT_TRUE(SameBits(world.Prefill({}), expected_));
}

// Later tokens of the own segment are masked: whatever they hold, NaN and infinity included,
// earlier rows keep their bits. (A tile or split of masked slots is an exact no-op.)
TEST_P(AttentionBitsTest, WhatLaterTokensHold) {
  const std::uint32_t rows = 70;
  const std::size_t width = world_->options.kv_heads * world_->options.head_dim;
  const std::vector<float> poison(width, NAN), infinite(width, INFINITY);
  SegmentBlocks own = world_->OwnBlocks();
  world_->StoreOwn(own, 0, rows);
  for (std::uint32_t t = rows; t < world_->options.own_tokens; ++t) {
    own.Store(1, t, (t % 2 != 0 ? poison : infinite).data(),
              (t % 3 != 0 ? poison : infinite).data());
  }
  std::vector<float> out(expected_.size(), NAN);
  std::vector<std::byte> scratch = world_->Scratch();
  const AttentionCall call = world_->Call(own, 0, world_->options.own_tokens, out.data());
  for (std::uint32_t h = 0; h < world_->options.kv_heads; ++h) {
    ops_->attend(call, h, 0, call.rows, scratch.data());
  }
  const auto end = static_cast<std::ptrdiff_t>(rows * world_->QWidth());
  EXPECT_TRUE(
      SameBits({out.begin(), out.begin() + end}, {expected_.begin(), expected_.begin() + end}));
  EXPECT_TRUE(std::isnan(out[rows * world_->QWidth()]));  // the row that sees them does
}

// AttentionWorld fills what no token wrote with NaN. The stored form has zeros there: the same
// bits.
TEST_P(AttentionBitsTest, WhatEmptySlotsHold) {
  SegmentBlocks& ragged = world_->segments[0];  // 70 tokens: 10 empty slots in block 4
  for (std::uint32_t part = 0; part < 2; ++part) {
    for (std::uint32_t h = 0; h < world_->options.kv_heads; ++h) {
      std::byte* slots = ragged.block(4) + KvHeadOffset(world_->shape, 1, part, h);
      std::memset(slots + 6 * world_->options.head_dim * 2, 0, 10 * world_->options.head_dim * 2);
    }
  }
  EXPECT_TRUE(SameBits(world_->Prefill({}), expected_));
}

// A span's queries count from its own first token and see it only: what stands before the span in a
// prompt is no part of the call. Its rows may come in one chunk with others' rows around them in q.
TEST_P(AttentionBitsTest, TheOffsetOfASpan) {
  WorldOptions options;
  options.before = {};
  options.own_tokens = 90;
  const AttentionWorld alone(*ops_, options);
  const auto expected = alone.Prefill({});
  const std::size_t width = alone.QWidth(), offset = 37;
  std::vector<float> q((90 + offset) * width, NAN), out(q.size(), NAN);
  std::copy(alone.q.begin(), alone.q.end(), q.begin() + offset * width);
  SegmentBlocks own = alone.OwnBlocks();
  alone.StoreOwn(own, 0, 90);
  std::vector<std::byte> scratch = alone.Scratch();
  AttentionCall call = alone.Call(own, 0, 90, out.data());
  call.q = q.data() + offset * width, call.out = out.data() + offset * width;
  for (std::uint32_t h = 0; h < options.kv_heads; ++h) ops_->attend(call, h, 0, 90, scratch.data());
  EXPECT_TRUE(SameBits({out.begin() + offset * width, out.end()}, expected));
}

// The tests above must be able to fail.
TEST_P(AttentionBitsTest, DependOnPositionsAndTileLists) {
  AttentionWorld moved(*ops_, WorldOptions{});
  moved.before[0].position = 1;
  EXPECT_FALSE(SameBits(moved.Prefill({}), expected_));
  AttentionWorld fewer(*ops_, WorldOptions{});
  fewer.before.erase(fewer.before.begin());
  EXPECT_FALSE(SameBits(fewer.Prefill({}), expected_));
}

// The program of one row and head, written out from engine.md one float at a time.
class OneRow {
 public:
  OneRow(const AttentionWorld& world, bool fused, std::uint32_t row, std::uint32_t head)
      : w_(world),
        fused_(fused),
        row_(row),
        head_(head),
        kv_head_(head / (w_.options.q_heads / w_.options.kv_heads)),
        o_(w_.options.head_dim) {}

  std::vector<float> Run() {
    const std::uint32_t dim = w_.options.head_dim;
    std::vector<float> q(dim);
    w_.ops->rotate(w_.table.view(), w_.own_position + row_, &w_.q[row_ * w_.QWidth() + head_ * dim],
                   dim, q.data());
    std::vector<std::vector<float>> scores;  // by tile; a short tile has fewer
    std::vector<std::pair<std::size_t, std::uint32_t>> tiles;
    for (std::size_t s = 0; s <= w_.before.size(); ++s) {
      const std::uint32_t tokens = s == w_.before.size() ? row_ + 1 : w_.before[s].tokens;
      for (std::uint32_t first = 0; first < tokens; first += 64) {
        tiles.emplace_back(s, first);
        scores.push_back(Scores(q, s, first, std::min(tokens - first, 64u)));
      }
    }
    for (std::size_t split = 0; split < tiles.size(); split += 4) {
      const std::size_t end = std::min(split + 4, tiles.size());
      Split({scores.begin() + split, scores.begin() + end},
            {tiles.begin() + split, tiles.begin() + end});
    }
    for (float& x : o_) x = x / sum_;
    return o_;
  }

 private:
  float Step(float a, float b, float c) const { return fused_ ? std::fma(a, b, c) : a * b + c; }
  float Exp(float x) const {
    w_.ops->exp(&x, &x, 1);
    return x;
  }
  std::vector<float> Stored(const std::vector<float>& all, std::uint32_t token) const {
    const std::uint32_t dim = w_.options.head_dim;
    const auto from = all.begin() + (token * w_.options.kv_heads + kv_head_) * dim;
    std::vector<float> row(from, from + dim);
    for (float& x : row) x = RoundedToBf16(x);
    return row;
  }
  std::vector<float> Scores(const std::vector<float>& q, std::size_t s, std::uint32_t first,
                            std::uint32_t count) {
    std::vector<float> scores;
    const std::uint32_t position = s == w_.before.size() ? w_.own_position : w_.before[s].position;
    for (std::uint32_t t = first; t < first + count; ++t) {
      std::vector<float> k = Stored(w_.k[s], t);
      w_.ops->rotate(w_.table.view(), position + t, k.data(), w_.options.head_dim, k.data());
      float score = 0;
      for (std::size_t d = 0; d < k.size(); ++d) score = Step(q[d], k[d], score);
      scores.push_back(score * (1.0f / std::sqrt(static_cast<float>(k.size()))));
    }
    return scores;
  }
  void Split(const std::vector<std::vector<float>>& scores,
             const std::vector<std::pair<std::size_t, std::uint32_t>>& tiles) {
    float most = -INFINITY;
    for (const auto& tile : scores) {
      for (const float x : tile) most = std::max(most, x);
    }
    float lanes[8] = {};
    std::vector<float> o(o_.size());
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      for (std::size_t i = 0; i < scores[t].size(); ++i) {
        const float p = Exp(scores[t][i] - most);
        lanes[i % 8] += p;
        const std::vector<float> v =
            Stored(w_.v[tiles[t].first], tiles[t].second + static_cast<std::uint32_t>(i));
        for (std::size_t d = 0; d < o.size(); ++d) o[d] = Step(p, v[d], o[d]);
      }
    }
    const float sum = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                      ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    Fold(most, sum, o);
  }
  void Fold(float most, float sum, const std::vector<float>& o) {
    if (most_ == -INFINITY) {
      most_ = most, sum_ = sum, o_ = o;
      return;
    }
    const float both = std::max(most, most_), keep = Exp(most_ - both), take = Exp(most - both);
    most_ = both;
    sum_ = Step(sum, take, sum_ * keep);
    for (std::size_t d = 0; d < o.size(); ++d) o_[d] = Step(o[d], take, o_[d] * keep);
  }

  const AttentionWorld& w_;
  const bool fused_;
  const std::uint32_t row_, head_, kv_head_;
  float most_ = -INFINITY, sum_ = 0;
  std::vector<float> o_;
};

TEST_P(AttentionBitsTest, AreThoseOfTheDefinition) {
  const std::uint32_t dim = world_->options.head_dim;
  for (const std::uint32_t row : {0u, 1u, 62u, 63u, 64u, 100u, 128u, 149u}) {
    for (std::uint32_t head = 0; head < world_->options.q_heads; ++head) {
      const auto from =
          expected_.begin() + static_cast<std::ptrdiff_t>(row * world_->QWidth() + head * dim);
      ASSERT_TRUE(SameBits(OneRow(*world_, fused(), row, head).Run(), {from, from + dim}))
          << row << " " << head;
    }
  }
}

CAIRN_FOR_EVERY_TIER(AttentionBitsTest);

}  // namespace
}  // namespace cairn::host
