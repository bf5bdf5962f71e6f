#ifndef CAIRN_KERNELS_ATTENTION_KEY_TURNS_H_
#define CAIRN_KERNELS_ATTENTION_KEY_TURNS_H_

#include "kernels/attention/element.h"
#include "kernels/attention/rotate.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

// Rotation of keys on their way from shared memory into a product: k' = round(R_p0 (R_l k)), bit
// for bit what RotateKeys writes to the scratch.
//
// A warp has tokens 16w to 16w + 15 of every tile, so that R_l of what a lane holds of them is the
// same in every tile: it is loaded once and stays in registers (rotary_dim / 2 of them). R_p0 comes
// from shared memory, a row of the table for the tile.
//
// Of a fragment, register r holds token g (r / 2 = 0) or g + 8 and dims 16 step + 8 (r % 2) + 2t
// and the next, with g = lane / 4, t = lane % 4. Adjacent pairs lie in one register; the two of a
// half-split pair lie in the same place of fragments that are rotary_dim / 32 steps apart.

namespace cairn::kernels {

// Keys that are rotated already.
struct NoTurns {
  static constexpr bool kIsTurned = true;
  struct Held {};
  SK_DEVICE void Load(const RotateParams&) {}
  template <class Element, class LoadKey>
  SK_DEVICE void LoadTurned(std::uint32_t step, const Turn*, Held&, std::uint32_t (&key)[4],
                            LoadKey load) const {
    load(step, key);
  }
};

template <std::uint32_t kRotary, RotaryPairs kPairs>
class KeyTurns {
 public:
  static constexpr bool kIsTurned = false;
  static constexpr bool kIsAdjacent = kPairs == RotaryPairs::kAdjacent;
  static constexpr std::uint32_t kHalf = kRotary / 32;  // steps
  static_assert(kRotary % 32 == 0 && kRotary > 0);

  // The turned second halves of pairs, until their step comes.
  struct Held {
    std::uint32_t keys[kHalf][4];
  };

  // Once, by all lanes.
  SK_DEVICE void Load(const RotateParams& params) {
    const std::uint32_t lane = sk::LaneIndex();
    const auto* table = reinterpret_cast<const Turn*>(params.table);
    SK_UNROLL
    for (std::uint32_t i = 0; i < kRotary / 4; ++i) {
      const std::uint32_t r = kIsAdjacent ? i % 4 : i / 2 % 4;
      const std::uint32_t token = sk::WarpIndex() * 16 + r / 2 * 8 + lane / 4;
      own_[i] = table[sk::Index(token * (kRotary / 2) + PairOf(i))];
    }
  }

  // The fragment of `step`, which load(step, key) fetches as it was. Steps come in order.
  template <class Element, class LoadKey>
  SK_DEVICE void LoadTurned(std::uint32_t step, const Turn* tile, Held& held,
                            std::uint32_t (&key)[4], LoadKey load) const {
    if (!kIsAdjacent && step >= kHalf && step < 2 * kHalf) {
      SK_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) key[r] = held.keys[step - kHalf][r];
      return;
    }
    load(step, key);
    if (step >= kRotary / 16) return;
    if constexpr (kIsAdjacent) {
      SK_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        const std::uint32_t i = step * 4 + r;
        const Turn of_tile = tile[sk::Index(PairOf(i))];
        RotateAdjacent<Element>(key[r], own_[i], of_tile);
      }
    } else {
      std::uint32_t(&partner)[4] = held.keys[step];
      load(step + kHalf, partner);
      const auto* two_turns = reinterpret_cast<const TwoTurns*>(tile);
      SK_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        const std::uint32_t i = step * 8 + r * 2;
        const TwoTurns of_tile = two_turns[sk::Index(PairOf(i) / 2)];
        RotateHalves<Element>(key[r], partner[r], {own_[i], own_[i + 1]}, of_tile);
      }
    }
  }

 private:
  // The pair that own_[i] turns: i = [step][r] of adjacent pairs, [step][r][low or high] otherwise.
  SK_DEVICE static std::uint32_t PairOf(std::uint32_t i) {
    const std::uint32_t t = sk::LaneIndex() % 4;
    if constexpr (kIsAdjacent) return i / 4 * 8 + i % 2 * 4 + t;
    return i / 8 * 16 + i / 2 % 2 * 8 + t * 2 + i % 2;
  }

  Turn own_[kRotary / 4];
};

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_KEY_TURNS_H_
