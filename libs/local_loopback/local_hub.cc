#include "libs/local_loopback/local_hub.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"

namespace cairn {

// One side of a channel. Kept by its channel and by the tasks that deliver to it.
struct LocalHub::End {
  Loop* loop = nullptr;
  PeerProcess self;
  PeerProcess peer_process;
  std::shared_ptr<End> peer;  // reset when either side ends: no cycle stays
  std::deque<LocalChannel::Message> inbox;
  std::size_t inbox_bytes = 0;
  Instant last_due;
  bool is_started = false;
  bool is_live = true;  // the channel exists and its process lives
  bool is_closed = false;
  absl::Status why;  // of is_closed; delivered after the inbox
  absl::AnyInvocable<void(LocalChannel::Message)> on_message;
  absl::AnyInvocable<void(absl::Status)> on_closed;
};

struct LocalHub::Listening {
  Loop* loop = nullptr;
  PeerProcess self;
  bool is_live = true;
  absl::AnyInvocable<void(std::unique_ptr<LocalChannel>)> on_channel;
};

class LoopbackChannel : public LocalChannel {
 public:
  LoopbackChannel(LocalHub& hub, std::shared_ptr<LocalHub::End> end, std::size_t grants_max)
      : hub_(hub), end_(std::move(end)), grants_max_(grants_max) {}
  ~LoopbackChannel() override {
    end_->is_live = false;
    hub_.Hang(end_, absl::UnavailableError("the peer closed the channel"));
  }
  void Start(absl::AnyInvocable<void(Message)> on_message,
             absl::AnyInvocable<void(absl::Status)> on_closed) override {
    CAIRN_CHECK(!end_->is_started) << "started twice";
    end_->is_started = true;
    end_->on_message = std::move(on_message);
    end_->on_closed = std::move(on_closed);
    const std::size_t waiting = end_->inbox.size() + (end_->is_closed ? 1 : 0);
    for (std::size_t i = 0; i < waiting; ++i) hub_.Schedule(end_);
  }
  absl::Status Send(Message message) override {
    if (message.body.size() > limits::kLocalMessageBytesMax ||
        message.grants.size() > grants_max_) {
      return absl::InvalidArgumentError("message over the local channel's limits");
    }
    const std::shared_ptr<LocalHub::End> peer = end_->peer;
    if (peer == nullptr || end_->is_closed || !end_->is_live) {
      return absl::UnavailableError("the channel is closing");
    }
    if (peer->inbox_bytes + message.body.size() > limits::kLocalQueuedBytesMax) {
      const absl::Status why = absl::ResourceExhaustedError("the peer does not read its channel");
      hub_.Hang(peer, why);
      hub_.Hang(end_, why);
      return why;
    }
    peer->inbox_bytes += message.body.size();
    peer->inbox.push_back(std::move(message));
    if (peer->is_started) hub_.Schedule(peer);
    return absl::OkStatus();
  }
  PeerProcess peer() const override { return end_->peer_process; }

 private:
  LocalHub& hub_;
  const std::shared_ptr<LocalHub::End> end_;
  const std::size_t grants_max_;  // of a message that it sends
};

class LoopbackListener : public LocalListener {
 public:
  LoopbackListener(LocalHub& hub, Loop& loop, std::string path, PeerProcess self)
      : hub_(hub), path_(std::move(path)), listening_(std::make_shared<LocalHub::Listening>()) {
    listening_->loop = &loop;
    listening_->self = self;
  }
  ~LoopbackListener() override {
    listening_->is_live = false;
    const auto it = hub_.listening_.find(path_);
    if (it != hub_.listening_.end() && it->second == listening_) hub_.listening_.erase(it);
  }
  absl::Status Start(absl::AnyInvocable<void(std::unique_ptr<LocalChannel>)> on_channel) override {
    auto& bound = hub_.listening_[path_];
    if (bound != nullptr && bound->is_live) {
      return absl::AlreadyExistsError(absl::StrCat(path_, ": another process listens here"));
    }
    listening_->on_channel = std::move(on_channel);
    bound = listening_;
    return absl::OkStatus();
  }

 private:
  LocalHub& hub_;
  const std::string path_;
  const std::shared_ptr<LocalHub::Listening> listening_;
};

class LoopbackDialer : public LocalDialer {
 public:
  LoopbackDialer(LocalHub& hub, Loop& loop, std::string path, PeerProcess self)
      : hub_(hub), loop_(loop), path_(std::move(path)), self_(self) {}
  absl::StatusOr<std::unique_ptr<LocalChannel>> Dial() override {
    return hub_.Dial(loop_, path_, self_);
  }

 private:
  LocalHub& hub_;
  Loop& loop_;
  const std::string path_;
  const PeerProcess self_;
};

LocalHub::LocalHub(const Options& options) : delay_max_(options.delay_max), rng_(options.seed) {}

LocalHub::~LocalHub() = default;

std::unique_ptr<LocalListener> LocalHub::NewListener(Loop& loop, absl::string_view path,
                                                     PeerProcess self) {
  return std::make_unique<LoopbackListener>(*this, loop, std::string(path), self);
}

std::unique_ptr<LocalDialer> LocalHub::NewDialer(Loop& loop, absl::string_view path,
                                                 PeerProcess self) {
  return std::make_unique<LoopbackDialer>(*this, loop, std::string(path), self);
}

absl::StatusOr<std::unique_ptr<LocalChannel>> LocalHub::Dial(Loop& loop, const std::string& path,
                                                             PeerProcess self) {
  const auto it = listening_.find(path);
  if (it == listening_.end() || !it->second->is_live) {
    return absl::UnavailableError(absl::StrCat(path, ": nobody listens"));
  }
  const std::shared_ptr<Listening> listening = it->second;
  auto near = std::make_shared<End>();
  auto far = std::make_shared<End>();
  near->loop = &loop;
  far->loop = listening->loop;
  near->self = far->peer_process = self;
  far->self = near->peer_process = listening->self;
  near->peer = far;
  far->peer = near;
  std::erase_if(ends_, [](const std::weak_ptr<End>& end) { return end.expired(); });
  ends_.push_back(near);
  ends_.push_back(far);
  // If the listener's process dies first, this task is destroyed with the channel in it: a close.
  listening->loop->Post([listening, channel = std::make_unique<LoopbackChannel>(
                                        *this, far, limits::kLocalGrantsMax)]() mutable {
    if (listening->is_live) listening->on_channel(std::move(channel));
  });
  return std::make_unique<LoopbackChannel>(*this, std::move(near),
                                           limits::kLocalGrantsToListenerMax);
}

void LocalHub::Schedule(const std::shared_ptr<End>& end) {
  if (!end->is_live) return;
  const auto delay_nanos = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(delay_max_));
  const Instant due = end->loop->Now() + absl::Nanoseconds(rng_.Between(0, delay_nanos));
  end->last_due = std::max(end->last_due, due);
  end->loop->RunAt(end->last_due, [this, end] { Deliver(end); });
}

void LocalHub::Deliver(const std::shared_ptr<End>& end) {
  if (!end->is_live) return;
  if (!end->inbox.empty()) {
    LocalChannel::Message message = std::move(end->inbox.front());
    end->inbox.pop_front();
    end->inbox_bytes -= message.body.size();
    end->on_message(std::move(message));
    return;
  }
  if (!end->is_closed || !end->on_closed) return;
  auto on_closed = std::exchange(end->on_closed, nullptr);
  on_closed(end->why);
}

void LocalHub::Hang(const std::shared_ptr<End>& end, const absl::Status& why) {
  const std::shared_ptr<End> peer = std::exchange(end->peer, nullptr);
  if (peer != nullptr) {
    peer->peer = nullptr;
    peer->is_closed = true;
    peer->why = why;
    if (peer->is_started) Schedule(peer);
  }
  if (end->is_live && !end->is_closed) {  // our own side lives on only if the channel broke
    end->is_closed = true;
    end->why = why;
    if (end->is_started) Schedule(end);
  }
}

void LocalHub::Crash(const Loop& loop) {
  for (auto& [path, listening] : listening_) {
    if (listening->loop == &loop) listening->is_live = false;
  }
  const std::vector<std::weak_ptr<End>> ends = ends_;
  for (const std::weak_ptr<End>& weak : ends) {
    const std::shared_ptr<End> end = weak.lock();
    if (end == nullptr || end->loop != &loop || !end->is_live) continue;
    end->is_live = false;
    Hang(end, absl::UnavailableError("the peer's process died"));
  }
}

void LocalHub::BreakChannels(const Loop& loop) {
  const std::vector<std::weak_ptr<End>> ends = ends_;
  for (const std::weak_ptr<End>& weak : ends) {
    const std::shared_ptr<End> end = weak.lock();
    if (end != nullptr && end->loop == &loop && end->is_live) {
      Hang(end, absl::UnavailableError("the channel broke"));
    }
  }
}

}  // namespace cairn
