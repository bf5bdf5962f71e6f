#include "libs/client/client_stats.h"

namespace cairn {

const char* NameOf(KeyResult result) {
  switch (result) {
    case KeyResult::kHit: return "hit";
    case KeyResult::kAbsent: return "absent";
    case KeyResult::kOffline: return "offline";
    case KeyResult::kLost: return "lost";
    case KeyResult::kDeadline: return "deadline";
    case KeyResult::kRefused: return "refused";
    case KeyResult::kBusy: return "busy";
    case KeyResult::kStale: return "stale";
    case KeyResult::kCorrupt: return "corrupt";
    case KeyResult::kPullFailed: return "pull_failed";
    case KeyResult::kIncomplete: return "incomplete";
  }
  return "unknown";
}

const char* NameOf(OfferResult result) {
  switch (result) {
    case OfferResult::kStored: return "stored";
    case OfferResult::kNoRoom: return "no_room";
    case OfferResult::kConflict: return "conflict";
    case OfferResult::kMalformed: return "malformed";
    case OfferResult::kLimit: return "limit";
    case OfferResult::kTorn: return "torn";
    case OfferResult::kFailed: return "failed";
    case OfferResult::kDeadline: return "deadline";
    case OfferResult::kDropped: return "dropped";
    case OfferResult::kOffline: return "offline";
    case OfferResult::kLost: return "lost";
    case OfferResult::kCapped: return "capped";
  }
  return "unknown";
}

}  // namespace cairn
