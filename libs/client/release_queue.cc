#include "libs/client/release_queue.h"

#include <algorithm>
#include <utility>

#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/client/session.h"
#include "libs/wire/messages.h"

namespace cairn {

ReleaseQueue::~ReleaseQueue() { Clear(); }

void ReleaseQueue::Add(SessionSerial session, PinId pin) {
  if (context_.session == nullptr || context_.session->serial() != session) {
    CAIRN_COVERED("client_pin_of_old_session");
    ++context_.stats.pins_dropped;
    return;
  }
  pins_.push_back(pin);
  Arm();
}

void ReleaseQueue::AddNow(PinId pin) {
  pins_.push_back(pin);
  Flush();
}

std::vector<PinId> ReleaseQueue::Take() {
  const std::size_t count = std::min(pins_.size(), limits::kReleasesPerMessageMax);
  std::vector<PinId> taken(pins_.begin(), pins_.begin() + static_cast<std::ptrdiff_t>(count));
  pins_.erase(pins_.begin(), pins_.begin() + static_cast<std::ptrdiff_t>(count));
  context_.stats.pins_released += count;
  return taken;
}

void ReleaseQueue::PutBack(std::vector<PinId> pins) {
  if (pins.empty()) return;
  context_.stats.pins_released -= pins.size();
  pins_.insert(pins_.begin(), pins.begin(), pins.end());
  Arm();
}

void ReleaseQueue::Clear() {
  context_.stats.pins_dropped += pins_.size();
  pins_.clear();
  if (is_armed_) context_.loop.Cancel(timer_);
  is_armed_ = false;
}

void ReleaseQueue::Arm() {
  if (is_armed_) return;
  is_armed_ = true;
  timer_ = context_.loop.RunAt(context_.loop.Now() + context_.options.release_delay, [this] {
    is_armed_ = false;
    Flush();
  });
}

void ReleaseQueue::Flush() {
  while (!pins_.empty() && context_.session != nullptr) {
    std::vector<PinId> taken = Take();
    const absl::Status sent =
        context_.session->Send(wire::Type::kRelease, wire::Encode(wire::Release{taken}));
    if (!sent.ok()) {
      // Too much is queued, or the end of the session is on its way: then Clear comes.
      CAIRN_COVERED("client_release_not_sent");
      PutBack(std::move(taken));
      return;
    }
  }
}

}  // namespace cairn
