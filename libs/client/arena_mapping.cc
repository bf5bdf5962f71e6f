#include "libs/client/arena_mapping.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"

namespace cairn {

absl::Status ArenaMapping::Add(const wire::LocalSegment& segment, MemoryGrant grant,
                               MemorySource& memory) {
  const std::size_t id = segment.segment.value();
  if (id >= limits::kArenaSegmentsMax) {
    return absl::InvalidArgumentError(absl::StrCat("segment ", id, " is beyond the limit"));
  }
  if (id < by_id_.size() && by_id_[id].memory != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("segment ", id, " came twice"));
  }
  // The slots need room after the table, and the words are read eight bytes at a time.
  if (segment.words_bytes == 0 || segment.words_bytes % kPieceBytes != 0 ||
      segment.words_bytes >= segment.bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "segment ", id, " has a table of ", segment.words_bytes, " bytes in ", segment.bytes));
  }
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<PeerMemory> mapped,
                         memory.Map(std::move(grant), limits::kSegmentBytesMax));
  if (mapped->bytes().size() != segment.bytes) {
    return absl::InvalidArgumentError(absl::StrCat("segment ", id, " is ", mapped->bytes().size(),
                                                   " bytes, not ", segment.bytes));
  }
  if (id >= by_id_.size()) by_id_.resize(id + 1);
  by_id_[id] = Segment{std::move(mapped), segment.words_bytes};
  ++count_;
  return absl::OkStatus();
}

std::optional<HitBlock> ArenaMapping::Locate(const wire::Descriptor& descriptor) const {
  const std::size_t id = descriptor.place.segment.value();
  if (id >= by_id_.size() || by_id_[id].memory == nullptr) return std::nullopt;
  const Segment& segment = by_id_[id];
  const absl::Span<const std::byte> all = segment.memory->bytes();
  const SlotWordsView words = SlotWordsView::Over(all.first(segment.words_bytes));
  if (descriptor.place.slot.value() >= words.size()) return std::nullopt;
  if (descriptor.offset < segment.words_bytes || descriptor.offset % kPieceBytes != 0) {
    return std::nullopt;
  }
  if (descriptor.bytes == 0 || descriptor.bytes > all.size() ||
      descriptor.offset > all.size() - descriptor.bytes) {
    return std::nullopt;
  }
  return HitBlock{.bytes = all.subspan(descriptor.offset, descriptor.bytes),
                  .in_place = true,
                  .words = words,
                  .slot = descriptor.place.slot,
                  .generation = descriptor.generation,
                  .checksum = descriptor.checksum,
                  .depth = descriptor.depth};
}

std::vector<absl::Span<const std::byte>> ArenaMapping::pieces() const {
  std::vector<absl::Span<const std::byte>> pieces;
  for (const Segment& segment : by_id_) {
    if (segment.memory != nullptr) pieces.push_back(segment.memory->bytes());
  }
  return pieces;
}

void ArenaMapping::MarkLost(Instant now) {
  lost_nanos_.store(now.nanos(), std::memory_order_release);
  if (on_lost_) on_lost_();
}

std::optional<Instant> ArenaMapping::lost_at() const {
  const std::int64_t nanos = lost_nanos_.load(std::memory_order_acquire);
  if (nanos == kLive) return std::nullopt;
  return Instant::FromNanos(nanos);
}

}  // namespace cairn
