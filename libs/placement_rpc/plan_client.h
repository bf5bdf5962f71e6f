#ifndef CAIRN_LIBS_PLACEMENT_RPC_PLAN_CLIENT_H_
#define CAIRN_LIBS_PLACEMENT_RPC_PLAN_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "libs/base/instant.h"
#include "libs/base/mutex.h"
#include "libs/placement_rpc/plan_cache.h"
#include "libs/ports/loop.h"
#include "libs/ports/plan_source.h"

namespace grpc {
class Channel;
}

namespace cairn {

// PlanClient asks cairn-placement where states shall stand, one question at a time on a thread of
// its own, and answers without it when it is away, slow or asked too much.
// Threads: Ask from any. `done` runs on the client's thread, or inside Ask when too many wait.
class PlanClient : public PlanSource {
 public:
  struct Options {
    std::uint32_t states_max = 2;  // new states of a prompt
    std::uint32_t grid_tokens = 64;
    absl::Duration timeout = absl::Milliseconds(20);  // of one question, waiting included
    absl::Duration away_for = absl::Seconds(1);       // after a failure nobody is asked for so long
    std::size_t questions_max = 64;                   // waiting
    std::size_t plans_max = 4096;                     // cached
  };
  // `clock` is only asked for the time.
  PlanClient(const Options& options, const Loop& clock, std::shared_ptr<grpc::Channel> channel);
  ~PlanClient() override;  // Stop
  // Answers what still waits, and what is under way, without the service; all later questions, too.
  void Stop();

  void Ask(const CheckpointQuestion& question,
           absl::AnyInvocable<void(CheckpointPlan)> done) override;

 private:
  struct Call;
  struct Question {
    CheckpointQuestion asked;
    Instant until;  // then it is answered without the service
    absl::AnyInvocable<void(CheckpointPlan)> done;
  };
  void Run();
  // False: it did not answer, and is away for a while.
  bool CallService(Call& call, const Question& question, CheckpointPlan& plan);
  void Complain(absl::string_view event, const std::string& why);
  // Without the service.
  CheckpointPlan Fallback(const CheckpointQuestion& question);
  bool IsAway() CAIRN_REQUIRES(mutex_);

  const Options options_;
  const Loop& clock_;
  const std::shared_ptr<grpc::Channel> channel_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<Question> questions_ CAIRN_GUARDED_BY(mutex_);
  PlanCache cache_ CAIRN_GUARDED_BY(mutex_);
  Instant away_until_ CAIRN_GUARDED_BY(mutex_);
  Call* call_ CAIRN_GUARDED_BY(mutex_) = nullptr;  // under way
  bool is_lost_ CAIRN_GUARDED_BY(mutex_) = false;  // the connection: the thread looks for it
  bool is_stopping_ CAIRN_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PLACEMENT_RPC_PLAN_CLIENT_H_
