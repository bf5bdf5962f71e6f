#include "libs/engine/client_block_cache.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace cairn {
namespace {

// A request's hold on what it reads in place. Half of a pin's age is left for the copying off: a
// request leaves long before the node may think of its slots again.
class ClientLease : public ArenaLease {
 public:
  ClientLease(Instant granted, AcquireAnswer answer, absl::Duration remap_grace)
      : pin_(std::move(answer.pin)),
        mapping_(std::move(answer.mapping)),
        remap_grace_(remap_grace),
        pin_ends_at_(answer.pin_ends_at),
        half_age_at_(granted + (answer.pin_ends_at - granted) / 2) {}

  Instant leave_by() const override {
    const std::optional<Instant> lost = mapping_->lost_at();
    return lost.has_value() ? std::min(*lost, half_age_at_) : half_age_at_;
  }
  Instant void_at() const override {
    const std::optional<Instant> lost = mapping_->lost_at();
    return lost.has_value() ? std::min(*lost + remap_grace_, pin_ends_at_) : pin_ends_at_;
  }

 private:
  const HeldPin pin_;
  const std::shared_ptr<const ArenaMapping> mapping_;
  const absl::Duration remap_grace_;
  const Instant pin_ends_at_;
  const Instant half_age_at_;
};

// The arena of a session, mapped for as long as anybody holds this.
class MappedView : public ArenaView {
 public:
  explicit MappedView(std::shared_ptr<const ArenaMapping> mapping) : mapping_(std::move(mapping)) {}
  std::vector<absl::Span<const std::byte>> pieces() const override { return mapping_->pieces(); }
  bool is_lost() const override { return mapping_->lost_at().has_value(); }

 private:
  const std::shared_ptr<const ArenaMapping> mapping_;
};

}  // namespace

ClientBlockCache::~ClientBlockCache() {
  if (const auto mapping = mapping_.lock()) mapping->SetOnLost(nullptr);
}

void ClientBlockCache::SetOnArenaLost(absl::AnyInvocable<void()> tell) {
  MutexLock lock(mutex_);
  tell_ = std::move(tell);
}

void ClientBlockCache::OnArenaLost() {
  MutexLock lock(mutex_);
  if (tell_) tell_();
}

std::shared_ptr<const ArenaView> ClientBlockCache::ViewOf(
    const std::shared_ptr<const ArenaMapping>& mapping) {
  std::shared_ptr<const ArenaView> view = view_.lock();
  if (view != nullptr && mapping_.lock() == mapping) return view;
  mapping->SetOnLost([this] { OnArenaLost(); });
  view = std::make_shared<MappedView>(mapping);
  mapping_ = mapping;
  view_ = view;
  return view;
}

AcquiredBlocks ClientBlockCache::ToBlocks(AcquireAnswer answer) {
  AcquiredBlocks out;
  out.family = answer.family;
  out.overlap_depth = answer.overlap_depth;
  for (std::uint32_t i = 0; i < answer.keys.size(); ++i) {
    const HitBlock& block = answer.keys[i].block;
    // A session without an arena (no shared memory) has hits that would have to be pulled; the
    // engine reads in place only, and such a hit is a miss.
    if (!answer.keys[i].is_hit() || !block.in_place) continue;
    out.hits.push_back({i,
                        {.bytes = block.bytes.data(),
                         .words = block.words,
                         .slot = block.slot,
                         .generation = block.generation}});
  }
  if (out.hits.empty()) return out;
  out.arena = ViewOf(answer.mapping);
  out.lease = std::make_shared<ClientLease>(loop_.Now(), std::move(answer), options_.remap_grace);
  return out;
}

void ClientBlockCache::Acquire(WantedBlocks wanted, absl::AnyInvocable<void(AcquiredBlocks)> done) {
  loop_.Post([this, wanted = std::move(wanted), done = std::move(done)]() mutable {
    AcquireRequest request;
    request.keys = std::move(wanted.keys);
    request.prompt_tokens = wanted.prompt_tokens;
    request.ends = std::move(wanted.ends);
    request.deadline = loop_.Now() + options_.acquire_timeout;
    client_.Acquire(std::move(request),
                    [this, done = std::move(done)](AcquireAnswer answer) mutable {
                      done(ToBlocks(std::move(answer)));
                    });
  });
}

void ClientBlockCache::Offer(std::vector<OfferedBlock> blocks, absl::AnyInvocable<void()> done) {
  loop_.Post([this, blocks = std::move(blocks), done = std::move(done)]() mutable {
    std::vector<OfferBlock> offers;
    offers.reserve(blocks.size());
    for (const OfferedBlock& block : blocks) {
      offers.push_back(
          {.key = block.key,
           .kind = EntryKind::kKvBlock,
           .parent = block.has_parent ? std::optional<Key>(block.parent) : std::nullopt,
           .bytes = block.bytes,
           .checksum = block.checksum,
           .depth = block.depth});
    }
    // All blocks of a step come back together: the last of them ends the loan of all.
    const std::size_t count = offers.size();
    if (count == 0) return done();  // no last one would come
    client_.Offer(std::move(offers), loop_.Now() + options_.offer_timeout,
                  [left = count, done = std::move(done)](std::size_t, OfferResult) mutable {
                    if (--left == 0) done();
                  });
  });
}

}  // namespace cairn
