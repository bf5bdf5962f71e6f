#ifndef CAIRN_LIBS_TRANSPORT_UCX_UCX_LINK_H_
#define CAIRN_LIBS_TRANSPORT_UCX_UCX_LINK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/ports/loop.h"
#include "libs/ports/transport.h"
#include "libs/transport_ucx/ucx_frame.h"

struct ucp_ep;

namespace cairn {

class UcxTransportImpl;

// How a link came to be, which decides who speaks first (ucx_introduce.cc).
enum class LinkRole : std::uint8_t {
  kFollower,  // ours by Connect, smaller instance id: makes the UCX endpoint and introduces itself
  kDialler,   // ours by Dial: the same, to a stranger
  kLeader,    // ours by Connect, larger instance id: waits for the follower's introduction
  kStranger,  // made by a peer; unknown to our owner until it is introduced
};

enum class LinkState : std::uint8_t {
  kIntroducing,  // the peer's token is not known yet: what is sent waits in the outbox
  kOpen,
  kClosing,  // a BYE is out; waits for the peer's, or for `kByeMax`
  kClosed,   // the UCX endpoint is closed; waits until UCX has given all loans back
};

// Something to send: a message or a bulk.
struct Outgoing {
  FrameKind kind = FrameKind::kMessage;
  MessageType type;
  std::string body;  // a message's body, a bulk's header
  absl::Span<const std::byte> bytes;
  absl::AnyInvocable<void(absl::Status)> done;  // bulks
};

// One endpoint. Lives until its owner has heard OnClosed and UCX holds nothing of it.
struct Link {
  UcxTransportImpl* transport = nullptr;
  EndpointId id;
  LinkRole role = LinkRole::kStranger;
  LinkState state = LinkState::kIntroducing;
  ucp_ep* ep = nullptr;
  std::uint64_t token = 0;       // the peer addresses us by it
  std::uint64_t peer_token = 0;  // we address the peer by it; 0: not known yet
  std::string peer_instance;     // empty for dialled links
  bool is_visible = false;       // our owner knows `id`
  bool has_failed = false;       // UCX reported an error
  bool is_bye_sent = false;      // UCX is done with our BYE
  bool is_bye_received = false;
  absl::Status why;  // for OnClosed; OK if our owner closed first
  bool is_why_set = false;

  std::deque<Outgoing> outbox;
  std::size_t queued_bytes = 0;  // control bytes in the outbox or held by UCX
  std::size_t bulks = 0;         // sends and landings that run
  std::size_t operations = 0;    // requests that UCX has not completed
  std::uint32_t sent_count = 0;
  std::uint32_t received_count = 0;
  TimerId timer;  // introduction or BYE overdue
  bool has_timer = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_UCX_UCX_LINK_H_
