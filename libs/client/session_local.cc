// The half of a session's set-up that goes over the local channel.
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/client/session.h"

namespace cairn {
namespace {

absl::Status OutOfTurn(wire::LocalType type) {
  return absl::InvalidArgumentError(
      absl::StrCat("local message ", static_cast<int>(type), " out of turn"));
}

}  // namespace

absl::Status Session::Dial() {
  phase_ = Phase::kDial;
  CAIRN_ASSIGN_OR_RETURN(channel_, ports_.dialer->Dial());
  phase_ = Phase::kChallenge;
  channel_->Start(
      [this](LocalChannel::Message message) {
        const absl::Status heard = OnLocal(std::move(message));
        if (!heard.ok()) End(heard);
      },
      [this](absl::Status why) {
        End(absl::UnavailableError(
            absl::StrCat("the local channel is closed: ", why.ToString())));
      });
  return absl::OkStatus();
}

absl::Status Session::OnLocal(LocalChannel::Message message) {
  CAIRN_ASSIGN_OR_RETURN(const wire::LocalType type, wire::LocalTypeOf(message.body));
  switch (type) {
    case wire::LocalType::kRefused: {
      CAIRN_ASSIGN_OR_RETURN(const wire::LocalRefused refused,
                             wire::DecodeLocalRefused(message.body));
      return absl::UnauthenticatedError(absl::StrCat("the node refused: ", refused.message));
    }
    case wire::LocalType::kChallenge:
      if (phase_ != Phase::kChallenge) return OutOfTurn(type);
      return OnLocalChallenge(message.body);
    case wire::LocalType::kWelcome:
      if (phase_ != Phase::kLocalWelcome) return OutOfTurn(type);
      return OnLocalWelcome(message);
    case wire::LocalType::kSegments:
      if (phase_ != Phase::kSegments) return OutOfTurn(type);
      return OnLocalSegments(message);
    case wire::LocalType::kProof: break;
  }
  return OutOfTurn(type);
}

absl::Status Session::OnLocalChallenge(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(local_challenge_, wire::DecodeLocalChallenge(body));
  const bool is_same_user = channel_->peer().uid == options_.own_uid;
  CAIRN_ASSIGN_OR_RETURN(line_, events_.LineOf(is_same_user ? TransportProfile::kSameUser
                                                            : TransportProfile::kOtherUser));
  local_proof_ = wire::LocalProof{
      .token_id = token_.token_id,
      .client_nonce = RandomBytes(wire::kNonceBytes),
      .profile = is_same_user ? wire::LocalProfile::kSameUser : wire::LocalProfile::kOtherUser,
      .transport_address = line_->Address()};
  LocalChannel::Message answer;
  if (ports_.pool != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(MemoryGrant grant, ports_.pool->Grant());
    answer.grants.push_back(std::move(grant));
    local_proof_.pool_bytes = ports_.pool->bytes().size();
  }
  local_proof_.mac = wire::LocalClientMac(token_.token, local_challenge_, local_proof_);
  answer.body = wire::Encode(local_proof_);
  phase_ = Phase::kLocalWelcome;
  return channel_->Send(std::move(answer));
}

absl::Status Session::OnLocalWelcome(LocalChannel::Message& message) {
  CAIRN_ASSIGN_OR_RETURN(local_welcome_, wire::DecodeLocalWelcome(message.body));
  const Digest256 expected =
      wire::LocalNodeMac(token_.token, local_challenge_, local_proof_, local_welcome_);
  if (!EqualConstantTime(expected, local_welcome_.mac)) {
    return absl::UnauthenticatedError("the node does not know the token");
  }
  mapping_ = std::make_shared<ArenaMapping>(local_welcome_.arena_boot);
  phase_ = Phase::kSegments;
  CAIRN_RETURN_IF_ERROR(AddSegments(local_welcome_.segments, message.grants));
  return ConnectWhenMapped();
}

absl::Status Session::OnLocalSegments(LocalChannel::Message& message) {
  CAIRN_ASSIGN_OR_RETURN(const wire::LocalSegments more, wire::DecodeLocalSegments(message.body));
  if (more.segments.empty()) return absl::InvalidArgumentError("LocalSegments without a segment");
  CAIRN_RETURN_IF_ERROR(AddSegments(more.segments, message.grants));
  return ConnectWhenMapped();
}

absl::Status Session::AddSegments(const std::vector<wire::LocalSegment>& segments,
                                  std::vector<MemoryGrant>& grants) {
  if (grants.size() != segments.size() ||
      mapping_->segments() + segments.size() > local_welcome_.segments_total) {
    return absl::InvalidArgumentError(absl::StrCat(grants.size(), " grants for ", segments.size(),
                                                   " segments of ",
                                                   local_welcome_.segments_total));
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    CAIRN_RETURN_IF_ERROR(mapping_->Add(segments[i], std::move(grants[i]), *ports_.memory));
  }
  return absl::OkStatus();
}

absl::Status Session::ConnectWhenMapped() {
  if (mapping_->segments() < local_welcome_.segments_total) return absl::OkStatus();
  phase_ = Phase::kConnect;
  CAIRN_ASSIGN_OR_RETURN(endpoint_, line_->Connect(local_welcome_.transport_address));
  has_endpoint_ = true;
  return SayHello(local_welcome_.ticket);
}

}  // namespace cairn
