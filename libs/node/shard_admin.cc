#include "libs/node/shard_admin.h"

#include <algorithm>
#include <utility>

#include "libs/base/limits.h"
#include "libs/base/mark.h"

namespace cairn {

ShardAdmin::ShardAdmin(HostTier& tier, Rehasher& rehasher, const Filler& filler, Loop& loop,
                       absl::AnyInvocable<void()> on_ended)
    : tier_(tier),
      rehasher_(rehasher),
      filler_(filler),
      loop_(loop),
      on_ended_(std::move(on_ended)) {}

// ---- looking ----

EntryReport ShardAdmin::ReportOf(const Entry& entry) const {
  const Instant now = loop_.Now();
  EntryReport report{.id = entry.id,
                     .kind = entry.kind,
                     .bytes = entry.bytes,
                     .checksum = entry.checksum,
                     .depth = entry.depth,
                     .place = entry.place,
                     .generation = entry.generation,
                     .children = entry.children_here + entry.children_elsewhere,
                     .producer = entry.producer,
                     .age = now - entry.stored_at,
                     .since_last_use = now - entry.last_use,
                     .uses = entry.uses,
                     .is_held = tier_.pins().IsHeld(entry.place)};
  if (entry.parent_link != ParentLink::kNone) report.parent = entry.parent;
  return report;
}

ListReport ShardAdmin::List(std::uint32_t cursor, std::size_t limit,
                            std::optional<RootId> root) const {
  const Index::Listing listing = tier_.index().List(cursor, limit, root);
  ListReport report{.next_cursor = listing.next_cursor};
  for (const Entry* entry : listing.entries) report.entries.push_back(ReportOf(*entry));
  return report;
}

std::optional<EntryReport> ShardAdmin::Describe(const IndexKey& id) const {
  const Entry* const entry = tier_.index().Find(id);
  if (entry == nullptr) return std::nullopt;
  return ReportOf(*entry);
}

std::vector<Index::RootCount> ShardAdmin::CountsOf(absl::Span<const RootId> roots) const {
  std::vector<Index::RootCount> out;
  for (const RootId root : roots) out.push_back(tier_.index().CountOf(root));
  return out;
}

KeyExplanation ShardAdmin::Explain(const IndexKey& id, absl::Span<const RootId> other_roots) const {
  KeyExplanation out{.key = id.key};
  out.entry = Describe(id);
  if (out.entry.has_value()) {
    out.state = KeyExplanation::State::kPresent;
    return out;
  }
  for (const RootId other : other_roots) {
    if (tier_.index().Find(IndexKey{other, id.key}) != nullptr) out.present_under.push_back(other);
  }
  if (filler_.IsFilling(id)) {
    out.state = KeyExplanation::State::kFilling;
  } else if (const std::optional<Removal> removal = tier_.index().LastRemoval(id)) {
    out.state = KeyExplanation::State::kGone;
    out.gone_why = removal->reason;
    out.gone_since = loop_.Now() - removal->when;
  }
  return out;
}

// ---- walking ----

// One step of the walk, if the one before is done. May find nothing before the end.
void ShardAdmin::Refill(Walk& walk) const {
  if (!walk.next.empty() || walk.is_at_end) return;
  if (!walk.what.is_all) {
    RefillKeys(walk);
    return;
  }
  const Index::Listing listing =
      tier_.index().List(walk.cursor, limits::kListEntriesMax, walk.what.root);
  for (const Entry* entry : listing.entries) walk.next.push_back(entry->id);
  walk.cursor = listing.next_cursor;
  walk.is_at_end = walk.cursor == 0;
}

void ShardAdmin::RefillKeys(Walk& walk) const {
  const std::vector<Key>& keys = walk.what.keys;
  const std::size_t end = std::min(keys.size(), walk.keys_done + limits::kListEntriesMax);
  for (; walk.keys_done < end; ++walk.keys_done) {
    const std::size_t before = walk.next.size();
    for (const RootId root : walk.what.key_roots) {
      const IndexKey id{root, keys[walk.keys_done]};
      if (tier_.index().Find(id) != nullptr) walk.next.push_back(id);
    }
    if (walk.next.size() == before) ++walk.missing;
  }
  walk.is_at_end = walk.keys_done == keys.size();
}

absl::Status ShardAdmin::Verify(EntrySelection what, absl::AnyInvocable<void(VerifyReport)> done) {
  if (verify_ != nullptr) return absl::ResourceExhaustedError("a verify is under way");
  verify_ = std::make_unique<VerifyJob>();
  verify_->walk.what = std::move(what);
  verify_->done = std::move(done);
  loop_.Post([this] { StepVerify(); });
  return absl::OkStatus();
}

void ShardAdmin::StepVerify() {
  if (verify_ == nullptr) return;
  VerifyJob& job = *verify_;
  if (job.walk.next.empty() && !job.walk.is_at_end) {
    Refill(job.walk);
    if (job.walk.next.empty() && !job.walk.is_at_end) {
      loop_.Post([this] { StepVerify(); });  // a stretch of the index without entries
      return;
    }
  }
  while (job.in_flight < limits::kVerifiesAtOnceMax && !job.walk.next.empty()) CheckNext(job);
  if (job.in_flight > 0) return;
  if (!job.walk.next.empty() || !job.walk.is_at_end) {
    loop_.Post([this] { StepVerify(); });
    return;
  }
  const std::unique_ptr<VerifyJob> ended = std::move(verify_);
  ended->report.missing = ended->walk.missing;
  ended->done(ended->report);
  on_ended_();
}

void ShardAdmin::CheckNext(VerifyJob& job) {
  const IndexKey id = job.walk.next.front();
  job.walk.next.pop_front();
  const Entry* const entry = tier_.index().Find(id);
  if (entry == nullptr) return;  // it went since it was listed
  const absl::Status started = rehasher_.Check(*entry, [this, &job](bool is_sound) {
    ++verified_;
    ++job.report.checked;
    if (!is_sound) ++job.report.bad;
    --job.in_flight;
    StepVerify();
  });
  if (started.ok()) {
    ++job.in_flight;
  } else {
    CAIRN_COVERED("node_verify_skipped");
    ++job.report.skipped;
  }
}

absl::Status ShardAdmin::Evict(EntrySelection what, absl::AnyInvocable<void(EvictReport)> done) {
  if (evict_ != nullptr) return absl::ResourceExhaustedError("an evict is under way");
  evict_ = std::make_unique<EvictJob>();
  evict_->walk.what = std::move(what);
  evict_->done = std::move(done);
  loop_.Post([this] { StepEvict(); });
  return absl::OkStatus();
}

void ShardAdmin::StepEvict() {
  if (evict_ == nullptr) return;
  EvictJob& job = *evict_;
  Refill(job.walk);
  for (std::size_t i = 0; i < limits::kListEntriesMax && !job.walk.next.empty(); ++i) {
    const IndexKey id = job.walk.next.front();
    job.walk.next.pop_front();
    if (tier_.EvictByAdmin(id, loop_.Now())) {
      ++job.report.evicted;
    } else if (tier_.index().Find(id) != nullptr) {
      ++job.report.held;
    }
  }
  if (!job.walk.next.empty() || !job.walk.is_at_end) {
    loop_.Post([this] { StepEvict(); });
    return;
  }
  const std::unique_ptr<EvictJob> ended = std::move(evict_);
  ended->report.missing = ended->walk.missing;
  ended->done(ended->report);
  on_ended_();
}

void ShardAdmin::Stop() {
  if (verify_ != nullptr) {
    verify_->report.skipped += verify_->walk.next.size();
    verify_->walk.next.clear();
    verify_->walk.is_at_end = true;
    if (verify_->in_flight == 0) loop_.Post([this] { StepVerify(); });
  }
  if (evict_ != nullptr) {
    evict_->walk.next.clear();
    evict_->walk.is_at_end = true;
  }
}

}  // namespace cairn
