#include "libs/pin/loan_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace cairn {
namespace {

constexpr SessionId kAda{1};
constexpr SessionId kBob{2};

class LoanTableTest : public testing::Test {
 protected:
  LoanTable loans_{{.loans_max = 3, .per_session_max = 2, .bytes_max = 1000}};
};

TEST_F(LoanTableTest, LoanIsCountedUntilItsCompletion) {
  std::optional<Loan> loan = *loans_.Lend(kAda, 100);
  EXPECT_EQ(loans_.stats().loans, 1u);
  EXPECT_EQ(loans_.stats().bytes, 100u);
  EXPECT_EQ(loans_.CountOf(kAda), 1u);
  loan.reset();
  EXPECT_EQ(loans_.stats().loans, 0u);
  EXPECT_EQ(loans_.stats().bytes, 0u);
  EXPECT_EQ(loans_.CountOf(kAda), 0u);
}

TEST_F(LoanTableTest, EndOfTheCallIsNotTheEndOfTheLoan) {
  std::optional<Loan> loan = *loans_.Lend(kAda, 100);
  loan->EndCall();
  loan->EndCall();
  EXPECT_EQ(loans_.stats().loans, 1u);
  EXPECT_EQ(loans_.stats().overdue, 1u);
  loan.reset();
  EXPECT_EQ(loans_.stats().overdue, 0u);
  EXPECT_EQ(loans_.stats().overdue_total, 1u);
}

TEST_F(LoanTableTest, MovedLoanIsOneLoan) {
  Loan first = *loans_.Lend(kAda, 100);
  first.EndCall();
  Loan second = std::move(first);
  EXPECT_FALSE(first.is_live());  // NOLINT(bugprone-use-after-move): the point
  EXPECT_TRUE(second.is_live());
  second.EndCall();
  EXPECT_EQ(loans_.stats().overdue_total, 1u);
  second = *loans_.Lend(kBob, 50);
  EXPECT_EQ(loans_.stats().loans, 1u);
  EXPECT_EQ(loans_.stats().bytes, 50u);
  EXPECT_EQ(loans_.stats().overdue, 0u);
}

TEST_F(LoanTableTest, LimitsRefuseAndNothingGrows) {
  const Loan a = *loans_.Lend(kAda, 400);
  const Loan b = *loans_.Lend(kAda, 400);
  EXPECT_EQ(loans_.Lend(kAda, 1).status().code(), absl::StatusCode::kResourceExhausted)
      << "per_session_max";
  EXPECT_FALSE(loans_.Lend(kBob, 201).ok()) << "bytes_max";
  {
    const Loan c = *loans_.Lend(kBob, 200);
    EXPECT_FALSE(loans_.Lend(SessionId(3), 0).ok()) << "loans_max";
  }
  EXPECT_TRUE(loans_.Lend(SessionId(3), 0).ok());
  EXPECT_EQ(loans_.stats().refused_total, 3u);
}

TEST(LoanTableDeathTest, LoanThatOutlivesItsTableIsABug) {
  EXPECT_DEATH(
      {
        Loan loan;
        LoanTable loans({.loans_max = 1, .per_session_max = 1});
        loan = *loans.Lend(kAda, 1);
      },
      "outlived");
}

}  // namespace
}  // namespace cairn
