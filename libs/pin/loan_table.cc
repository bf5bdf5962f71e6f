#include "libs/pin/loan_table.h"

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"

namespace cairn {

Loan::Loan(Loan&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)),
      session_(other.session_),
      bytes_(other.bytes_),
      call_ended_(other.call_ended_) {}

Loan& Loan::operator=(Loan&& other) noexcept {
  if (this != &other) {
    End();
    table_ = std::exchange(other.table_, nullptr);
    session_ = other.session_;
    bytes_ = other.bytes_;
    call_ended_ = other.call_ended_;
  }
  return *this;
}

Loan::~Loan() { End(); }

void Loan::EndCall() {
  if (table_ == nullptr || call_ended_) return;
  CAIRN_COVERED("loan_outlived_call");
  call_ended_ = true;
  ++table_->stats_.overdue;
  ++table_->stats_.overdue_total;
}

void Loan::End() {
  LoanTable* table = std::exchange(table_, nullptr);
  if (table == nullptr) return;
  LoanTable::Stats& stats = table->stats_;
  --stats.loans;
  stats.bytes -= bytes_;
  if (call_ended_) --stats.overdue;
  const auto it = table->of_session_.find(session_);
  CAIRN_CHECK(it != table->of_session_.end());
  if (--it->second == 0) table->of_session_.erase(it);
}

LoanTable::LoanTable(const Options& options) : options_(options) {
  CAIRN_CHECK(options.loans_max > 0 && options.loans_max <= limits::kLoansMax) << options.loans_max;
  CAIRN_CHECK(options.per_session_max > 0);
}

LoanTable::~LoanTable() { CAIRN_CHECK(stats_.loans == 0) << "a Loan outlived its table"; }

absl::StatusOr<Loan> LoanTable::Lend(SessionId session, std::uint64_t bytes) {
  if (stats_.loans >= options_.loans_max) return Refuse("loans_max");
  if (bytes > options_.bytes_max - stats_.bytes) return Refuse("bytes_max");
  if (CountOf(session) >= options_.per_session_max) return Refuse("per_session_max");
  ++of_session_[session];
  ++stats_.loans;
  stats_.bytes += bytes;
  return Loan(this, session, bytes);
}

absl::Status LoanTable::Refuse(const char* limit) {
  ++stats_.refused_total;
  return absl::ResourceExhaustedError(absl::StrCat("loans at ", limit));
}

std::uint64_t LoanTable::CountOf(SessionId session) const {
  const auto it = of_session_.find(session);
  return it == of_session_.end() ? 0 : it->second;
}

}  // namespace cairn
