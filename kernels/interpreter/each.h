#ifndef CAIRN_KERNELS_INTERPRETER_EACH_H_
#define CAIRN_KERNELS_INTERPRETER_EACH_H_

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/interpreter/warp.h"

// Operations that do the same in every lane, from functions of plain values.

namespace cairn::interpreter {

template <class T>
T FromRegister(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, bool>) {
    return (bits & 1) != 0;
  } else {
    return static_cast<T>(bits);
  }
}
template <class T>
std::uint64_t ToRegister(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <auto kFunction, class... S, std::size_t... kAt>
void EachLane(Warp& warp, const Instruction& in, Mask lanes, std::index_sequence<kAt...>) {
  Register& out = warp.at(in, 0);
  const std::array<const Register*, sizeof...(S)> from = {&warp.at(in, kAt + 1)...};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    out[lane] = ToRegister(kFunction(FromRegister<S>((*from[kAt])[lane])...));
  }
}

template <auto kFunction, class... S>
void Each(Warp& warp, const Instruction& in, Mask lanes) {
  EachLane<kFunction, S...>(warp, in, lanes, std::index_sequence_for<S...>());
}

// d = function(sources of types S...).
template <auto kFunction, class... S>
constexpr Operation Lanewise() {
  return {&Each<kFunction, S...>, 1 + static_cast<std::int32_t>(sizeof...(S)), Meets::kNobody};
}

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_EACH_H_
