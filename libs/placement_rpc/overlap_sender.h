#ifndef CAIRN_LIBS_PLACEMENT_RPC_OVERLAP_SENDER_H_
#define CAIRN_LIBS_PLACEMENT_RPC_OVERLAP_SENDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "libs/base/instant.h"
#include "libs/base/mutex.h"
#include "libs/ports/loop.h"
#include "libs/ports/overlap_sink.h"

namespace grpc {
class Channel;
}

namespace cairn {

struct OverlapSenderStats {
  std::uint64_t sent = 0;     // taken by the service
  std::uint64_t refused = 0;  // by the service, as garbage
  std::uint64_t dropped = 0;  // did not fit, or did not arrive
  std::uint64_t queued = 0;   // now, with those under way
};

// OverlapSender tells cairn-placement where prompts part, in batches, on a thread of its own. What
// is reported while the queue is full, and a batch that fails, is dropped: nothing waits for it.
// Threads: Report on the loop's; stats from any; destroyed on the loop's, or when it runs no more.
class OverlapSender : public OverlapSink {
 public:
  struct Options {
    std::size_t queue_max = 8192;
    absl::Duration gather = absl::Milliseconds(100);  // from the first of a batch to its sending
    absl::Duration timeout = absl::Seconds(2);        // of one
    absl::Duration away_for = absl::Seconds(1);       // after one that failed
  };
  OverlapSender(const Options& options, Loop& loop, std::shared_ptr<grpc::Channel> channel);
  ~OverlapSender() override;  // what is not sent yet is dropped

  void Report(const Overlap& overlap) override;
  OverlapSenderStats stats() const;

 private:
  struct Call;
  void Run();
  void ArmTimer() CAIRN_REQUIRES(mutex_);
  void OnTimer();
  void Send(Call& call, const std::vector<Overlap>& batch);

  const Options options_;
  Loop& loop_;
  const std::shared_ptr<grpc::Channel> channel_;
  mutable Mutex mutex_;
  CondVar wake_;
  std::vector<Overlap> queue_ CAIRN_GUARDED_BY(mutex_);
  OverlapSenderStats stats_ CAIRN_GUARDED_BY(mutex_);
  Call* call_ CAIRN_GUARDED_BY(mutex_) = nullptr;     // under way
  std::size_t in_call_ CAIRN_GUARDED_BY(mutex_) = 0;  // reports
  Instant away_until_ CAIRN_GUARDED_BY(mutex_);
  TimerId timer_ CAIRN_GUARDED_BY(mutex_);
  bool has_timer_ CAIRN_GUARDED_BY(mutex_) = false;  // set while something is being gathered
  bool is_due_ CAIRN_GUARDED_BY(mutex_) = false;
  bool is_lost_ CAIRN_GUARDED_BY(mutex_) = false;  // the connection: the thread looks for it
  bool is_stopping_ CAIRN_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PLACEMENT_RPC_OVERLAP_SENDER_H_
