#include "libs/span/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "libs/base/limits.h"

namespace cairn {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ModelIdentity kIdentity = {.model = "m",
                                 .weights_digest = std::string(32, '\1'),
                                 .arch = "llama",
                                 .kv_layout = "kv",
                                 .rope = "r",
                                 .adapter = "",
                                 .numerics = "n"};

TEST(IdentityTest, FingerprintIsTheHashOfTaggedLengthPrefixedFields) {
  const std::string bytes = "cairn.identity.v1\0"s + "\1\0\0\0m"s + "\x20\0\0\0"s +
                            std::string(32, '\1') + "\5\0\0\0llama"s + "\2\0\0\0kv"s +
                            "\1\0\0\0r"s + "\0\0\0\0"s + "\1\0\0\0n"s;
  EXPECT_EQ(FingerprintOf(kIdentity).value(), Sha256Of(bytes));
}

TEST(IdentityTest, RootIsTheHashOfFingerprintNamespaceSaltAndBlockSize) {
  const Digest256 fingerprint = Sha256Of("f");
  const std::string bytes = "cairn.root.v1\0"s + std::string(fingerprint.view()) + "\2\0\0\0ns"s +
                            "\1\0\0\0s"s + "\x10\0\0\0"s;
  EXPECT_EQ(RootOf(fingerprint, "ns", "s", 16).value(), Sha256Of(bytes));
}

TEST(IdentityTest, EveryFieldChangesTheFingerprint) {
  std::set<Digest256> seen = {FingerprintOf(kIdentity).value()};
  for (auto field : {&ModelIdentity::model, &ModelIdentity::weights_digest, &ModelIdentity::arch,
                     &ModelIdentity::kv_layout, &ModelIdentity::rope, &ModelIdentity::adapter,
                     &ModelIdentity::numerics}) {
    ModelIdentity other = kIdentity;
    (other.*field) += "x";
    EXPECT_TRUE(seen.insert(FingerprintOf(other).value()).second);
    EXPECT_EQ(DifferingFields(kIdentity, other).size(), 1u);
  }
}

TEST(IdentityTest, FieldsDoNotRunIntoEachOther) {
  EXPECT_NE(FingerprintOf({.model = "ab"}).value(),
            FingerprintOf({.model = "a", .weights_digest = "b"}).value());
  const Digest256 f;
  EXPECT_NE(RootOf(f, "ab", "", 16).value(), RootOf(f, "a", "b", 16).value());
}

TEST(IdentityTest, EveryPartChangesTheRoot) {
  const Digest256 f = Sha256Of("f");
  std::set<Root> seen = {
      RootOf(f, "n", "s", 16).value(), RootOf(Sha256Of("g"), "n", "s", 16).value(),
      RootOf(f, "o", "s", 16).value(), RootOf(f, "n", "t", 16).value(),
      RootOf(f, "n", "s", 32).value(), RootOf(f, "", "", 16).value()};
  EXPECT_EQ(seen.size(), 6u);
}

TEST(IdentityTest, AnyBlockSizeButZeroHasARoot) {
  EXPECT_TRUE(RootOf({}, "", "", 1).ok());
  EXPECT_TRUE(RootOf({}, "", "", UINT32_MAX).ok());
  EXPECT_EQ(RootOf({}, "", "", 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(IdentityTest, ATooLongFieldIsRefusedByName) {
  const std::string long_text(limits::kIdentityFieldBytesMax + 1, 'x');
  ModelIdentity identity = kIdentity;
  identity.rope = long_text;
  EXPECT_THAT(FingerprintOf(identity).status().message(), HasSubstr("rope"));
  EXPECT_THAT(RootOf({}, long_text, "", 16).status().message(), HasSubstr("namespace"));
  EXPECT_THAT(RootOf({}, "", long_text, 16).status().message(), HasSubstr("salt"));
  identity.rope.pop_back();
  EXPECT_TRUE(FingerprintOf(identity).ok());
}

TEST(IdentityTest, DifferingFieldsNamesThemInOrder) {
  ModelIdentity other = kIdentity;
  EXPECT_THAT(DifferingFields(kIdentity, other), IsEmpty());
  other.numerics = "avx512";
  other.rope = "theta";
  EXPECT_THAT(DifferingFields(kIdentity, other), ElementsAre("rope", "numerics"));
}

}  // namespace
}  // namespace cairn
