#ifndef CAIRN_LIBS_CLIENT_ACQUIRE_CALLS_H_
#define CAIRN_LIBS_CLIENT_ACQUIRE_CALLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/client/block_verifier.h"
#include "libs/client/call_context.h"
#include "libs/client/calls.h"
#include "libs/client/pull_calls.h"
#include "libs/client/release_queue.h"
#include "libs/wire/messages.h"

namespace cairn {

// AcquireCalls are the ACQUIREs in flight: asked, answered, verified or pulled, and told.
//
//   Begin -> sent -> OnAcquired -> verifying (in place) | pulling -> told
//              └──────── deadline, loss: told with what is there ──┘
//
// A pin that comes after its call was told is released at once.
// Threads: the client's loop.
class AcquireCalls {
 public:
  AcquireCalls(CallContext& context, ReleaseQueue& releases, BlockVerifier& verifier,
               PullCalls& pulls)
      : context_(context), releases_(releases), verifier_(verifier), pulls_(pulls) {}
  AcquireCalls(const AcquireCalls&) = delete;
  AcquireCalls& operator=(const AcquireCalls&) = delete;

  // `result`: why it cannot even be asked; nullopt: ask.
  void Begin(AcquireRequest request, AcquireDone done, std::optional<KeyResult> refused);
  // An error is a protocol error of the node: end the session.
  absl::Status OnAcquired(absl::string_view body);
  // The session is gone: every call is told.
  void Lose();
  std::size_t count() const { return calls_.size(); }

 private:
  struct Call {
    std::vector<EntryKind> kinds;  // empty: all KV
    bool is_pull = false;
    bool is_hybrid = false;
    std::uint64_t resume_depth_max = 0;
    std::uint32_t prompt_tokens = 0;
    bool is_answered = false;
    std::vector<std::uint32_t> hits;         // indices that the node says are there
    std::size_t open = 0;                    // of them, not yet verified or pulled
    KeyResult missing = KeyResult::kAbsent;  // of what is open when it is told
    std::vector<absl::Span<std::byte>> targets;
    PinId pin;
    AcquireAnswer answer;
    TimerId timer{};
    AcquireDone done;
    Gate::Pass pass;
  };

  void Refuse(AcquireRequest request, AcquireDone done, KeyResult result);
  absl::Status SendAcquire(RequestId id, const AcquireRequest& request, std::size_t asked);
  void AwaitPulls(RequestId id, std::vector<PullTarget> targets);
  absl::Status CheckAnswer(const Call& call, const wire::Acquired& acquired) const;
  bool IsOfItsSize(const Call& call, const wire::Descriptor& hit) const;
  // Notes the hits that can be verified or pulled, and returns them.
  absl::StatusOr<std::vector<wire::Descriptor>> TakeHits(RequestId id, Call& call,
                                                         const wire::Acquired& acquired);
  void VerifyHits(RequestId id, const std::vector<wire::Descriptor>& hits);
  void OnVerified(RequestId id, std::uint32_t index, BlockVerifier::Verdict verdict);
  void OnPulled(RequestId id, std::vector<KeyResult> results);
  // The call is over before everything is there: what is open gets `missing`.
  void End(RequestId id, KeyResult missing);
  void Tell(RequestId id);
  bool IsResumable(const Call& call) const;
  void Suspect(SessionSerial session, PinId pin, std::uint32_t index);

  CallContext& context_;
  ReleaseQueue& releases_;
  BlockVerifier& verifier_;
  PullCalls& pulls_;
  std::map<RequestId, Call> calls_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_ACQUIRE_CALLS_H_
