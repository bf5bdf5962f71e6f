#ifndef CAIRN_LIBS_CLIENT_CLIENT_OPTIONS_H_
#define CAIRN_LIBS_CLIENT_CLIENT_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "libs/base/ids.h"
#include "libs/base/units.h"
#include "libs/ports/copier.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"
#include "libs/ports/memory.h"
#include "libs/ports/transport.h"
#include "libs/wire/messages.h"

namespace cairn {

// What proves that this client may open a session: from OpenSession, or dev mode's token file.
struct AccessToken {
  std::string token_id;
  std::string token;
};
// Asked at each attempt, since a restarted node has another token. Calls `done` once, on any thread
// (inside the call too); never blocks. Called on the loop.
using TokenSource =
    absl::AnyInvocable<void(absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> done)>;

// Which transport a session's messages go by.
enum class TransportProfile : std::uint8_t {
  kSameUser = 0,   // this host, one uid: shared memory
  kOtherUser = 1,  // this host, unequal uids: tcp on lo
  kNetwork = 2,    // another host
};
// Makes the transport of a profile, once, when it is first needed. `receiver` outlives it.
using TransportFactory = absl::AnyInvocable<absl::StatusOr<std::unique_ptr<Transport>>(
    TransportProfile profile, TransportReceiver& receiver)>;

// What a client stands on. All references outlive it, and the loop every HeldPin.
struct ClientPorts {
  Loop& loop;
  Copier& copier;
  TransportFactory transports;
  // The node on this host …
  LocalDialer* dialer = nullptr;
  MemorySource* memory = nullptr;
  OwnedMemory* pool = nullptr;  // where offered blocks lie; nullptr: offers go as messages
  // … or, without a dialer, one elsewhere: "host:port", numeric.
  std::string remote_address;
};

struct ClientOptions {
  std::string peer_name;  // for logs: the socket's path, or the address
  TokenSource tokens;     // Required.

  // Who the keys belong to. `root` is the caller's own computation of it (libs/span): a node that
  // comes to another one is refused, since their keys would never meet.
  std::string producer;
  ModelIdentity identity;
  std::string name_space;
  std::string salt;
  std::uint32_t block_tokens = 0;
  std::uint64_t block_bytes = 0;  // 0: hits of any size
  Root root;

  std::uint32_t own_uid = 0;  // of this process; equal to the node's: TransportProfile::kSameUser
  std::uint64_t seed = 0;     // of the jitter between attempts
  absl::Duration attempt_timeout = absl::Seconds(5);  // one attempt, from token to WELCOME
  absl::Duration backoff_min = absl::Milliseconds(50);
  absl::Duration backoff_max = absl::Seconds(5);
  absl::Duration release_delay = absl::Milliseconds(5);  // how long a RELEASE waits for an ACQUIRE
  std::uint64_t offered_bytes_max = 0;  // on loan at once; 0: a quarter of the pool, or 256 MiB
  std::uint32_t calls_max = 4096;       // acquires and pulls in flight
  std::uint32_t verified_slots_max = 1 << 18;  // slots remembered as verified
};
inline constexpr std::uint64_t kOfferedBytesWithoutPool = 256 * kMiB;

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_CLIENT_OPTIONS_H_
