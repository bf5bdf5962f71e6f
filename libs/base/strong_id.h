#ifndef CAIRN_LIBS_BASE_STRONG_ID_H_
#define CAIRN_LIBS_BASE_STRONG_ID_H_

#include <compare>
#include <utility>

namespace cairn {

// StrongId is an integer that cannot be mistaken for another one:
//   using SlotId = StrongId<struct SlotIdTag, std::uint32_t>;
// Works as a key of absl and std hash and ordered containers. The default value is 0.
template <class Tag, class Rep>
class StrongId {
 public:
  using rep = Rep;
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  template <class H>
  friend H AbslHashValue(H h, StrongId id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  Rep value_{};
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_STRONG_ID_H_
