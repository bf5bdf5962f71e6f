#ifndef CAIRN_LIBS_PORTS_LOCAL_CHANNEL_H_
#define CAIRN_LIBS_PORTS_LOCAL_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/ports/memory.h"

namespace cairn {

// The process at the other end, as the kernel tells it. Zero in simulation unless a test sets it.
struct PeerProcess {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
};

// LocalChannel is a reliable, ordered stream of small messages between two processes on one host;
// a message may carry memory grants. It sets a session up, and its end is the end of the session:
// the kernel closes it the moment either process dies. Real: local_socket (unix socket).
// Simulated: local_loopback.
//
// Threads: one loop. The destructor closes; after it no callback comes.
// Limits:  a body of at most limits::kLocalMessageBytesMax; limits::kLocalGrantsMax grants, or
//          limits::kLocalGrantsToListenerMax from the side that dialled, which may be anybody. A
//          peer that sends more, or leaves a message half sent, is closed.
class LocalChannel {
 public:
  struct Message {
    std::string body;
    std::vector<MemoryGrant> grants;
  };
  virtual ~LocalChannel() = default;
  // Begins delivery: `on_message` per message, then `on_closed` once, last. Neither is called from
  // inside a call into the channel. The channel may be destroyed from inside either.
  virtual void Start(absl::AnyInvocable<void(Message)> on_message,
                     absl::AnyInvocable<void(absl::Status)> on_closed) = 0;
  // Queues a message; never blocks. An error means that the channel is closing.
  virtual absl::Status Send(Message message) = 0;
  virtual PeerProcess peer() const = 0;
};

// Accepts channels. Real: binds a unix socket path. Destruction stops accepting and removes it.
class LocalListener {
 public:
  virtual ~LocalListener() = default;
  virtual absl::Status Start(
      absl::AnyInvocable<void(std::unique_ptr<LocalChannel>)> on_channel) = 0;
};

// Opens channels to one fixed listener. Dial never blocks: UNAVAILABLE if nobody listens.
class LocalDialer {
 public:
  virtual ~LocalDialer() = default;
  virtual absl::StatusOr<std::unique_ptr<LocalChannel>> Dial() = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_LOCAL_CHANNEL_H_
