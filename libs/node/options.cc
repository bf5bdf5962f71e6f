#include "libs/node/options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/overlap/overlap_book.h"

namespace cairn {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

absl::Status ValidateArena(const NodeOptions& o) {
  if (o.segment_bytes < 2 * kPieceBytes || o.segment_bytes > limits::kSegmentBytesMax ||
      o.segment_bytes % kPieceBytes != 0) {
    return Bad("segment_bytes", absl::StrCat("a multiple of 4 KiB from 8 KiB to ",
                                             limits::kSegmentBytesMax, ", not ", o.segment_bytes));
  }
  if (o.arena_bytes == 0 || o.arena_bytes % o.segment_bytes != 0) {
    return Bad("arena_bytes", absl::StrCat("a multiple of segment_bytes (", o.segment_bytes,
                                           "), not ", o.arena_bytes));
  }
  const std::uint64_t segments = o.arena_bytes / o.segment_bytes;
  if (segments > limits::kArenaSegmentsMax) {
    return Bad("arena_bytes", absl::StrCat(segments, " segments, at most ",
                                           limits::kArenaSegmentsMax, ": raise segment_bytes"));
  }
  if (o.shards == 0 || o.shards > limits::kShardsMax || o.shards > segments) {
    return Bad("shards", absl::StrCat("from 1 to ", limits::kShardsMax,
                                      ", and not more than segments (", segments, ")"));
  }
  return absl::OkStatus();
}

absl::Status ValidateCount(absl::string_view field, std::uint64_t value, std::uint64_t most,
                           std::uint64_t least = 1) {
  if (value >= least && value <= most) return absl::OkStatus();
  return Bad(field, absl::StrCat("from ", least, " to ", most, ", not ", value));
}

}  // namespace

absl::Status Validate(const NodeOptions& o) {
  for (const absl::Status& status : {
           ValidateArena(o),
           ValidateCount("sessions_max", o.sessions_max, limits::kSessionsMax),
           ValidateCount("hello_pending_max", o.hello_pending_max, limits::kHelloPendingMax),
           ValidateCount("pool_bytes_max", o.pool_bytes_max, limits::kPoolBytesMax),
           ValidateCount("pins_per_session_max", o.pins_per_session_max,
                         limits::kPinsPerSessionMax),
           ValidateCount("offers_per_session_max", o.offers_per_session_max,
                         limits::kOpenOffersMax),
           ValidateCount("loans_max", o.loans_max, limits::kLoansMax),
           ValidateCount("sends_per_session_max", o.sends_per_session_max, limits::kSendsQueuedMax),
           ValidateCount("overlap_blocks_max", o.overlap_blocks_max, OverlapBook::kBlocksMax,
                         OverlapBook::kBlocksMin),
       }) {
    if (!status.ok()) return status;
  }
  for (const auto& [field, value] :
       {std::pair{"hello_deadline", o.hello_deadline}, std::pair{"pin_age_max", o.pin_age_max},
        std::pair{"remote_pin_age_max", o.remote_pin_age_max}, std::pair{"fill_max", o.fill_max}}) {
    if (value <= absl::ZeroDuration() || value > absl::Hours(24)) {
      return Bad(field, absl::StrCat("above 0 and at most 24h, not ", absl::FormatDuration(value)));
    }
  }
  return absl::OkStatus();
}

}  // namespace cairn
