#include "libs/placement_rpc/plan_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/log.h"
#include "libs/placement_rpc/reconnect.h"

namespace cairn {

namespace {

constexpr absl::Duration kLook = absl::Milliseconds(250);  // for a service that is away

}  // namespace

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
  Stop();
  thread_.join();
}

void PlanClient::Stop() {
  std::deque<Question> left;
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    left.swap(questions_);
    if (call_ != nullptr) call_->context.TryCancel();
    wake_.NotifyOne();
  }
  for (Question& question : left) question.done(Fallback(question.asked));
}

bool PlanClient::IsAway() { return is_lost_ || clock_.Now() < away_until_; }

void PlanClient::Ask(const CheckpointQuestion& question,
                     absl::AnyInvocable<void(CheckpointPlan)> done) {
  {
    MutexLock lock(mutex_);
    if (!is_stopping_ && !IsAway() && questions_.size() < options_.questions_max) {
      questions_.push_back({question, clock_.Now() + options_.timeout, std::move(done)});
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
      while (questions_.empty() && !is_stopping_) {
        if (!is_lost_) {
          wake_.Wait(mutex_);
          continue;
        }
        mutex_.Unlock();
        const bool is_back = Reconnect(*channel_, kLook);  // nobody is queued meanwhile
        mutex_.Lock();
        is_lost_ = !is_back;
      }
      if (is_stopping_) return;
      question = std::move(questions_.front());
      questions_.pop_front();
      // The question before it may have failed, or taken most of its time.
      is_asked = !IsAway() && question.until - clock_.Now() >= options_.timeout / 2;
      if (is_asked) call_ = &call;
    }
    CheckpointPlan plan;
    if (!is_asked || !CallService(call, question, plan)) plan = Fallback(question.asked);
    question.done(std::move(plan));
  }
}

bool PlanClient::CallService(Call& call, const Question& question, CheckpointPlan& plan) {
  const CheckpointQuestion& asked = question.asked;
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
                            absl::ToChronoMicroseconds(question.until - clock_.Now()));
  grpc::Status status =
      placement::v1::Placement::NewStub(channel_)->Plan(&call.context, request, &response);
  bool is_garbage = static_cast<std::uint64_t>(response.positions_size()) > options_.states_max;
  for (int i = 0; i < response.positions_size() && !is_garbage; ++i) {
    const std::uint64_t position = response.positions(i);
    is_garbage = position <= asked.resume_depth || position > asked.length || position % grid != 0;
    plan.positions.push_back(position);
  }
  {
    MutexLock lock(mutex_);
    call_ = nullptr;
    if (status.ok() && !is_garbage) {
      std::sort(plan.positions.begin(), plan.positions.end());
      plan.origin = PlanOrigin::kService;
      if (asked.family != 0) cache_.Remember(asked, grid, plan.positions);  // 0: anybody's
      return true;
    }
    if (is_stopping_) return false;
    is_lost_ = channel_->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_READY;
    away_until_ = clock_.Now() + options_.away_for;
  }
  if (status.ok()) {
    Complain("placement_refused", "it answers positions that cannot be");
  } else {
    const bool is_ours = status.error_code() == grpc::StatusCode::INVALID_ARGUMENT;
    Complain(is_ours ? "placement_refused" : "placement_away", status.error_message());
  }
  return false;
}

void PlanClient::Complain(absl::string_view event, const std::string& why) {
  static LogLimiter limiter(absl::Seconds(10));
  std::uint64_t held = 0;
  if (!limiter.Admit(&held)) return;
  LogEvent(LogLevel::kWarning, event)
      .With("why", why)
      .With("effect", "cached plans, then balanced ones")
      .With("held_back", held);
}

}  // namespace cairn
