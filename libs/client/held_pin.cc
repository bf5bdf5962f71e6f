#include "libs/client/held_pin.h"

#include <utility>

namespace cairn {

HeldPin::HeldPin(HeldPin&& other) noexcept
    : home_(std::move(other.home_)), session_(other.session_), pin_(other.pin_) {}

HeldPin& HeldPin::operator=(HeldPin&& other) noexcept {
  if (this != &other) {
    Release();
    home_ = std::move(other.home_);
    session_ = other.session_;
    pin_ = other.pin_;
  }
  return *this;
}

void HeldPin::Release() {
  if (home_ == nullptr) return;
  Loop& loop = home_->loop;
  loop.Post([home = std::move(home_), session = session_, pin = pin_] {
    if (home->releaser != nullptr) home->releaser->ReleasePin(session, pin);
  });
  home_ = nullptr;
}

}  // namespace cairn
