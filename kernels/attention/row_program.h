#ifndef CAIRN_KERNELS_ATTENTION_ROW_PROGRAM_H_
#define CAIRN_KERNELS_ATTENTION_ROW_PROGRAM_H_

#include "kernels/attention/element.h"
#include "kernels/sk/sk.h"

// The program of one row (a query token's head), which decode and prefill share so that a row gets
// the same bits in both (engine.md, Exactness):
//   split: four tiles of the row's list. Starts with nothing.
//     tile: 64 scores, each a chain of m16n8k16 products over ascending dims from zero; the running
//       maximum of score * factor; weights 2^(score * factor - maximum), rounded to the element;
//       what there was times 2^(old - new maximum); then the weighted values, a chain of products
//       over ascending tokens onto that.
//   Splits are folded in order, and the end is divided by the sum.
// A masked token's score is -inf, so that it weighs 0 exactly, and a tile or split of which nothing
// is visible changes nothing: what there was is multiplied by 1, and zeros are added. (That may
// turn -0 into 0: so does EndOutput, for all.)
//
// In a warp a row is spread over the four lanes of a quad, as the products' fragments have it: lane
// t holds tokens 8n + 2t and 8n + 2t + 1 of a tile, and those dims of the output.

namespace cairn::kernels {

inline constexpr float kLog2E = 1.44269504088896340736f;
inline constexpr float kNothing = -3.0e38f;  // the maximum of no scores; -inf - -inf would be NaN
inline constexpr float kMasked = -__builtin_inff();

struct RowSoftmax {
  float most = kNothing;
  float sum = 0;  // of this lane's tokens, until SumOfQuad
};

// How a row's earlier and new parts are weighed against each other.
struct RowShares {
  float keep, add;
};

// One tile of a row: this lane's 16 scores [n][2] become its weights (not rounded yet), masked from
// `visible` on. `factor` is positive. Returns by what the output so far is to be multiplied. The
// quads of the lanes that call are whole.
SK_DEVICE float WeighScores(RowSoftmax& row, float (&scores)[16], float factor,
                            std::uint32_t visible) {
  if (visible < 64) {
    const std::uint32_t first = sk::LaneIndex() % 4 * 2;
    SK_UNROLL
    for (std::uint32_t i = 0; i < 16; ++i) {
      if (i / 2 * 8 + first + i % 2 >= visible) scores[i] = kMasked;
    }
  }
  float most = scores[0];
  SK_UNROLL
  for (std::uint32_t i = 1; i < 16; ++i) most = sk::Max(most, scores[i]);
  SK_UNROLL
  for (std::uint32_t step = 1; step <= 2; step *= 2) {
    const float other = sk::ShuffleXor(most, step);
    most = sk::Max(most, other);
  }
  most = sk::Max(row.most, most * factor);
  float sum = 0;
  SK_UNROLL
  for (std::uint32_t i = 0; i < 16; ++i) {
    scores[i] = sk::Ex2(sk::Fma(scores[i], factor, -most));
    sum += scores[i];
  }
  const float keep = sk::Ex2(row.most - most);
  row.sum = sk::Fma(row.sum, keep, sum);
  row.most = most;
  return keep;
}
template <class Element>
SK_DEVICE void RoundWeights(const float (&weights)[16], std::uint32_t (&rounded)[8]) {
  SK_UNROLL
  for (std::uint32_t n = 0; n < 8; ++n) {
    rounded[n] = Element::Pack(weights[2 * n], weights[2 * n + 1]);
  }
}
template <class Element>
SK_DEVICE float WeighTile(RowSoftmax& row, float (&scores)[16], float factor, std::uint32_t visible,
                          std::uint32_t (&weights)[8]) {
  const float keep = WeighScores(row, scores, factor, visible);
  RoundWeights<Element>(scores, weights);
  return keep;
}

// The whole row's sum, in all of its lanes: (t0 + t1) + (t2 + t3).
SK_DEVICE float SumOfQuad(float sum) {
  SK_UNROLL
  for (std::uint32_t step = 1; step <= 2; step *= 2) sum += sk::ShuffleXor(sum, step);
  return sum;
}

// Adds a split (its sum that of the whole row) to those before it; the output likewise, by
// FoldOutput.
SK_DEVICE RowShares FoldSplit(RowSoftmax& total, const RowSoftmax& split) {
  const float most = sk::Max(total.most, split.most);
  const RowShares shares = {sk::Ex2(total.most - most), sk::Ex2(split.most - most)};
  total.sum = sk::Fma(total.sum, shares.keep, split.sum * shares.add);
  total.most = most;
  return shares;
}
SK_DEVICE float FoldOutput(float total, float split, RowShares shares) {
  return sk::Fma(total, shares.keep, split * shares.add);
}

// By what the output is to be multiplied; nothing visible at all is zero.
SK_DEVICE float RowScale(const RowSoftmax& total) {
  return total.sum == 0 ? 0.0f : 1.0f / total.sum;
}
// + 0.0f turns -0 into 0.
SK_DEVICE float EndOutput(float total, float scale) { return sk::Fma(total, scale, 0.0f); }

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ROW_PROGRAM_H_
