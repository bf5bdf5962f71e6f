#include "libs/node/arena.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/block/segment_layout.h"

namespace cairn {

BootId NewBootId() {
  const std::string random = RandomBytes(sizeof(BootId));
  BootId boot;
  std::memcpy(&boot, random.data(), sizeof boot);
  return boot;
}

Arena::Arena(const Options& options) : options_(options), boot_(NewBootId()) {}

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(const Options& options, MemorySource& memory) {
  CAIRN_CHECK(options.segment_bytes > 0);
  CAIRN_CHECK(options.arena_bytes % options.segment_bytes == 0) << options.arena_bytes;
  const std::uint64_t count = options.arena_bytes / options.segment_bytes;
  CAIRN_CHECK(count > 0);
  CAIRN_CHECK(count <= limits::kArenaSegmentsMax) << count;
  std::unique_ptr<Arena> arena(new Arena(options));
  for (std::uint64_t i = 0; i < count; ++i) {
    CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<OwnedMemory> segment,
                           memory.Create(absl::StrCat("cairn-arena-", i), options.segment_bytes));
    CAIRN_CHECK(segment->bytes().size() == options.segment_bytes);
    arena->segments_.push_back(std::move(segment));
  }
  return arena;
}

std::uint64_t Arena::words_bytes() const { return TableBytesOf(options_.segment_bytes); }

std::uint64_t Arena::page_bytes() const {
  std::uint64_t least = UINT64_MAX;
  for (const auto& segment : segments_) least = std::min(least, segment->page_bytes());
  return least;
}

absl::StatusOr<MemoryGrant> Arena::Grant(SegmentId segment) const {
  CAIRN_CHECK(segment.value() < segments_.size()) << segment.value();
  return segments_[segment.value()]->Grant();
}

}  // namespace cairn
