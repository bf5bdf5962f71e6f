#ifndef CAIRN_LIBS_CLIENT_OFFER_CALLS_H_
#define CAIRN_LIBS_CLIENT_OFFER_CALLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/client/call_context.h"
#include "libs/client/calls.h"
#include "libs/wire/messages.h"

namespace cairn {

// OfferCalls are the OFFERs in flight and the loans of their bytes. A block is on loan
//   with a shared pool: until STORED, a refusal, the session's end or the deadline, whichever is
//                       first (a copy that the node makes later is torn, and its checksum says so);
//   over the network:   until then, and until the transport is done with it.
// Threads: the client's loop.
class OfferCalls {
 public:
  OfferCalls(CallContext& context, absl::Span<const std::byte> pool, std::uint64_t bytes_max)
      : context_(context), pool_(pool), bytes_max_(bytes_max) {}
  OfferCalls(const OfferCalls&) = delete;
  OfferCalls& operator=(const OfferCalls&) = delete;

  // `refused`: why nothing can be offered; nullopt: offer.
  void Begin(std::vector<OfferBlock> blocks, Instant deadline, OfferDone each,
             std::optional<OfferResult> refused);
  // An error is a protocol error of the node: end the session.
  absl::Status OnWant(absl::string_view body);
  absl::Status OnStored(absl::string_view body);
  // The session is gone.
  void Lose();
  std::size_t count() const { return calls_.size(); }

 private:
  enum class State { kAsked, kPending, kWanted, kSettled };
  struct Entry {
    std::size_t index = 0;  // of the caller's block
    absl::Span<const std::byte> bytes;
    State state = State::kAsked;
    bool is_sending = false;  // on loan to the transport
    OfferResult result = OfferResult::kFailed;
    bool is_told = false;
  };
  struct Call {
    std::vector<Entry> entries;
    std::size_t left = 0;  // not told
    // Shared, since refusals of the same Offer are told on their own.
    std::shared_ptr<OfferDone> each;
    std::optional<TimerId> timer;
    Gate::Pass pass;
  };

  std::optional<OfferResult> WhyNot(const OfferBlock& block) const;
  void TellLater(std::shared_ptr<OfferDone> each, std::size_t index, OfferResult result);
  void Send(const std::vector<OfferBlock>& blocks, Instant deadline, Call call);
  void SendData(RequestId id, std::size_t at);
  void OnSent(RequestId id, std::size_t at, const absl::Status& status);
  // The last word on an entry; told once it is off loan.
  void Settle(RequestId id, std::size_t at, OfferResult result);
  void SettleAll(RequestId id, OfferResult result);
  void MaybeTell(RequestId id, std::size_t at);

  CallContext& context_;
  const absl::Span<const std::byte> pool_;  // empty: none
  const std::uint64_t bytes_max_;
  std::map<RequestId, Call> calls_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_OFFER_CALLS_H_
