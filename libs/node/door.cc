#include "libs/node/door.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"
#include "libs/base/sha256.h"
#include "libs/block/segment_layout.h"

namespace cairn {

wire::WelcomeResult WelcomeResultOf(HelloRefusal why) {
  switch (why) {
    case HelloRefusal::kBadVersion:
      return wire::WelcomeResult::kBadVersion;
    case HelloRefusal::kBadIdentity:
    case HelloRefusal::kBadPool:
    case HelloRefusal::kMalformed:
      return wire::WelcomeResult::kBadIdentity;
    case HelloRefusal::kTransport:  // none could be made: try again later
    case HelloRefusal::kFull:
      return wire::WelcomeResult::kFull;
    case HelloRefusal::kStopping:
      return wire::WelcomeResult::kStopping;
    default:
      return wire::WelcomeResult::kBadToken;
  }
}

Door::Door(const Needs& needs) : needs_(needs) {}
Door::~Door() = default;

bool Door::IsFull() const {
  return needs_.stats.hello_pending >= needs_.options.hello_pending_max || !needs_.host.HasRoom();
}

Door::CallerId Door::AddCaller(Caller caller) {
  const CallerId id(next_caller_++);
  ++needs_.stats.hello_pending;
  caller.deadline =
      needs_.loop.RunAt(needs_.loop.Now() + needs_.options.hello_deadline, [this, id] {
        if (callers_.at(id).stage != Stage::kRefused) {
          CAIRN_COVERED("node_hello_deadline");
          CountRefusal(HelloRefusal::kDeadline, "hand-shake not finished in time");
        }
        Drop(id);
      });
  if (caller.has_peer) by_peer_[caller.peer] = id;
  callers_[id] = std::move(caller);
  return id;
}

void Door::EndPending(Caller& caller) {
  if (caller.stage == Stage::kAdmitted) return;
  --needs_.stats.hello_pending;
  needs_.loop.Cancel(caller.deadline);
}

void Door::CountRefusal(HelloRefusal why, absl::string_view text) {
  ++needs_.stats.hello_refused[static_cast<std::size_t>(why)];
  static LogLimiter limiter(absl::Seconds(1));
  if (std::uint64_t held = 0; limiter.Admit(&held)) {
    LogEvent(LogLevel::kWarning, "hello_refused")
        .With("reason", HelloRefusalName(why))
        .With("detail", text)
        .With("held_back", held);
  }
}

void Door::Drop(CallerId id) {
  const auto it = callers_.find(id);
  if (it == callers_.end()) return;
  EndPending(it->second);
  const bool has_peer = it->second.has_peer;
  const Peer peer = it->second.peer;
  if (has_peer) by_peer_.erase(peer);
  callers_.erase(it);
  if (has_peer) needs_.lanes.Close(peer);
}

void Door::Stop() {
  stopping_ = true;
  while (true) {
    CallerId half_way;
    for (const auto& [id, caller] : callers_) {
      if (caller.stage != Stage::kAdmitted) half_way = id;
    }
    if (half_way == CallerId()) return;
    Drop(half_way);
  }
}

// ---- endpoints ----

void Door::OnAccepted(Peer peer) {
  if (stopping_ || IsFull()) {
    CAIRN_COVERED("node_accept_refused");
    CountRefusal(stopping_ ? HelloRefusal::kStopping : HelloRefusal::kFull, "endpoint accepted");
    needs_.lanes.Close(peer);
    return;
  }
  Caller caller;
  caller.has_peer = true;
  caller.peer = peer;
  AddCaller(std::move(caller));
}

void Door::OnMessage(Peer peer, MessageType type, absl::string_view body) {
  const auto it = by_peer_.find(peer);
  // Messages of an endpoint that is being closed may still arrive.
  if (it == by_peer_.end()) return;
  const CallerId id = it->second;
  Caller& caller = callers_.at(id);
  const auto wire_type = static_cast<wire::Type>(type.value());
  const bool is_small = body.size() <= limits::kFirstMessageBytesMax;
  if (is_small && wire_type == wire::Type::kHello && caller.stage == Stage::kAwaitHello) {
    OnHello(id, caller, body);
  } else if (is_small && wire_type == wire::Type::kProof &&
             caller.stage == Stage::kAwaitRemoteProof) {
    OnRemoteProof(id, caller, body);
  } else if (caller.stage == Stage::kRefused) {
    Drop(id);
  } else {
    Refuse(peer, HelloRefusal::kMalformed);
  }
}

void Door::Refuse(Peer peer, HelloRefusal why) {
  const auto it = by_peer_.find(peer);
  if (it == by_peer_.end()) return;
  CountRefusal(why, "the first message is not a HELLO");
  Drop(it->second);
}

void Door::OnClosed(Peer peer) {
  const auto it = by_peer_.find(peer);
  if (it == by_peer_.end()) return;
  const auto caller = callers_.find(it->second);
  EndPending(caller->second);
  callers_.erase(caller);
  by_peer_.erase(it);
}

void Door::EndChannel(Peer peer) {
  const auto it = by_peer_.find(peer);
  if (it != by_peer_.end()) callers_.at(it->second).channel.reset();
}

// ---- HELLO ----

absl::Status Door::CheckHello(const wire::Hello& hello) const {
  if (hello.block_tokens == 0 || hello.block_tokens > limits::kBlockTokensMax) {
    return absl::InvalidArgumentError(absl::StrCat("block_tokens ", hello.block_tokens));
  }
  if (hello.block_bytes == 0 || hello.block_bytes > limits::kEntryBytesMax ||
      LayOutSegment(needs_.options.segment_bytes, SlotBytesFor(hello.block_bytes)).slots == 0) {
    return absl::InvalidArgumentError(absl::StrCat("block_bytes ", hello.block_bytes,
                                                   " do not fit a segment of ",
                                                   needs_.options.segment_bytes));
  }
  return absl::OkStatus();
}

void Door::OnHello(CallerId id, Caller& caller, absl::string_view body) {
  absl::StatusOr<wire::Hello> hello = wire::DecodeHello(body);
  if (!hello.ok()) {
    const bool is_version = hello.status().code() == absl::StatusCode::kFailedPrecondition;
    if (!is_version) ++needs_.stats.messages_malformed;
    RefuseHello(id, is_version ? HelloRefusal::kBadVersion : HelloRefusal::kMalformed,
                is_version ? wire::WelcomeResult::kBadVersion : wire::WelcomeResult::kBadIdentity,
                hello.status().message());
    return;
  }
  if (const absl::Status checked = CheckHello(*hello); !checked.ok()) {
    RefuseHello(id, HelloRefusal::kBadIdentity, wire::WelcomeResult::kBadIdentity,
                checked.message());
    return;
  }
  if (caller.channel != nullptr) {
    // The endpoint was made for this channel; the ticket shows that the channel's owner speaks.
    if (!EqualConstantTime(Sha256Of(hello->ticket), Sha256Of(caller.ticket))) {
      RefuseHello(id, HelloRefusal::kBadToken, wire::WelcomeResult::kBadToken, "wrong ticket");
      return;
    }
    Admit(id, caller, *hello);
    return;
  }
  if (!hello->ticket.empty() ||
      needs_.tokens.SecretOf(hello->token_id, needs_.loop.Now()) == nullptr) {
    CAIRN_COVERED("node_remote_hello_refused");
    RefuseHello(id, HelloRefusal::kBadToken, wire::WelcomeResult::kBadToken, "unknown token");
    return;
  }
  caller.token_id = hello->token_id;
  caller.hello_body = std::string(body);
  caller.node_nonce = RandomBytes(wire::kNonceBytes);
  caller.stage = Stage::kAwaitRemoteProof;
  const absl::Status sent = needs_.lanes.Send(caller.peer, wire::Type::kChallenge,
                                              wire::Encode(wire::Challenge{caller.node_nonce}));
  if (!sent.ok()) Drop(id);
}

void Door::OnRemoteProof(CallerId id, Caller& caller, absl::string_view body) {
  const absl::StatusOr<wire::Proof> proof = wire::DecodeProof(body);
  const absl::StatusOr<wire::Hello> hello = wire::DecodeHello(caller.hello_body);
  CAIRN_CHECK(hello.ok()) << hello.status().ToString();
  const std::string* secret = needs_.tokens.SecretOf(caller.token_id, needs_.loop.Now());
  if (!proof.ok() || secret == nullptr ||
      !EqualConstantTime(proof->mac, wire::ProofMac(*secret, caller.node_nonce, hello->client_nonce,
                                                    caller.hello_body))) {
    RefuseHello(id, HelloRefusal::kBadToken, wire::WelcomeResult::kBadToken, "wrong proof");
    return;
  }
  Admit(id, caller, *hello);
}

void Door::Admit(CallerId id, Caller& caller, const wire::Hello& hello) {
  RootClaim claim{.identity = hello.identity,
                  .name_space = hello.name_space,
                  .salt = hello.salt,
                  .block_tokens = hello.block_tokens};
  const absl::StatusOr<Root> root = RootOf(claim);
  if (!root.ok()) {
    RefuseHello(id, HelloRefusal::kBadIdentity, wire::WelcomeResult::kBadIdentity,
                root.status().message());
    return;
  }
  if (!needs_.tokens.Allows(caller.token_id, *root, needs_.loop.Now())) {
    CAIRN_COVERED("node_token_for_another_root");
    RefuseHello(id, HelloRefusal::kBadToken, wire::WelcomeResult::kBadToken,
                "the token does not allow this identity, namespace and salt");
    return;
  }
  if (!needs_.host.HasRoom()) {
    CAIRN_COVERED("node_sessions_full");
    RefuseHello(id, HelloRefusal::kFull, wire::WelcomeResult::kFull, "sessions_max");
    return;
  }
  Admitted admitted{.peer = caller.peer,
                    .process = caller.channel ? caller.channel->peer() : PeerProcess{},
                    .is_same_host = caller.channel != nullptr,
                    .pool = std::move(caller.pool),
                    .root = *root,
                    .claim = std::move(claim),
                    .block_bytes = hello.block_bytes,
                    .producer = hello.producer};
  wire::Welcome welcome{.node_boot = needs_.node_boot, .root = *root};
  if (const absl::Status opened = needs_.host.OnAdmitted(std::move(admitted), welcome);
      !opened.ok()) {
    CAIRN_COVERED("node_roots_full");
    RefuseHello(id, HelloRefusal::kFull, wire::WelcomeResult::kFull, opened.message());
    return;
  }
  EndPending(caller);
  caller.stage = Stage::kAdmitted;
  const Peer peer = caller.peer;
  const absl::Status sent = needs_.lanes.Send(peer, wire::Type::kWelcome, wire::Encode(welcome));
  if (!sent.ok()) needs_.lanes.Close(peer);  // OnClosed then ends the session
}

// The peer gets the reason. It still counts as pending, until it closes, sends anything more, or
// its deadline comes, so that refused peers cannot pile up.
void Door::RefuseHello(CallerId id, HelloRefusal why, wire::WelcomeResult result,
                       absl::string_view text) {
  CountRefusal(why, text);
  Caller& caller = callers_.at(id);
  caller.stage = Stage::kRefused;
  wire::Welcome welcome{.result = result, .node_boot = needs_.node_boot};
  welcome.message = std::string(text.substr(0, wire::kMessageTextBytesMax));
  const absl::Status sent =
      needs_.lanes.Send(caller.peer, wire::Type::kWelcome, wire::Encode(welcome));
  if (!sent.ok()) Drop(id);
}

}  // namespace cairn
