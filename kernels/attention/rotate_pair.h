#ifndef CAIRN_KERNELS_ATTENTION_ROTATE_PAIR_H_
#define CAIRN_KERNELS_ATTENTION_ROTATE_PAIR_H_

#include "kernels/sk/sk.h"

namespace cairn::kernels {

struct alignas(8) Turn {  // as the table has it
  float cosine, sine;
};

// The one rotation of a pair that every kernel uses, so that bits are equal wherever a key is
// turned: two products rounded once each, then two fused ones.
SK_DEVICE void RotatePair(float& x, float& y, Turn turn) {
  const float turned_x = sk::Fma(x, turn.cosine, -(y * turn.sine));
  const float turned_y = sk::Fma(y, turn.cosine, x * turn.sine);
  x = turned_x;
  y = turned_y;
}

// Turns of neighbouring pairs, of which the first has an even number.
struct alignas(16) TwoTurns {
  Turn low, high;
};

// Words (two elements) of keys turn twice and are rounded once: by the slot's turn and the tile's.
// The two elements of a word are a pair ...
template <class Element>
SK_DEVICE void RotateAdjacent(std::uint32_t& word, Turn of_slot, Turn of_tile) {
  float x = Element::Low(word), y = Element::High(word);
  RotatePair(x, y, of_slot);
  RotatePair(x, y, of_tile);
  word = Element::Pack(x, y);
}
// ... or each is one with its neighbour in the other word.
template <class Element>
SK_DEVICE void RotateHalves(std::uint32_t& x_word, std::uint32_t& y_word, TwoTurns of_slot,
                            TwoTurns of_tile) {
  float x0 = Element::Low(x_word), x1 = Element::High(x_word);
  float y0 = Element::Low(y_word), y1 = Element::High(y_word);
  RotatePair(x0, y0, of_slot.low);
  RotatePair(x1, y1, of_slot.high);
  RotatePair(x0, y0, of_tile.low);
  RotatePair(x1, y1, of_tile.high);
  x_word = Element::Pack(x0, x1);
  y_word = Element::Pack(y0, y1);
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ROTATE_PAIR_H_
