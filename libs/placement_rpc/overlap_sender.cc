#include "libs/placement_rpc/overlap_sender.h"

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

struct OverlapSender::Call {
  grpc::ClientContext context;
};

OverlapSender::OverlapSender(const Options& options, Loop& loop,
                             std::shared_ptr<grpc::Channel> channel)
    : options_(options), loop_(loop), channel_(std::move(channel)), away_until_(loop.Now()) {
  thread_ = std::thread([this] { Run(); });
}

OverlapSender::~OverlapSender() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    if (has_timer_) loop_.Cancel(timer_);
    if (call_ != nullptr) call_->context.TryCancel();
    wake_.NotifyOne();
  }
  thread_.join();
}

void OverlapSender::Report(const Overlap& overlap) {
  MutexLock lock(mutex_);
  if (queue_.size() >= options_.queue_max) {
    ++stats_.dropped;
    return;
  }
  queue_.push_back(overlap);
  if (!has_timer_ && !is_due_) ArmTimer();
}

void OverlapSender::ArmTimer() {
  has_timer_ = true;
  timer_ = loop_.RunAt(std::max(loop_.Now() + options_.gather, away_until_), [this] { OnTimer(); });
}

void OverlapSender::OnTimer() {
  MutexLock lock(mutex_);
  has_timer_ = false;
  // A batch is under way, and if it fails the next one waits for longer.
  if (call_ != nullptr || loop_.Now() < away_until_) return ArmTimer();
  is_due_ = true;
  wake_.NotifyOne();
}

OverlapSenderStats OverlapSender::stats() const {
  MutexLock lock(mutex_);
  OverlapSenderStats stats = stats_;
  stats.queued = queue_.size() + in_call_;
  return stats;
}

void OverlapSender::Run() {
  for (;;) {
    Call call;
    std::vector<Overlap> batch;
    {
      MutexLock lock(mutex_);
      while (!is_due_ && !is_stopping_) {
        if (!is_lost_) {
          wake_.Wait(mutex_);
          continue;
        }
        mutex_.Unlock();
        const bool is_back = Reconnect(*channel_, kLook);
        mutex_.Lock();
        is_lost_ = !is_back;
      }
      if (is_stopping_) return;
      is_due_ = false;
      batch.swap(queue_);
      call_ = &call;
      in_call_ = batch.size();
    }
    Send(call, batch);
  }
}

void OverlapSender::Send(Call& call, const std::vector<Overlap>& batch) {
  placement::v1::ObserveRequest request;
  for (const Overlap& overlap : batch) {
    placement::v1::Observation& out = *request.add_observations();
    out.set_family(overlap.family);
    out.set_entry_id(overlap.entry);
    out.set_entry_length(overlap.entry_length);
    out.set_overlap_depth(overlap.depth);
    out.set_request_length(overlap.request_length);
    out.set_request_entry_id(overlap.request_entry);
    out.set_served(overlap.was_served);
    out.set_censored(overlap.is_censored);
  }
  call.context.set_deadline(std::chrono::system_clock::now() +
                            absl::ToChronoMilliseconds(options_.timeout));
  placement::v1::ObserveResponse response;
  const auto stub = placement::v1::Placement::NewStub(channel_);
  const auto stream = stub->Observe(&call.context, &response);
  stream->Write(request);  // what fails here is told by Finish
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  {
    MutexLock lock(mutex_);
    call_ = nullptr;
    in_call_ = 0;
    if (status.ok()) {
      stats_.sent += response.taken();
      stats_.refused += response.refused();
      return;
    }
    stats_.dropped += batch.size();
    if (is_stopping_) return;
    is_lost_ = channel_->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_READY;
    away_until_ = loop_.Now() + options_.away_for;
  }
  static LogLimiter limiter(absl::Seconds(10));
  if (std::uint64_t held = 0; limiter.Admit(&held)) {
    LogEvent(LogLevel::kWarning, "placement_away")
        .With("why", status.error_message())
        .With("effect", "it does not learn where prompts part")
        .With("held_back", held);
  }
}

}  // namespace cairn
