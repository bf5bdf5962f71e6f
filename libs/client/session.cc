#include "libs/client/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

// A node that refuses us is no broken node: the code says which of the two it is.
absl::Status RefusalStatus(wire::WelcomeResult result, absl::string_view message) {
  const std::string text = absl::StrCat("the node refused: ", message);
  switch (result) {
    case wire::WelcomeResult::kBadVersion: return absl::FailedPreconditionError(text);
    case wire::WelcomeResult::kBadToken: return absl::UnauthenticatedError(text);
    case wire::WelcomeResult::kBadIdentity: return absl::FailedPreconditionError(text);
    case wire::WelcomeResult::kFull: return absl::ResourceExhaustedError(text);
    case wire::WelcomeResult::kStopping: return absl::UnavailableError(text);
    case wire::WelcomeResult::kOk: break;
  }
  return absl::InvalidArgumentError("the node refused with OK");
}

}  // namespace

Session::Session(SessionSerial serial, ClientPorts& ports, ClientOptions& options,
                 ClientStats& stats, SessionEvents& events)
    : serial_(serial),
      ports_(ports),
      options_(options),
      stats_(stats),
      events_(events),
      self_(std::make_shared<Session*>(this)) {}

Session::~Session() {
  *self_ = nullptr;
  if (timer_.has_value()) ports_.loop.Cancel(*timer_);
}

const char* Session::NameOf(Phase phase) {
  switch (phase) {
    case Phase::kIdle: return "idle";
    case Phase::kToken: return "token";
    case Phase::kDial: return "dial";
    case Phase::kChallenge: return "local_challenge";
    case Phase::kLocalWelcome: return "local_welcome";
    case Phase::kSegments: return "segments";
    case Phase::kConnect: return "connect";
    case Phase::kHello: return "hello";
    case Phase::kUp: return "up";
    case Phase::kEnded: return "ended";
  }
  return "unknown";
}

void Session::Start() {
  CAIRN_CHECK(phase_ == Phase::kIdle);
  phase_ = Phase::kToken;
  timer_ = ports_.loop.RunAt(ports_.loop.Now() + options_.attempt_timeout, [this] {
    timer_.reset();
    End(absl::DeadlineExceededError("the attempt took too long"));
  });
  options_.tokens([self = self_, &loop = ports_.loop](absl::StatusOr<AccessToken> token) {
    loop.Post([self, token = std::move(token)]() mutable {
      if (*self != nullptr) (*self)->OnToken(std::move(token));
    });
  });
}

void Session::OnToken(absl::StatusOr<AccessToken> token) {
  if (phase_ != Phase::kToken) return;
  if (!token.ok()) return End(token.status());
  token_ = *std::move(token);
  const absl::Status begun = ports_.dialer != nullptr ? Dial() : DialRemote();
  if (!begun.ok()) End(begun);
}

absl::Status Session::DialRemote() {
  phase_ = Phase::kConnect;
  CAIRN_ASSIGN_OR_RETURN(line_, events_.LineOf(TransportProfile::kNetwork));
  CAIRN_ASSIGN_OR_RETURN(endpoint_, line_->Dial(ports_.remote_address));
  has_endpoint_ = true;
  return SayHello("");
}

absl::Status Session::SayHello(std::string ticket) {
  phase_ = Phase::kHello;
  wire::Hello hello;
  if (ticket.empty()) {
    hello.token_id = token_.token_id;
    hello.client_nonce = RandomBytes(wire::kNonceBytes);
  }
  hello.ticket = std::move(ticket);
  hello.identity = options_.identity;
  hello.name_space = options_.name_space;
  hello.salt = options_.salt;
  hello.block_tokens = options_.block_tokens;
  hello.block_bytes = options_.block_bytes;
  hello.producer = options_.producer;
  hello_body_ = wire::Encode(hello);
  client_nonce_ = hello.client_nonce;
  if (hello_body_.size() > limits::kFirstMessageBytesMax) {
    return absl::FailedPreconditionError(
        absl::StrCat("the identity is too long: HELLO has ", hello_body_.size(), " bytes of ",
                     limits::kFirstMessageBytesMax));
  }
  return line_->transport().Send(
      endpoint_, MessageType(static_cast<std::uint8_t>(wire::Type::kHello)), hello_body_);
}

void Session::OnMessage(MessageType type, absl::Span<const std::byte> body) {
  const auto wire_type = static_cast<wire::Type>(type.value());
  if (phase_ == Phase::kUp) return events_.OnSessionMessage(wire_type, AsStringView(body));
  if (phase_ != Phase::kHello) return;  // ended: what was on its way comes to nothing
  const absl::Status heard = OnHelloAnswer(wire_type, AsStringView(body));
  if (!heard.ok()) End(heard);
}

absl::Status Session::OnHelloAnswer(wire::Type type, absl::string_view body) {
  switch (type) {
    case wire::Type::kChallenge: return OnChallenge(body);
    case wire::Type::kWelcome: return OnWelcome(body);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("message ", static_cast<int>(type), " before WELCOME"));
  }
}

absl::Status Session::OnChallenge(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(const wire::Challenge challenge, wire::DecodeChallenge(body));
  // One challenge an attempt, and none where a ticket vouches: else we would mac at its bidding.
  if (client_nonce_.empty()) return absl::InvalidArgumentError("a CHALLENGE out of turn");
  const wire::Proof proof{
      wire::ProofMac(token_.token, challenge.node_nonce, client_nonce_, hello_body_)};
  client_nonce_.clear();
  return line_->transport().Send(
      endpoint_, MessageType(static_cast<std::uint8_t>(wire::Type::kProof)), wire::Encode(proof));
}

absl::Status Session::OnWelcome(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(welcome_, wire::DecodeWelcome(body));
  if (welcome_.result != wire::WelcomeResult::kOk) {
    return RefusalStatus(welcome_.result, welcome_.message);
  }
  if (mapping_ != nullptr && welcome_.node_boot != local_challenge_.node_boot) {
    return absl::InvalidArgumentError("channel and endpoint lead to two nodes");
  }
  if (welcome_.root != options_.root) {
    CAIRN_COVERED("client_root_differs");
    ++stats_.roots_refused;
    return absl::FailedPreconditionError(absl::StrCat("the node's root is ", welcome_.root.ToHex(),
                                                      ", ours is ", options_.root.ToHex()));
  }
  phase_ = Phase::kUp;
  up_since_ = ports_.loop.Now();
  ports_.loop.Cancel(*timer_);
  timer_.reset();
  token_ = AccessToken();
  events_.OnSessionUp();
  return absl::OkStatus();
}

void Session::OnEndpointClosed(const absl::Status& why) {
  has_endpoint_ = false;
  End(absl::UnavailableError(absl::StrCat("the endpoint is closed: ", why.ToString())));
}

void Session::End(const absl::Status& why) {
  if (phase_ == Phase::kEnded) return;
  const char* const phase = NameOf(phase_);
  phase_ = Phase::kEnded;
  if (timer_.has_value()) ports_.loop.Cancel(*timer_);
  timer_.reset();
  channel_.reset();
  if (has_endpoint_) line_->transport().Close(endpoint_);
  has_endpoint_ = false;
  if (mapping_ != nullptr) mapping_->MarkLost(ports_.loop.Now());
  events_.OnSessionEnded(why, phase);
}

absl::Status Session::Send(wire::Type type, std::string body) {
  return line_->transport().Send(endpoint_, MessageType(static_cast<std::uint8_t>(type)),
                                 std::move(body));
}

absl::Status Session::SendBulk(wire::Type type, std::string header,
                               absl::Span<const std::byte> bytes,
                               absl::AnyInvocable<void(absl::Status)> done) {
  return line_->transport().SendBulk(endpoint_, MessageType(static_cast<std::uint8_t>(type)),
                                     std::move(header), bytes, std::move(done));
}

}  // namespace cairn
