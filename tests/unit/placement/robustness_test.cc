#include "libs/placement/robustness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::placement {
namespace {

TEST(RobustnessTest, IsTheDistributionBoundForManyAtoms) {
  const double radius =
      RobustnessRadius({.observations = 1e6, .atoms = 5000, .depth_max = 100, .delta = 0.05})
          .value();
  EXPECT_NEAR(radius, 400 * std::sqrt(std::log(40.0) / 2e6), 1e-9);
}

TEST(RobustnessTest, IsTheTotalVariationBoundForFewAtoms) {
  const double radius =
      RobustnessRadius({.observations = 1e4, .atoms = 2, .depth_max = 100, .delta = 0.05}).value();
  EXPECT_NEAR(radius, 100 * std::sqrt(2 * std::log(2 / 0.05) / 1e4), 1e-9);
  EXPECT_LT(radius, 400 * std::sqrt(std::log(40.0) / 2e4));
}

TEST(RobustnessTest, SaysNothingWithFewObservationsAndShrinksWithMore) {
  EXPECT_DOUBLE_EQ(RobustnessRadius({.observations = 10, .atoms = 500, .depth_max = 64}).value(),
                   64);
  EXPECT_DOUBLE_EQ(RobustnessRadius({.observations = 10, .atoms = 1, .depth_max = 64}).value(), 0);
  double last = 65;
  for (double n = 100; n < 1e9; n *= 10) {
    const double radius =
        RobustnessRadius({.observations = n, .atoms = 500, .depth_max = 64}).value();
    EXPECT_LT(radius, last);
    last = radius;
  }
}

TEST(RobustnessTest, RefusesWhatIsNotPositive) {
  EXPECT_FALSE(RobustnessRadius({.observations = 0, .atoms = 1, .depth_max = 1}).ok());
  EXPECT_FALSE(RobustnessRadius({.observations = 1, .atoms = 0, .depth_max = 1}).ok());
  EXPECT_FALSE(RobustnessRadius({.observations = 1, .atoms = 1, .depth_max = 0}).ok());
  EXPECT_FALSE(RobustnessRadius({.observations = 1, .atoms = 1, .depth_max = 1, .delta = 1}).ok());
  EXPECT_FALSE(RobustnessRadius({.observations = std::nan(""), .atoms = 1, .depth_max = 1}).ok());
  EXPECT_FALSE(
      RobustnessRadius(
          {.observations = std::numeric_limits<double>::infinity(), .atoms = 1, .depth_max = 1})
          .ok());
}

}  // namespace
}  // namespace cairn::placement
