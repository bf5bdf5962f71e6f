#ifndef CAIRN_LIBS_CLIENT_PULL_CALLS_H_
#define CAIRN_LIBS_CLIENT_PULL_CALLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/client/call_context.h"
#include "libs/client/calls.h"
#include "libs/ports/transport.h"
#include "libs/wire/messages.h"

namespace cairn {

// PullCalls lands bulk: which entries are awaited, where they land, whether they are what was
// promised. A call ends by its deadline or with its session; a loan of landing memory ends only
// when the transport and the copier are done with it.
// Threads: the client's loop.
class PullCalls {
 public:
  struct Promise {
    std::uint64_t bytes = 0;
    Checksum checksum;
  };
  struct Item {
    std::uint32_t index = 0;
    std::optional<Promise> promise;  // nullopt: it comes with the ACQUIRED
    PullTarget target;
  };

  explicit PullCalls(CallContext& context) : context_(context) {}
  PullCalls(const PullCalls&) = delete;
  PullCalls& operator=(const PullCalls&) = delete;

  // Awaits `items` (ascending by index) under `request`. A wrong sum is reported with `pin`.
  void Begin(RequestId request, std::vector<Item> items, PullDone done);
  // The ACQUIRED has come: what is awaited is `hits` and nothing else. `done` may run inside.
  void Expect(RequestId request, PinId pin, const std::vector<wire::Descriptor>& hits);
  // A PULL of its own. `refused`: why it cannot be asked; nullopt: ask.
  void Ask(PinId pin, std::vector<PullItem> items, Instant deadline, PullDone done,
           std::optional<KeyResult> refused);
  // The call is over: every item that is not there gets `result`. `done` runs inside.
  void Finish(RequestId request, KeyResult result);
  // The same for all calls.
  void FinishAll(KeyResult result);
  bool Contains(RequestId request) const { return calls_.contains(request); }
  std::size_t count() const { return calls_.size(); }

  // What the transport and the node say. An error is a protocol error of the node.
  absl::StatusOr<std::optional<Landing>> OnBulk(absl::Span<const std::byte> header,
                                                std::uint64_t bytes);
  void OnLanded(LandingId landing, const absl::Status& status);
  absl::Status OnPullFailed(absl::string_view body);

 private:
  enum class State { kWaiting, kLanding, kSummed, kDone };
  struct Entry {
    std::uint32_t index = 0;
    std::optional<Promise> promise;
    PullTarget target;  // moved away while it is landing
    State state = State::kWaiting;
    Promise landed;     // kSummed: what has arrived
    KeyResult result = KeyResult::kPullFailed;
  };
  struct Call {
    std::vector<Entry> entries;  // ascending by index
    std::size_t left = 0;
    bool is_own = false;  // a PULL, not part of an ACQUIRE
    PinId pin;
    PullDone done;
    std::optional<TimerId> timer;
    Gate::Pass pass;
  };
  // Memory that the transport writes or the copier reads.
  struct Loan {
    RequestId request;
    std::uint32_t index = 0;
    absl::Span<std::byte> bytes;
    absl::AnyInvocable<void()> returned;
    Gate::Pass pass;
  };

  Entry* FindEntry(RequestId request, std::uint32_t index);
  void OnSummed(Loan loan, Checksum sum);
  void Judge(RequestId request, Call& call, Entry& entry);
  void Settle(Call& call, Entry& entry, KeyResult result);
  void MaybeEnd(RequestId request);

  CallContext& context_;
  std::map<RequestId, Call> calls_;
  absl::flat_hash_map<LandingId, Loan> landings_;  // never iterated
  std::uint64_t last_landing_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_PULL_CALLS_H_
