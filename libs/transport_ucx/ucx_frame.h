#ifndef CAIRN_LIBS_TRANSPORT_UCX_UCX_FRAME_H_
#define CAIRN_LIBS_TRANSPORT_UCX_UCX_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cairn {

// The active-message id of all our frames. Every other id that fits UCX's header has a handler that
// drops and counts: UCX 1.13 looks up one that has none beyond its table's end, or in entries that
// were never initialised, so a peer could crash us with one number.
inline constexpr unsigned kUcxFrameId = 0;
inline constexpr unsigned kUcxIdMax = 65535;

enum class FrameKind : std::uint8_t {
  kIntroduce = 1,  // eager: an Introduction; the token is 0
  kWelcome,        // eager: u64, the token under which the sender wants to be addressed
  kMessage,        // eager: a message's body
  kBulk,           // rendezvous: a bulk's bytes, its header behind the frame header
  kEmptyBulk,      // eager: a bulk of no bytes
  kBye,            // eager: nothing more comes; with token 0 an Introduction that is taken back
};

// What stands at the head of every active message's header. A frame is addressed by `token`, a
// random number that the receiver chose for this one endpoint and told its peer only.
struct FrameHeader {
  FrameKind kind = FrameKind::kMessage;
  std::uint8_t type = 0;       // a MessageType
  std::uint32_t sequence = 0;  // kMessage: counts the endpoint's messages
  std::uint64_t token = 0;
};
inline constexpr std::size_t kFrameHeaderBytes = 20;

std::string EncodeFrameHeader(const FrameHeader& header, absl::string_view bulk_header);
// Hostile input. `bulk_header` becomes a view of what follows the frame header.
std::optional<FrameHeader> DecodeFrameHeader(absl::string_view bytes,
                                             absl::string_view* bulk_header);

inline constexpr std::size_t kInstanceBytes = 16;

// Body of kIntroduce, and of a kBye that takes one back.
struct Introduction {
  std::string to_instance;  // what the receiver's Address() said; empty: it was dialled
  std::string from_instance;
  std::uint64_t token = 0;     // under which the sender wants to be addressed
  std::string worker_address;  // kSameHost: where the receiver's endpoint leads back to
};
std::string EncodeIntroduction(const Introduction& introduction);
std::optional<Introduction> DecodeIntroduction(absl::string_view bytes);

// What Address() gives and Connect takes.
struct UcxAddress {
  std::uint8_t profile = 0;
  std::string instance;
  std::string worker_address;
  std::string socket_address;  // "host:port"; empty where the profile has no sockets
};
std::string EncodeUcxAddress(const UcxAddress& address);
std::optional<UcxAddress> DecodeUcxAddress(absl::string_view bytes);

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_UCX_UCX_FRAME_H_
