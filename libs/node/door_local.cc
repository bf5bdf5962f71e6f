// The local channel's half of Door: challenge, proof, welcome.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/node/door.h"

namespace cairn {
namespace {

// The grants of up to kLocalGrantsMax segments from `first` on, with what to say of them.
struct SegmentGrants {
  std::vector<wire::LocalSegment> segments;
  std::vector<MemoryGrant> grants;
};
absl::StatusOr<SegmentGrants> GrantSegments(const Arena& arena, std::uint32_t first) {
  SegmentGrants out;
  const std::uint32_t end = std::min<std::uint32_t>(
      arena.segments(), first + static_cast<std::uint32_t>(limits::kLocalGrantsMax));
  for (std::uint32_t i = first; i < end; ++i) {
    CAIRN_ASSIGN_OR_RETURN(MemoryGrant grant, arena.Grant(SegmentId(i)));
    out.grants.push_back(std::move(grant));
    out.segments.push_back({SegmentId(i), arena.segment_bytes(), arena.words_bytes()});
  }
  return out;
}

}  // namespace

void Door::OnChannel(std::unique_ptr<LocalChannel> channel) {
  if (stopping_ || IsFull()) {
    CAIRN_COVERED("node_channel_refused");
    const HelloRefusal why = stopping_ ? HelloRefusal::kStopping : HelloRefusal::kFull;
    CountRefusal(why, "local channel");
    // A courtesy; whether it arrives before the channel closes makes no difference to anyone.
    channel
        ->Send({wire::Encode(wire::LocalRefused{WelcomeResultOf(why), HelloRefusalName(why)}), {}})
        .IgnoreError();
    return;
  }
  Caller caller;
  caller.stage = Stage::kAwaitProof;
  caller.challenge.node_boot = needs_.node_boot;
  caller.challenge.node_nonce = RandomBytes(wire::kNonceBytes);
  const std::string challenge = wire::Encode(caller.challenge);
  caller.channel = std::move(channel);
  LocalChannel& started = *caller.channel;
  const CallerId id = AddCaller(std::move(caller));
  started.Start([this, id](LocalChannel::Message m) { OnChannelMessage(id, std::move(m)); },
                [this, id](absl::Status) { OnChannelClosed(id); });
  if (!started.Send({challenge, {}}).ok()) Drop(id);
}

void Door::OnChannelClosed(CallerId id) {
  const auto it = callers_.find(id);
  if (it == callers_.end()) return;
  if (it->second.stage == Stage::kAdmitted) {
    const Peer peer = it->second.peer;
    needs_.host.OnChannelEnded(peer);  // closes the endpoint; OnClosed then drops the caller
    return;
  }
  Drop(id);
}

void Door::OnChannelMessage(CallerId id, LocalChannel::Message message) {
  const auto it = callers_.find(id);
  if (it == callers_.end()) return;
  Caller& caller = it->second;
  const absl::StatusOr<wire::LocalType> type = wire::LocalTypeOf(message.body);
  if (!type.ok() || *type != wire::LocalType::kProof || caller.stage != Stage::kAwaitProof) {
    ++needs_.stats.messages_malformed;
    if (caller.stage == Stage::kAdmitted) {
      OnChannelClosed(id);  // nothing more is expected there: the session ends
    } else {
      RefuseLocal(id, HelloRefusal::kMalformed, "unexpected message");
    }
    return;
  }
  const absl::StatusOr<wire::LocalProof> proof = wire::DecodeLocalProof(message.body);
  if (!proof.ok()) {
    ++needs_.stats.messages_malformed;
    RefuseLocal(id, HelloRefusal::kMalformed, proof.status().message());
    return;
  }
  HelloRefusal why = HelloRefusal::kBadToken;
  // Taken once: a token that expires while its pool is mapped is none to ask the book for again.
  const absl::StatusOr<std::string> secret = CheckProof(caller, *proof, why);
  if (!secret.ok()) {
    RefuseLocal(id, why, secret.status().message());
    return;
  }
  if (const absl::Status taken = TakePool(caller, *proof, message); !taken.ok()) {
    RefuseLocal(id, HelloRefusal::kBadPool, taken.message());
    return;
  }
  caller.token_id = proof->token_id;
  const LaneKind lane =
      proof->profile == wire::LocalProfile::kSameUser ? LaneKind::kSameUser : LaneKind::kOtherUser;
  absl::StatusOr<Transport*> transport = needs_.lanes.Open(lane);
  absl::StatusOr<EndpointId> endpoint =
      transport.ok() ? (*transport)->Connect(proof->transport_address) : transport.status();
  if (!endpoint.ok()) {
    RefuseLocal(id, HelloRefusal::kTransport, endpoint.status().message());
    return;
  }
  caller.has_peer = true;
  caller.peer = Peer{lane, *endpoint};
  by_peer_[caller.peer] = id;
  caller.stage = Stage::kAwaitHello;
  caller.ticket = RandomBytes(wire::kTicketBytes);
  if (const absl::Status sent = SendWelcome(caller, *proof, *secret, (*transport)->Address());
      !sent.ok()) {
    LogEvent(LogLevel::kWarning, "welcome_failed").With("status", sent.ToString());
    Drop(id);
  }
}

absl::StatusOr<std::string> Door::CheckProof(const Caller& caller, const wire::LocalProof& proof,
                                             HelloRefusal& why) {
  const std::string* secret = needs_.tokens.SecretOf(proof.token_id, needs_.loop.Now());
  if (secret == nullptr) return absl::PermissionDeniedError("unknown or expired token");
  if (!EqualConstantTime(proof.mac, wire::LocalClientMac(*secret, caller.challenge, proof))) {
    return absl::PermissionDeniedError("wrong proof of the token");
  }
  const bool is_same_user = caller.channel->peer().uid == needs_.options.own_uid;
  if (!is_same_user && !needs_.options.serves_other_users) {
    why = HelloRefusal::kOtherUser;
    return absl::PermissionDeniedError(absl::StrCat("this node serves uid ", needs_.options.own_uid,
                                                    " only, not ", caller.channel->peer().uid));
  }
  if (is_same_user != (proof.profile == wire::LocalProfile::kSameUser)) {
    why = HelloRefusal::kOtherUser;
    return absl::PermissionDeniedError("profile does not fit the peer's uid");
  }
  return *secret;
}

absl::Status Door::TakePool(Caller& caller, const wire::LocalProof& proof,
                            LocalChannel::Message& message) {
  const std::size_t expected = proof.pool_bytes > 0 ? 1 : 0;
  if (message.grants.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(message.grants.size(), " grants, not ", expected));
  }
  if (expected == 0) return absl::OkStatus();
  if (proof.pool_bytes > needs_.options.pool_bytes_max) {
    return absl::InvalidArgumentError(absl::StrCat("pool of ", proof.pool_bytes, " bytes, at most ",
                                                   needs_.options.pool_bytes_max));
  }
  CAIRN_ASSIGN_OR_RETURN(caller.pool, needs_.memory.Map(std::move(message.grants.front()),
                                                        needs_.options.pool_bytes_max));
  if (caller.pool->bytes().size() != proof.pool_bytes) {
    return absl::InvalidArgumentError("the pool's size is not the one that was named");
  }
  return absl::OkStatus();
}

absl::Status Door::SendWelcome(Caller& caller, const wire::LocalProof& proof,
                               absl::string_view secret, absl::string_view address) {
  wire::LocalWelcome welcome{.ticket = caller.ticket,
                             .arena_boot = needs_.arena.boot(),
                             .transport_address = std::string(address),
                             .segments_total = needs_.arena.segments()};
  welcome.mac = wire::LocalNodeMac(secret, caller.challenge, proof, welcome);
  CAIRN_ASSIGN_OR_RETURN(SegmentGrants some, GrantSegments(needs_.arena, 0));
  welcome.segments = std::move(some.segments);
  CAIRN_RETURN_IF_ERROR(caller.channel->Send({wire::Encode(welcome), std::move(some.grants)}));
  for (std::uint32_t first = limits::kLocalGrantsMax; first < needs_.arena.segments();
       first += limits::kLocalGrantsMax) {
    CAIRN_ASSIGN_OR_RETURN(some, GrantSegments(needs_.arena, first));
    CAIRN_RETURN_IF_ERROR(caller.channel->Send(
        {wire::Encode(wire::LocalSegments{std::move(some.segments)}), std::move(some.grants)}));
  }
  return absl::OkStatus();
}

void Door::RefuseLocal(CallerId id, HelloRefusal why, absl::string_view text) {
  CountRefusal(why, text);
  wire::LocalRefused refused{WelcomeResultOf(why), std::string(text)};
  refused.message.resize(std::min(refused.message.size(), wire::kMessageTextBytesMax));
  Caller& caller = callers_.at(id);
  caller.stage = Stage::kRefused;
  if (!caller.channel->Send({wire::Encode(refused), {}}).ok()) Drop(id);
}

}  // namespace cairn
