#ifndef CAIRN_LIBS_LOCAL_SOCKET_SOCKET_CHANNEL_H_
#define CAIRN_LIBS_LOCAL_SOCKET_SOCKET_CHANNEL_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "libs/local_socket/unix_address.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"

namespace cairn {

// SocketChannel is a LocalChannel on a connected unix stream socket. Private to this library.
//
// Frame: u32 body bytes, u32 grants, body; little-endian. The frame's descriptors travel with its
// first byte. Descriptors that no frame claims are closed with the channel.
// Threads: one loop.
class SocketChannel : public LocalChannel {
 public:
  // The most grants of a message, out and in.
  struct GrantLimits {
    std::size_t sent_max = 0;
    std::size_t received_max = 0;
  };
  SocketChannel(Loop& loop, OwnedFd socket, GrantLimits grants);
  ~SocketChannel() override;
  void Start(absl::AnyInvocable<void(Message)> on_message,
             absl::AnyInvocable<void(absl::Status)> on_closed) override;
  absl::Status Send(Message message) override;
  PeerProcess peer() const override;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // also kept by the callback that runs
};

}  // namespace cairn
#endif  // CAIRN_LIBS_LOCAL_SOCKET_SOCKET_CHANNEL_H_
