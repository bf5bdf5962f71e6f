#ifndef CAIRN_TOOLS_BENCH_BENCH_CLIENT_H_
#define CAIRN_TOOLS_BENCH_BENCH_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/client/cache_client.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/ports/memory.h"

namespace cairn::bench {

// BenchClient is libs/client as a worker uses it, on a loop that others may share, with a session
// of a bench's own identity: clients with equal `block_bytes` see the same entries.
// Threads: made, asked and destroyed from outside the loop; `client()` on the loop only.
class BenchClient {
 public:
  struct Options {
    std::string run_dir;       // of the node on this host: its token, its socket
    std::string peer_address;  // not empty: the session goes there instead, over tcp
    std::uint64_t block_bytes = 0;
    OwnedMemory* pool = nullptr;  // required on the same host; over tcp not used
    std::uint64_t offered_bytes_max = 0;
  };
  // Waits for a session. `memory` and `loop` outlive it.
  static absl::StatusOr<std::unique_ptr<BenchClient>> Open(AsioLoop& loop, MemorySource& memory,
                                                           const Options& options);
  ~BenchClient();  // ends the session
  BenchClient(const BenchClient&) = delete;
  BenchClient& operator=(const BenchClient&) = delete;

  CacheClient& client() { return *client_; }

  // Stores blocks, and returns when the node has them all. UNAVAILABLE names the first that it
  // refused.
  absl::Status Store(std::vector<OfferBlock> blocks);
  // Asks for keys.
  AcquireAnswer Acquire(const std::vector<Key>& keys);
  static Instant Deadline();  // generous: none of a bench's calls should ever meet it

 private:
  BenchClient(AsioLoop& loop, MemorySource& memory, const Options& options)
      : loop_(loop), memory_(memory), options_(options) {}
  absl::Status Begin();
  void TellWhenUp(double until, Task done);

  AsioLoop& loop_;
  MemorySource& memory_;
  const Options options_;
  std::unique_ptr<ThreadCopier> copier_;
  std::unique_ptr<LocalDialer> dialer_;
  std::unique_ptr<CacheClient> client_;
};

// The key of a bench's n-th block.
Key KeyOf(std::uint64_t number);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_BENCH_CLIENT_H_
