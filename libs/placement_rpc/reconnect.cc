#include "libs/placement_rpc/reconnect.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

namespace cairn {

bool Reconnect(grpc::Channel& channel, absl::Duration most) {
  return channel.WaitForConnected(std::chrono::system_clock::now() +
                                  absl::ToChronoMilliseconds(most));
}

}  // namespace cairn
