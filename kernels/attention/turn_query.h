#ifndef CAIRN_KERNELS_ATTENTION_TURN_QUERY_H_
#define CAIRN_KERNELS_ATTENTION_TURN_QUERY_H_

#include "kernels/attention/rotate.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

// q' = round(R_t q), two dims (a word) at a time: the only rotation of a query, and its rounding.

namespace cairn::kernels {

// The units that a row's words are dealt out in: pairs of words that turn together, single words.
SK_DEVICE std::uint32_t QueryUnits(const RotateParams& keys) {
  const bool is_adjacent = keys.pairs == RotaryPairs::kAdjacent;
  return keys.head_dim / 2 - (is_adjacent ? 0 : keys.rotary_dim / 4);
}

// Turns unit `unit` of the row `q` by `turns`, the table's row of the query's position, and calls
// put(word, bits) for each of its words. rotary_dim is a multiple of 4.
template <class Element, class Put>
SK_DEVICE void TurnQueryUnit(const RotateParams& keys, const std::uint32_t* q, const Turn* turns,
                             std::uint32_t unit, Put put) {
  const bool is_adjacent = keys.pairs == RotaryPairs::kAdjacent;
  const std::uint32_t turned_units = keys.rotary_dim / (is_adjacent ? 2 : 4);
  if (unit >= turned_units) {
    const std::uint32_t word = unit + (is_adjacent ? 0 : turned_units);
    return put(word, q[sk::Index(word)]);
  }
  const std::uint32_t x_bits = q[sk::Index(unit)];
  float x0 = Element::Low(x_bits), x1 = Element::High(x_bits);
  if (is_adjacent) {
    RotatePair(x0, x1, turns[sk::Index(unit)]);
    return put(unit, Element::Pack(x0, x1));
  }
  const std::uint32_t y_word = unit + turned_units;
  const std::uint32_t y_bits = q[sk::Index(y_word)];
  float y0 = Element::Low(y_bits), y1 = Element::High(y_bits);
  RotatePair(x0, y0, turns[sk::Index(2 * unit)]);
  RotatePair(x1, y1, turns[sk::Index(2 * unit + 1)]);
  put(unit, Element::Pack(x0, x1));
  put(y_word, Element::Pack(y0, y1));
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_TURN_QUERY_H_
