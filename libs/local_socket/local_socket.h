#ifndef CAIRN_LIBS_LOCAL_SOCKET_LOCAL_SOCKET_H_
#define CAIRN_LIBS_LOCAL_SOCKET_LOCAL_SOCKET_H_

#include <memory>
#include <string>

#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"

namespace cairn {

struct SocketListenerOptions {
  std::string path;              // of any length
  bool serves_all_uids = false;  // the socket's mode: 0666 if so, else 0600
};

// A LocalListener on a unix stream socket. Start replaces the socket of a process that was killed;
// ALREADY_EXISTS if a live one listens at `path`, and no file of another kind is ever removed.
std::unique_ptr<LocalListener> NewSocketListener(Loop& loop, const SocketListenerOptions& options);

// Dials a unix socket at `path` (of any length).
std::unique_ptr<LocalDialer> NewSocketDialer(Loop& loop, const std::string& path);

}  // namespace cairn
#endif  // CAIRN_LIBS_LOCAL_SOCKET_LOCAL_SOCKET_H_
