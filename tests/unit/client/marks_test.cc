// Every rare branch of the client must have been taken by some test here. Checked when all tests of
// this program have run; a filtered run checks nothing.
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "libs/base/mark.h"

namespace cairn {
namespace {

constexpr const char* kMarks[] = {
    "client_acquire_deadline",     "client_acquire_not_sent",
    "client_acquire_refused",      "client_acquire_too_late",
    "client_calls_full",           "client_descriptor_out_of_bounds",
    "client_hit_of_other_size",    "client_landed_corrupt",
    "client_landed_late",          "client_landed_sum_late",
    "client_landed_sum_refused",   "client_landing_refused",
    "client_late_pin",             "client_late_stored",
    "client_late_want",            "client_offer_capped",
    "client_offer_data_not_sent",  "client_offer_deadline",
    "client_offer_not_sent",       "client_offer_outside_pool",
    "client_pin_of_old_session",   "client_protocol_error",
    "client_pull_deadline",        "client_pull_given_up",
    "client_pull_not_sent",        "client_release_not_sent",
    "client_root_differs",         "client_sum_of_reused_slot",
    "client_sum_refused",          "client_sum_shared",
    "client_sum_wrong",            "client_target_too_small",
    "client_verified_late",
};

class MarksAreReached : public ::testing::Environment {
 public:
  void TearDown() override {
    if (::testing::GTEST_FLAG(filter) != "*") return;
    std::set<std::string> reached;
    for (const MarkCount& mark : MarkCounts()) reached.insert(mark.name);
    for (const char* const mark : kMarks) EXPECT_TRUE(reached.contains(mark)) << mark;
  }
};

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(
    new MarksAreReached);  // tidy: allow(new) GoogleTest owns it

TEST(MarksTest, AreChecked) { EXPECT_NE(kEnvironment, nullptr); }

}  // namespace
}  // namespace cairn
