#ifndef CAIRN_LIBS_CLIENT_HELD_PIN_H_
#define CAIRN_LIBS_CLIENT_HELD_PIN_H_

#include <cstdint>
#include <memory>

#include "libs/base/ids.h"
#include "libs/base/strong_id.h"
#include "libs/ports/loop.h"

namespace cairn {

// Counts a client's sessions; pins and places mean nothing in another one.
using SessionSerial = StrongId<struct SessionSerialTag, std::uint64_t>;

// Where a HeldPin reports its end. The client's; read on its loop only.
class PinReleaser {
 public:
  virtual ~PinReleaser() = default;
  virtual void ReleasePin(SessionSerial session, PinId pin) = 0;
};
struct PinHome {
  Loop& loop;
  PinReleaser* releaser = nullptr;  // nullptr once the client is gone. On the loop only.
};

// HeldPin owns the pin of an ACQUIRE. While it lives (and at most `pin_age_max`, and as long as the
// session) the node does not reuse the slots: a check after a step then finds them unchanged. It
// makes a throw-away rare; correctness is StillValid's alone. Dropping it releases: the message
// rides on the next ACQUIRE or goes a few ms later.
// Move-only. Threads: any, one at a time. The loop outlives it; the client need not.
class HeldPin {
 public:
  HeldPin() = default;
  HeldPin(std::shared_ptr<PinHome> home, SessionSerial session, PinId pin)
      : home_(std::move(home)), session_(session), pin_(pin) {}
  HeldPin(HeldPin&& other) noexcept;
  HeldPin& operator=(HeldPin&& other) noexcept;
  ~HeldPin() { Release(); }

  bool is_held() const { return home_ != nullptr; }
  SessionSerial session() const { return session_; }
  PinId pin() const { return pin_; }
  void Release();

 private:
  std::shared_ptr<PinHome> home_;
  SessionSerial session_;
  PinId pin_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_HELD_PIN_H_
