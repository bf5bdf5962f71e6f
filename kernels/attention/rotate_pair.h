#ifndef CAIRN_KERNELS_ATTENTION_ROTATE_PAIR_H_
#define CAIRN_KERNELS_ATTENTION_ROTATE_PAIR_H_

#include "kernels/sk/sk.h"

namespace cairn::kernels {

struct Turn {
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

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ROTATE_PAIR_H_
