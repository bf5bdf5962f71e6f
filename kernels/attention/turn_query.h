#ifndef CAIRN_KERNELS_ATTENTION_TURN_QUERY_H_
#define CAIRN_KERNELS_ATTENTION_TURN_QUERY_H_

#include "kernels/attention/attend.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

// q' = round(R_t q), two dims (a word) at a time: the only rotation of a query, and its rounding.

namespace cairn::kernels {

// The units that a row's words are dealt out in: pairs of words that turn together, single words.
SK_DEVICE std::uint32_t QueryUnits(const RotateParams& keys) {
  const bool is_adjacent = keys.pairs == RotaryPairs::kAdjacent;
  return keys.head_dim / 2 - (is_adjacent ? 0 : keys.rotary_dim / 4);
}

// A unit of the row `q` and its turns, from the table's row of the query's position.
struct QueryUnit {
  std::uint32_t x_bits = 0, y_bits = 0;
  Turn low = {}, high = {};
};
SK_DEVICE QueryUnit LoadQueryUnit(const RotateParams& keys, const std::uint32_t* q,
                                  const Turn* turns, std::uint32_t unit) {
  const bool is_adjacent = keys.pairs == RotaryPairs::kAdjacent;
  const std::uint32_t turned_units = keys.rotary_dim / (is_adjacent ? 2 : 4);
  QueryUnit loaded;
  if (unit >= turned_units) {
    loaded.x_bits = q[sk::Index(unit + (is_adjacent ? 0 : turned_units))];
    return loaded;
  }
  loaded.x_bits = q[sk::Index(unit)];
  if (is_adjacent) {
    loaded.low = turns[sk::Index(unit)];
    return loaded;
  }
  loaded.y_bits = q[sk::Index(unit + turned_units)];
  loaded.low = turns[sk::Index(2 * unit)];
  loaded.high = turns[sk::Index(2 * unit + 1)];
  return loaded;
}
// Turns it, and calls put(word, bits) for each of its words. rotary_dim is a multiple of 4.
template <class Element, class Put>
SK_DEVICE void PutQueryUnit(const RotateParams& keys, const QueryUnit& loaded, std::uint32_t unit,
                            Put put) {
  const bool is_adjacent = keys.pairs == RotaryPairs::kAdjacent;
  const std::uint32_t turned_units = keys.rotary_dim / (is_adjacent ? 2 : 4);
  if (unit >= turned_units) return put(unit + (is_adjacent ? 0 : turned_units), loaded.x_bits);
  float x0 = Element::Low(loaded.x_bits), x1 = Element::High(loaded.x_bits);
  if (is_adjacent) {
    RotatePair(x0, x1, loaded.low);
    return put(unit, Element::Pack(x0, x1));
  }
  float y0 = Element::Low(loaded.y_bits), y1 = Element::High(loaded.y_bits);
  RotatePair(x0, y0, loaded.low);
  RotatePair(x1, y1, loaded.high);
  put(unit, Element::Pack(x0, x1));
  put(unit + turned_units, Element::Pack(y0, y1));
}
template <class Element, class Put>
SK_DEVICE void TurnQueryUnit(const RotateParams& keys, const std::uint32_t* q, const Turn* turns,
                             std::uint32_t unit, Put put) {
  PutQueryUnit<Element>(keys, LoadQueryUnit(keys, q, turns, unit), unit, put);
}

// Which of the plan's rows a team of threads turns, and what thread of it this is.
struct QueryRows {
  std::uint32_t first_row, row_count;
  std::uint32_t q_head;
  std::uint32_t thread, threads;
};
// Each word of each row's q' goes to *place(row, word), row 0 being the first. A thread asks for
// kAtOnce units before it uses any: positions, then what they lead to, are two trips to L2.
template <class Element, std::uint32_t kAtOnce, class Place>
SK_DEVICE void TurnQueryRows(const AttendParams& params, const QueryRows& of, Place place) {
  const std::uint32_t units = QueryUnits(params.keys), pairs = params.keys.rotary_dim / 2;
  const std::uint32_t row_step = of.threads / units, unit_step = of.threads % units;
  std::uint32_t next_row = of.thread / units, next_unit = of.thread % units;
  while (next_row < of.row_count) {
    std::uint32_t rows[kAtOnce], unit[kAtOnce], positions[kAtOnce];
    QueryUnit loaded[kAtOnce];
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAtOnce; ++j) {
      rows[j] = next_row;
      unit[j] = next_unit;
      if (rows[j] < of.row_count)
        positions[j] = params.rows[sk::Index(of.first_row + rows[j])].position;
      next_unit += unit_step;
      next_row += row_step + (next_unit >= units ? 1 : 0);
      next_unit -= next_unit >= units ? units : 0;
    }
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAtOnce; ++j) {
      if (rows[j] >= of.row_count) continue;
      const std::uint64_t row = of.first_row + rows[j];
      const std::uint64_t at = sk::Index(row * params.q_heads + of.q_head);
      const auto* q =
          reinterpret_cast<const std::uint32_t*>(params.q) + at * (params.keys.head_dim / 2);
      const Turn* turns =
          reinterpret_cast<const Turn*>(params.keys.table) + std::uint64_t{positions[j]} * pairs;
      loaded[j] = LoadQueryUnit(params.keys, q, turns, unit[j]);
    }
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAtOnce; ++j) {
      if (rows[j] >= of.row_count) continue;
      PutQueryUnit<Element>(
          params.keys, loaded[j], unit[j],
          [&](std::uint32_t word, std::uint32_t bits) { *place(sk::Index(rows[j]), word) = bits; });
    }
  }
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_TURN_QUERY_H_
