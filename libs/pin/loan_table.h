#ifndef CAIRN_LIBS_PIN_LOAN_TABLE_H_
#define CAIRN_LIBS_PIN_LOAN_TABLE_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "libs/base/ids.h"

namespace cairn {

class LoanTable;

// Loan is the right to let bytes land in memory of ours, or be read from it, by someone else's hand
// (transport, copier, the node that reads an offered pool block). Keep it, together with the owner
// of the memory, in whatever waits for the completion: its destruction says that no byte moves any
// more. Move-only. Threads: the table's.
class Loan {
 public:
  Loan() = default;  // lends nothing
  Loan(Loan&& other) noexcept;
  Loan& operator=(Loan&& other) noexcept;
  ~Loan();
  bool is_live() const { return table_ != nullptr; }

  // The call that made the loan is over (its deadline, its session): the caller has its answer. The
  // loan goes on until the completion. At most once counts.
  void EndCall();

 private:
  friend class LoanTable;
  Loan(LoanTable* table, SessionId session, std::uint64_t bytes)
      : table_(table), session_(session), bytes_(bytes) {}
  void End();
  LoanTable* table_ = nullptr;
  SessionId session_;
  std::uint64_t bytes_ = 0;
  bool call_ended_ = false;
};

// LoanTable counts and caps loans: landing blocks and filling slots in a node, landing and offered
// blocks in a client.
//
// Invariants:
//   1. A loan ends by its completion only (the Loan's destruction): neither a deadline nor the end
//      of a session returns memory that bytes may still land in.
//   2. At most `loans_max` loans and `bytes_max` bytes, and `per_session_max` loans of a session.
// Threads: one owner. Errors: RESOURCE_EXHAUSTED naming the limit. Outlives every Loan.
class LoanTable {
 public:
  struct Options {
    std::uint32_t loans_max = 0;        // Required.
    std::uint32_t per_session_max = 0;  // Required.
    std::uint64_t bytes_max = UINT64_MAX;
  };
  struct Stats {
    std::uint64_t loans = 0;    // now
    std::uint64_t bytes = 0;    // now
    std::uint64_t overdue = 0;  // now: their call has ended, their completion has not come
    std::uint64_t overdue_total = 0;
    std::uint64_t refused_total = 0;
  };
  explicit LoanTable(const Options& options);
  ~LoanTable();
  LoanTable(const LoanTable&) = delete;
  LoanTable& operator=(const LoanTable&) = delete;

  absl::StatusOr<Loan> Lend(SessionId session, std::uint64_t bytes);
  // Loans of a session that have not ended, dead sessions included.
  std::uint64_t CountOf(SessionId session) const;
  const Stats& stats() const { return stats_; }

 private:
  friend class Loan;
  absl::Status Refuse(const char* limit);
  const Options options_;
  absl::flat_hash_map<SessionId, std::uint64_t> of_session_;  // absent: none
  Stats stats_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PIN_LOAN_TABLE_H_
