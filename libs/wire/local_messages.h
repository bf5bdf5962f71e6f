#ifndef CAIRN_LIBS_WIRE_LOCAL_MESSAGES_H_
#define CAIRN_LIBS_WIRE_LOCAL_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/base/ids.h"
#include "libs/wire/messages.h"

// The hand-shake on the local channel, which turns "same host" into a session:
//
//   node   -> LocalChallenge                     on connect
//   client -> LocalProof     + grant of its pool (or none)
//   node   -> LocalWelcome   + grants of the arena's segments, kLocalGrantsMax a message at most:
//             the rest follows in LocalSegments messages
//          or LocalRefused
// after which the client makes its endpoint to `transport_address` and sends HELLO with `ticket`.
// Either side proves that it knows the token, so neither a stranger's node nor a stranger's client
// gets a descriptor. The channel stays open: its end is the end of the session.
// Bodies begin with a type byte; otherwise the form of messages.h.
namespace cairn::wire {

struct LocalChallenge {
  std::uint32_t version = kWireVersion;
  BootId node_boot;
  std::string node_nonce;  // kNonceBytes
  friend bool operator==(const LocalChallenge&, const LocalChallenge&) = default;
};

// Shared memory between unequal uids cannot be set up by UCX [measured, design deps.md part 3], so
// then messages go over tcp on lo; bulk bytes go through the granted memory either way. Both ends
// see the other's uid (LocalChannel::peer) and so agree; a proof of the other profile is refused.
enum class LocalProfile : std::uint8_t { kSameUser = 0, kOtherUser = 1 };

struct LocalProof {
  std::string token_id;
  std::string client_nonce;       // kNonceBytes
  LocalProfile profile = LocalProfile::kSameUser;
  std::string transport_address;  // of the client's worker of that profile
  std::uint64_t pool_bytes = 0;   // 0: no pool is granted with this message
  Digest256 mac;
  friend bool operator==(const LocalProof&, const LocalProof&) = default;
};

struct LocalSegment {
  SegmentId segment;
  std::uint64_t bytes = 0;        // of the whole mapping
  std::uint64_t words_bytes = 0;  // the table of slot words at its start; slots come after
  friend bool operator==(const LocalSegment&, const LocalSegment&) = default;
};

struct LocalWelcome {
  Digest256 mac;                  // the node's proof, over the client's nonce
  std::string ticket;             // kTicketBytes; good for one HELLO
  BootId arena_boot;
  std::string transport_address;
  std::uint32_t segments_total = 0;
  std::vector<LocalSegment> segments;  // one grant each, in order
  friend bool operator==(const LocalWelcome&, const LocalWelcome&) = default;
};
struct LocalSegments {
  std::vector<LocalSegment> segments;  // one grant each, in order
  friend bool operator==(const LocalSegments&, const LocalSegments&) = default;
};

struct LocalRefused {
  WelcomeResult result = WelcomeResult::kBadToken;
  std::string message;
  friend bool operator==(const LocalRefused&, const LocalRefused&) = default;
};

enum class LocalType : std::uint8_t {
  kChallenge = 1,
  kProof = 2,
  kWelcome = 3,
  kSegments = 4,
  kRefused = 5,
};

// The type of a body; INVALID_ARGUMENT if it is empty or unknown.
absl::StatusOr<LocalType> LocalTypeOf(absl::string_view body);

std::string Encode(const LocalChallenge& m);
std::string Encode(const LocalProof& m);
std::string Encode(const LocalWelcome& m);
std::string Encode(const LocalSegments& m);
std::string Encode(const LocalRefused& m);
absl::StatusOr<LocalChallenge> DecodeLocalChallenge(absl::string_view body);
absl::StatusOr<LocalProof> DecodeLocalProof(absl::string_view body);
absl::StatusOr<LocalWelcome> DecodeLocalWelcome(absl::string_view body);
absl::StatusOr<LocalSegments> DecodeLocalSegments(absl::string_view body);
absl::StatusOr<LocalRefused> DecodeLocalRefused(absl::string_view body);

// mac of LocalProof: HMAC(token, "cairn.local.client.v1\0" node_boot node_nonce client_nonce
//                         u8(profile) lp(transport_address) u64(pool_bytes))
Digest256 LocalClientMac(absl::string_view token, const LocalChallenge& challenge,
                         const LocalProof& proof);
// mac of LocalWelcome: HMAC(token, "cairn.local.node.v1\0" node_nonce client_nonce ticket
//                           lp(transport_address))
Digest256 LocalNodeMac(absl::string_view token, const LocalChallenge& challenge,
                       const LocalProof& proof, const LocalWelcome& welcome);

}  // namespace cairn::wire
#endif  // CAIRN_LIBS_WIRE_LOCAL_MESSAGES_H_
