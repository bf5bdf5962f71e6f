#ifndef CAIRN_TESTS_UNIT_PIN_HOLD_RECORDER_H_
#define CAIRN_TESTS_UNIT_PIN_HOLD_RECORDER_H_

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "libs/pin/pin_table.h"

namespace cairn {

// Keeps the set of held slots as the observer is told of it, and the order of letting them go.
class HoldRecorder final : public SlotHoldObserver {
 public:
  void OnSlotHeld(Place place) override { EXPECT_TRUE(held.insert(place).second) << "told twice"; }
  void OnSlotLetGo(Place place) override {
    EXPECT_EQ(held.erase(place), 1u) << "let go, but never held";
    let_go.push_back(place);
  }
  std::set<Place> held;
  std::vector<Place> let_go;
};

inline Place SlotAt(std::uint32_t slot) { return Place{SegmentId(0), SlotId(slot)}; }

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_PIN_HOLD_RECORDER_H_
