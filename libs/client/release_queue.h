#ifndef CAIRN_LIBS_CLIENT_RELEASE_QUEUE_H_
#define CAIRN_LIBS_CLIENT_RELEASE_QUEUE_H_

#include <vector>

#include "libs/base/ids.h"
#include "libs/base/limits.h"
#include "libs/client/call_context.h"
#include "libs/ports/loop.h"

namespace cairn {

// ReleaseQueue holds the released pins of the live session until an ACQUIRE takes them along or
// `release_delay` has passed. Threads: the client's loop.
class ReleaseQueue {
 public:
  explicit ReleaseQueue(CallContext& context) : context_(context) {}
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;
  ~ReleaseQueue();

  // A pin that was dropped. Of another session than the live one: nothing is left to release.
  void Add(SessionSerial session, PinId pin);
  // A pin that nobody will hold: released without delay.
  void AddNow(PinId pin);
  // As many pins as one message carries, the oldest first, for an ACQUIRE to take along …
  std::vector<PinId> Take();
  // … and back, if it could not be sent.
  void PutBack(std::vector<PinId> pins);
  // More than a session can have pinned: the node made them up.
  bool is_full() const { return pins_.size() >= limits::kPinsPerSessionMax; }
  // The session ended; its pins with it.
  void Clear();

 private:
  void Arm();
  void Flush();

  CallContext& context_;
  std::vector<PinId> pins_;
  bool is_armed_ = false;
  TimerId timer_{};
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_RELEASE_QUEUE_H_
