#ifndef CAIRN_LIBS_LOCAL_LOOPBACK_LOCAL_HUB_H_
#define CAIRN_LIBS_LOCAL_LOOPBACK_LOCAL_HUB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "libs/base/rng.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"

namespace cairn {

// LocalHub is the simulated twin of local_socket: one host's unix sockets, for processes whose
// loops share one thread (loop_manual). A process is known by its loop.
//
// Order:   messages of a channel keep theirs; each takes up to `delay_max`, as does the end.
// Threads: one.
// Ownership: outlives its listeners, dialers and channels.
class LocalHub {
 public:
  struct Options {
    std::uint64_t seed = 1;
    absl::Duration delay_max = absl::Microseconds(20);
  };
  explicit LocalHub(const Options& options);
  ~LocalHub();
  LocalHub(const LocalHub&) = delete;
  LocalHub& operator=(const LocalHub&) = delete;

  // `self` is what peers of its channels see as peer(). Start fails if another one that lives is
  // bound to `path`; one of a crashed process is replaced.
  std::unique_ptr<LocalListener> NewListener(Loop& loop, absl::string_view path, PeerProcess self);
  std::unique_ptr<LocalDialer> NewDialer(Loop& loop, absl::string_view path, PeerProcess self);

  // kill -9 of the process on `loop`: its channels and listeners end; peers still get what was on
  // the way, then on_closed. Crash the loop as well.
  void Crash(const Loop& loop);
  // Ends every channel of the process on `loop`, as a fault of the host would; both sides see it.
  void BreakChannels(const Loop& loop);

 private:
  friend class LoopbackListener;
  friend class LoopbackDialer;
  friend class LoopbackChannel;
  struct Listening;
  struct End;

  absl::StatusOr<std::unique_ptr<LocalChannel>> Dial(Loop& loop, const std::string& path,
                                                     PeerProcess self);
  // Runs on the loop of `end`, after a delay that keeps the channel's order.
  void Schedule(const std::shared_ptr<End>& end);
  void Deliver(const std::shared_ptr<End>& end);
  // What the other end sees of this one's close or death.
  void Hang(const std::shared_ptr<End>& end, const absl::Status& why);

  const absl::Duration delay_max_;
  Rng rng_;
  absl::flat_hash_map<std::string, std::shared_ptr<Listening>> listening_;
  std::vector<std::weak_ptr<End>> ends_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_LOCAL_LOOPBACK_LOCAL_HUB_H_
