#include "libs/base/hex.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(HexTest, RoundTripIsExact) {
  const std::string raw("\x00\xff\x10z", 4);
  EXPECT_EQ(ToHex(raw), "00ff107a");
  EXPECT_EQ(*FromHex("00FF107a"), raw);
}

TEST(HexTest, BadInputNamesThePlace) {
  EXPECT_EQ(FromHex("abc").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(FromHex("ab0g").status().message().find("character 3"), absl::string_view::npos);
}

}  // namespace
}  // namespace cairn
