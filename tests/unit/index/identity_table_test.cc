#include "libs/index/identity_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libs/base/limits.h"

namespace cairn {
namespace {

Root RootOf(const std::string& text) { return Sha256Of(text); }

std::vector<IdentityField> Fields(absl::string_view model, absl::string_view rope,
                                  absl::string_view salt = "salt") {
  return {{"model", model}, {"rope", rope}, {"salt", salt, true}};
}

class IdentityTableTest : public testing::Test {
 protected:
  IdentityTable table_{{.roots_max = 3}};
};

TEST_F(IdentityTableTest, RootKeepsItsNumberWhileRemembered) {
  const RootId a = *table_.Open(RootOf("a"), Fields("m", "r"));
  const RootId b = *table_.Open(RootOf("b"), Fields("m", "r2"));
  EXPECT_NE(a, b);
  table_.Close(a);
  EXPECT_EQ(*table_.Open(RootOf("a"), Fields("m", "r")), a) << "the worker came back";
  EXPECT_EQ(table_.Find(RootOf("b"))->id, b);
  EXPECT_EQ(table_.Find(a)->sessions, 1u);
}

TEST_F(IdentityTableTest, DifferencesAreNamedMostAlikeFirst) {
  const RootId a = *table_.Open(RootOf("a"), Fields("m", "theta=1"));
  const RootId b = *table_.Open(RootOf("b"), Fields("other", "theta=2"));
  const RootId c = *table_.Open(RootOf("c"), Fields("m", "theta=2"));
  const std::vector<IdentityTable::Difference> differences = table_.MostAlike(c, 5);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].other, b) << "as alike as a, and opened later";
  EXPECT_EQ(differences[0].fields, std::vector<std::string>{"model"});
  EXPECT_EQ(differences[1].other, a);
  EXPECT_EQ(differences[1].fields, std::vector<std::string>{"rope"});
  EXPECT_EQ(table_.MostAlike(a, 1).at(0).other, c) << "b differs in two fields";
}

TEST_F(IdentityTableTest, IdentityThatNeverHadASessionIsComparedAndNotRemembered) {
  const RootId a = *table_.Open(RootOf("a"), Fields("m", "theta=1"));
  const std::vector<IdentityTable::Difference> differences =
      table_.MostAlike(Fields("m", "theta=9"), 5);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].other, a);
  EXPECT_EQ(differences[0].fields, std::vector<std::string>{"rope"});
  EXPECT_EQ(table_.Ids(), std::vector<RootId>{a});
}

TEST_F(IdentityTableTest, MissingFieldsDiffer) {
  const RootId a = *table_.Open(RootOf("a"), Fields("m", "r"));
  table_.Open(RootOf("b"), {{"model", "m"}, {"adapter", "x"}}).value();
  EXPECT_EQ(table_.MostAlike(a, 1).at(0).fields,
            (std::vector<std::string>{"rope", "salt", "adapter"}));
}

TEST_F(IdentityTableTest, LongAndSecretAndRawValuesAreComparedButShownWithCare) {
  const std::string long_a = std::string(300, 'x') + "a";
  const std::string long_b = std::string(300, 'x') + "b";
  const RootId a = *table_.Open(RootOf("a"), Fields("m\n", long_a, "s1"));
  table_.Open(RootOf("b"), Fields("m\n", long_b, "s2")).value();
  EXPECT_EQ(table_.MostAlike(a, 1).at(0).fields, (std::vector<std::string>{"rope", "salt"}));
  const KnownRoot& known = *table_.Find(a);
  EXPECT_EQ(known.fields[0].shown, "m\\n");
  EXPECT_EQ(known.fields[1].shown.size(), 256u);
  EXPECT_EQ(known.fields[2].shown, "");
}

TEST_F(IdentityTableTest, LongestClosedRootIsForgottenAtTheLimit) {
  const RootId a = *table_.Open(RootOf("a"), {});
  const RootId b = *table_.Open(RootOf("b"), {});
  const RootId c = *table_.Open(RootOf("c"), {});
  table_.Close(b);
  table_.Close(a);
  const RootId d = *table_.Open(RootOf("d"), {});
  EXPECT_EQ(table_.Find(b), nullptr);
  EXPECT_NE(table_.Find(a), nullptr);
  EXPECT_NE(table_.Find(c), nullptr);
  table_.Close(c);
  const RootId b_again = *table_.Open(RootOf("b"), {});  // in the place of a
  EXPECT_NE(b_again, b) << "numbers are not given twice";
  EXPECT_EQ(table_.Find(RootOf("a")), nullptr);
  EXPECT_EQ(table_.size(), 3u);
  table_.Close(d);
}

TEST_F(IdentityTableTest, ReopenedRootIsNotForgotten) {
  const RootId a = *table_.Open(RootOf("a"), {});
  table_.Close(a);
  table_.Open(RootOf("a"), {}).value();
  table_.Open(RootOf("b"), {}).value();
  table_.Open(RootOf("c"), {}).value();
  EXPECT_EQ(table_.Open(RootOf("d"), {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(table_.Find(a), nullptr);
}

TEST_F(IdentityTableTest, OversizedIdentityIsRefused) {
  const std::string huge(limits::kIdentityFieldBytesMax + 1, 'x');
  EXPECT_EQ(table_.Open(RootOf("a"), {{"model", huge}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const std::vector<IdentityField> many(limits::kIdentityFieldsMax + 1, IdentityField{"f", "v"});
  EXPECT_EQ(table_.Open(RootOf("a"), many).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(IdentityTableTest, AnIdentityThatWasNeverHereIsComparedButNotRemembered) {
  const RootId a = *table_.Open(RootOf("a"), Fields("m", "theta=1"));
  const RootId b = *table_.Open(RootOf("b"), Fields("other", "theta=1"));
  const std::vector<IdentityTable::Difference> differences =
      table_.MostAlike(Fields("m", "theta=2"), 5);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].other, a);
  EXPECT_EQ(differences[0].fields, std::vector<std::string>{"rope"});
  EXPECT_EQ(differences[1].other, b);
  EXPECT_EQ(table_.Ids(), (std::vector<RootId>{a, b}));
}

}  // namespace
}  // namespace cairn
