#include "libs/placement_rpc/plan_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/log.h"

namespace cairn {

struct PlanClient::Call {
  grpc::ClientContext context;
};

PlanClient::PlanClient(const Options& options, const Loop& clock,
                       std::shared_ptr<grpc::Channel> channel)
    : options_(options),
      clock_(clock),
      channel_(std::move(channel)),
      cache_(options.plans_max),
      away_until_(clock.Now()) {
  channel_->GetState(/*try_to_connect=*/true);
  thread_ = std::thread([this] { Run(); });
}

PlanClient::~PlanClient() {
  std::deque<Question> left;
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    left.swap(questions_);
    if (call_ != nullptr) call_->context.TryCancel();
    wake_.NotifyOne();
  }
  thread_.join();
  for (Question& question : left) question.done(Fallback(question.asked));
}

bool PlanClient::IsAway() { return clock_.Now() < away_until_; }

void PlanClient::Ask(const CheckpointQuestion& question,
                     absl::AnyInvocable<void(CheckpointPlan)> done) {
  {
    MutexLock lock(mutex_);
    if (!is_stopping_ && questions_.size() < options_.questions_max) {
      questions_.push_back({question, std::move(done)});
      wake_.NotifyOne();
      return;
    }
  }
  done(Fallback(question));
}

CheckpointPlan PlanClient::Fallback(const CheckpointQuestion& question) {
  MutexLock lock(mutex_);
  if (auto known = cache_.Recall(question, options_.grid_tokens); known.has_value()) {
    return {.positions = *std::move(known), .origin = PlanOrigin::kCached};
  }
  return {.positions = BalancedPositions(question, options_.grid_tokens, options_.states_max),
          .origin = PlanOrigin::kBalanced};
}

void PlanClient::Run() {
  for (;;) {
    Question question;
    Call call;
    bool is_asked = false;
    {
      MutexLock lock(mutex_);
      while (questions_.empty() && !is_stopping_) wake_.Wait(mutex_);
      if (is_stopping_) return;
      question = std::move(questions_.front());
      questions_.pop_front();
      is_asked = !IsAway();  // it may have failed the question before this one
      if (is_asked) call_ = &call;
    }
    CheckpointPlan plan;
    if (!is_asked || !CallService(call, question.asked, plan)) plan = Fallback(question.asked);
    question.done(std::move(plan));
  }
}

bool PlanClient::CallService(Call& call, const CheckpointQuestion& asked, CheckpointPlan& plan) {
  const std::uint64_t grid = options_.grid_tokens;
  placement::v1::PlanRequest request;
  request.set_family(asked.family);
  request.set_length(asked.length);
  request.set_resume_depth(asked.resume_depth / grid * grid);
  request.set_shared_depth(asked.shared_depth);
  request.set_budget(options_.states_max);
  request.set_grid(grid);
  placement::v1::PlanResponse response;
  call.context.set_deadline(std::chrono::system_clock::now() +
                            absl::ToChronoMilliseconds(options_.timeout));
  const grpc::Status status =
      placement::v1::Placement::NewStub(channel_)->Plan(&call.context, request, &response);
  MutexLock lock(mutex_);
  call_ = nullptr;
  if (!status.ok()) {
    Complain(status.error_message());
    return false;
  }
  plan.origin = PlanOrigin::kService;
  for (const std::uint64_t position : response.positions()) {
    // Whatever it says, no state can be elsewhere.
    if (position > asked.resume_depth && position <= asked.length) {
      plan.positions.push_back(position);
    }
  }
  std::sort(plan.positions.begin(), plan.positions.end());
  cache_.Remember(asked, grid, plan.positions);
  return true;
}

void PlanClient::Complain(const std::string& why) {
  away_until_ = clock_.Now() + options_.away_for;
  static LogLimiter limiter(absl::Seconds(10));
  std::uint64_t held = 0;
  if (is_stopping_ || !limiter.Admit(&held)) return;
  LogEvent(LogLevel::kWarning, "placement_away")
      .With("why", why)
      .With("effect", "cached plans, then balanced ones")
      .With("held_back", held);
}

}  // namespace cairn
