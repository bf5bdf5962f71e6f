#ifndef CAIRN_LIBS_ENGINE_CLIENT_BLOCK_CACHE_H_
#define CAIRN_LIBS_ENGINE_CLIENT_BLOCK_CACHE_H_

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "libs/base/mutex.h"
#include "libs/client/cache_client.h"
#include "libs/engine/block_cache.h"
#include "libs/ports/loop.h"

namespace cairn {

// ClientBlockCache is the engine's way to a node: it carries calls to the client's loop and answers
// back. Each callback comes once, by its timeout at the latest.
// Threads: Acquire and Offer from the engine's; callbacks on the client's loop.
// Ownership: the client and its loop outlive it, and every lease.
class ClientBlockCache : public BlockCache {
 public:
  struct Options {
    absl::Duration acquire_timeout = absl::Milliseconds(50);
    absl::Duration offer_timeout = absl::Seconds(10);
    absl::Duration remap_grace = absl::Seconds(5);  // how long blocks of a lost session may be read
  };
  ClientBlockCache(const Options& options, CacheClient& client, Loop& loop)
      : options_(options), client_(client), loop_(loop) {}
  // On the loop's thread, or when it has ended.
  ~ClientBlockCache() override;

  void Acquire(WantedBlocks wanted, absl::AnyInvocable<void(AcquiredBlocks)> done) override;
  bool takes_offers() const override { return client_.is_connected(); }
  void SetOnArenaLost(absl::AnyInvocable<void()> tell) override;
  void Offer(std::vector<OfferedBlock> blocks, absl::AnyInvocable<void()> done) override;

 private:
  AcquiredBlocks ToBlocks(AcquireAnswer answer);
  std::shared_ptr<const ArenaView> ViewOf(const std::shared_ptr<const ArenaMapping>& mapping);
  void OnArenaLost();

  const Options options_;
  CacheClient& client_;
  Loop& loop_;
  // Of the loop: the arena of the last hits.
  std::weak_ptr<const ArenaMapping> mapping_;
  std::weak_ptr<const ArenaView> view_;

  Mutex mutex_;
  absl::AnyInvocable<void()> tell_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_CLIENT_BLOCK_CACHE_H_
