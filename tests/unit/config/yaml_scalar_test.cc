#include "libs/config/yaml_scalar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cairn/config/v1/node.pb.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

TEST(ParseSizeTest, UnitsArePowersOfTwo) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } cases[] = {{"0", 0},
               {"4096", 4096},
               {"4KiB", 4 * kKiB},
               {"512MiB", 512 * kMiB},
               {"1GiB", kGiB},
               {"2TiB", 2048 * kGiB},
               {"18446744073709551615", UINT64_MAX}};
  for (const auto& size : cases) {
    const auto parsed = ParseSize(size.text);
    ASSERT_TRUE(parsed.ok()) << size.text;
    EXPECT_EQ(*parsed, size.bytes) << size.text;
  }
}

TEST(ParseSizeTest, AnythingElseIsRefused) {
  for (const char* text : {"", "KiB", "-1", "-1MiB", "1.5GiB", "1 GiB", "1GB", "1gib", "1G", "0x10",
                           "16777216TiB", "18446744073709551616", "1KiBKiB"}) {
    EXPECT_EQ(ParseSize(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(SetScalarTest, DurationsAreReadAndWrittenBack) {
  config::v1::Node node;
  const auto* field = node.GetDescriptor()->FindFieldByName("drain_timeout");
  ASSERT_TRUE(SetScalar(*field, "1m30.5s", &node).ok());
  EXPECT_EQ(node.drain_timeout().seconds(), 90);
  EXPECT_EQ(node.drain_timeout().nanos(), 500'000'000);
  EXPECT_EQ(ScalarText(*field, node, 0), "1m30.5s");
}

TEST(SetScalarTest, DurationsNeedAUnitASignThatIsNoneAndAnEnd) {
  config::v1::Node node;
  const auto* field = node.GetDescriptor()->FindFieldByName("drain_timeout");
  for (const char* text : {"", "30", "-1s", "inf", "9000h", "soon"}) {
    EXPECT_FALSE(SetScalar(*field, text, &node).ok()) << text;
  }
}

}  // namespace
}  // namespace cairn
