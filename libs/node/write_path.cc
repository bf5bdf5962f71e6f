#include "libs/node/write_path.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/block/segment_layout.h"

namespace cairn {

WritePath::WritePath(const Needs& needs) : needs_(needs) {}
WritePath::~WritePath() = default;

std::uint64_t WritePath::OpenOffersOf(SessionId session) const {
  const auto it = open_entries_.find(session);
  return it == open_entries_.end() ? 0 : it->second;
}

// ---- OFFER ----

wire::Refusal WritePath::CheckEntry(NodeSession& session, const wire::OfferEntry& entry) const {
  const bool is_kv = entry.kind == EntryKind::kKvBlock;
  if (entry.bytes == 0 || entry.bytes > limits::kEntryBytesMax || entry.depth == 0 ||
      LayOutSegment(needs_.options.segment_bytes, SlotBytesFor(entry.bytes)).slots == 0) {
    return wire::Refusal::kMalformed;
  }
  // All of an identity's blocks are of one size, and so are its states: else a session could take
  // segments from others for many sizes of its own.
  if (!is_kv && session.state_bytes == 0) session.state_bytes = entry.bytes;
  if (entry.bytes != (is_kv ? session.block_bytes : session.state_bytes)) {
    return wire::Refusal::kMalformed;
  }
  if (session.pool != nullptr) {
    const std::uint64_t pool_bytes = session.pool->bytes().size();
    if (entry.bytes > pool_bytes || entry.pool_offset > pool_bytes - entry.bytes) {
      return wire::Refusal::kMalformed;
    }
  }
  if (OpenOffersOf(session.id) >= needs_.options.offers_per_session_max) {
    CAIRN_COVERED("node_offers_of_session_full");
    return wire::Refusal::kLimit;
  }
  return wire::Refusal::kNone;
}

OfferItem WritePath::ItemOf(const NodeSession& session, std::uint32_t index,
                            const wire::OfferEntry& entry) const {
  OfferItem item{.index = index,
                 .key = entry.key,
                 .kind = entry.kind,
                 .bytes = entry.bytes,
                 .checksum = entry.checksum,
                 .depth = entry.depth};
  if (entry.has_parent) item.parent = entry.parent;
  if (session.pool != nullptr) {
    item.source = session.pool->bytes().subspan(entry.pool_offset, entry.bytes);
  }
  return item;
}

absl::Status WritePath::OnOffer(NodeSession& session, wire::Offer message) {
  const OfferKey key(session.id, message.request);
  if (offers_.contains(key)) {
    return absl::InvalidArgumentError(
        absl::StrCat("OFFER ", message.request.value(), " sent twice"));
  }
  const Instant deadline =
      needs_.loop.Now() +
      absl::Microseconds(std::min(message.remaining_us, limits::kDeadlineMicrosMax));
  OpenOffer offer;
  std::map<ShardIndex, OfferPart> parts;
  for (std::uint32_t i = 0; i < message.entries.size(); ++i) {
    const wire::OfferEntry& entry = message.entries[i];
    if (const wire::Refusal refusal = CheckEntry(session, entry); refusal != wire::Refusal::kNone) {
      ++needs_.stats.offers_refused;
      offer.refused.push_back({i, wire::Verdict::kRefused, refusal});
      continue;
    }
    const auto shards = static_cast<std::uint32_t>(needs_.shards.size());
    parts[ShardOf(entry.key, shards)].items.push_back(ItemOf(session, i, entry));
    ++offer.entries_left;
    ++open_entries_[session.id];
  }
  offer.parts_left = static_cast<std::uint32_t>(parts.size());
  OpenOffer& kept = offers_.emplace(key, std::move(offer)).first->second;
  for (auto& [shard, part] : parts) {
    part.session = session.id;
    part.request = message.request;
    part.root = session.root_id;
    part.producer = session.producer_id;
    part.deadline = deadline;
    Shard& to = *needs_.shards[shard];
    to.loop().Post([&to, part = std::move(part)]() mutable { to.Offer(std::move(part)); });
  }
  if (kept.parts_left == 0) Flush(session, message.request, kept);
  return absl::OkStatus();
}

void WritePath::OnOfferVerdicts(const NodeSession* session, OfferVerdicts verdicts) {
  if (session == nullptr) {
    for (const OfferVerdict& v : verdicts.verdicts) {
      if (!v.landing.has_value()) continue;
      CAIRN_COVERED("node_session_ended_before_want");
      GiveBack({verdicts.shard, v.landing->fill, {}}, absl::CancelledError("the session ended"));
    }
    return;
  }
  const auto it = offers_.find({verdicts.session, verdicts.request});
  CAIRN_CHECK(it != offers_.end()) << "a verdict on an OFFER that has its last word";
  OpenOffer& offer = it->second;
  if (verdicts.is_first) --offer.parts_left;
  for (const OfferVerdict& v : verdicts.verdicts) {
    (verdicts.is_first ? offer.first : offer.later).push_back({v.index, v.verdict, v.refusal});
    if (v.landing.has_value()) {
      awaited_[{session->id, verdicts.request, v.index}] =
          LentSlot{verdicts.shard, v.landing->fill, v.landing->bytes};
    }
  }
  Flush(*session, verdicts.request, offer);
}

void WritePath::OnOfferResults(const NodeSession* session, OfferResults results) {
  if (session == nullptr) return;
  const auto it = offers_.find({results.session, results.request});
  CAIRN_CHECK(it != offers_.end()) << "a result for an OFFER that has its last word";
  OpenOffer& offer = it->second;
  for (const wire::StoredEntry& entry : results.entries) {
    offer.results.push_back(entry);
    GiveBackUnused({session->id, results.request, entry.index});
    if (entry.result == wire::StoreResult::kDeadline) ++needs_.stats.offers_overdue;
  }
  Flush(*session, results.request, offer);
}

// Sends what may be sent, and forgets the OFFER with its last word.
void WritePath::Flush(const NodeSession& session, RequestId request, OpenOffer& offer) {
  if (offer.parts_left > 0) return;
  std::size_t last_words = offer.results.size();
  for (const std::vector<wire::WantEntry>* entries : {&offer.first, &offer.later}) {
    last_words += static_cast<std::size_t>(
        std::count_if(entries->begin(), entries->end(), [](const wire::WantEntry& e) {
          return e.verdict == wire::Verdict::kStored || e.verdict == wire::Verdict::kRefused;
        }));
  }
  offer.first.insert(offer.first.end(), offer.refused.begin(), offer.refused.end());
  offer.refused.clear();
  SendWant(session, request, std::exchange(offer.first, {}));
  SendWant(session, request, std::exchange(offer.later, {}));
  if (!offer.results.empty()) {
    const wire::Stored stored{.request = request, .entries = std::exchange(offer.results, {})};
    needs_.lanes.Send(session.peer, wire::Type::kStored, wire::Encode(stored)).IgnoreError();
  }
  CountLastWords({session.id, request}, offer, last_words);
}

void WritePath::SendWant(const NodeSession& session, RequestId request,
                         std::vector<wire::WantEntry> entries) {
  if (entries.empty()) return;
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  // An endpoint that is closing, or whose peer does not read: its offers end with the session, or
  // by their deadline, which the peer keeps too.
  needs_.lanes
      .Send(session.peer, wire::Type::kWant,
            wire::Encode(wire::WantMessage{.request = request, .entries = std::move(entries)}))
      .IgnoreError();
}

void WritePath::CountLastWords(const OfferKey& key, OpenOffer& offer, std::size_t count) {
  CAIRN_CHECK(count <= offer.entries_left) << count << " of " << offer.entries_left;
  offer.entries_left -= count;
  if (count > 0) {
    const auto open = open_entries_.find(key.first);
    open->second -= count;
    if (open->second == 0) open_entries_.erase(open);
  }
  if (offer.entries_left == 0) offers_.erase(key);
}

// ---- DATA ----

std::optional<Landing> WritePath::OnBulk(const NodeSession& session,
                                         absl::Span<const std::byte> header, std::uint64_t bytes) {
  const absl::StatusOr<wire::OfferData> of = wire::DecodeOfferData(AsStringView(header));
  if (!of.ok()) {
    ++needs_.stats.messages_malformed;
    ++needs_.stats.landings_refused;
    return std::nullopt;
  }
  const auto it = awaited_.find({session.id, of->request, of->index});
  if (it == awaited_.end()) {
    CAIRN_COVERED("node_unwanted_data");
    ++needs_.stats.landings_refused;
    return std::nullopt;
  }
  const LentSlot slot = it->second;
  awaited_.erase(it);
  if (slot.bytes.size() != bytes) {
    CAIRN_COVERED("node_data_of_wrong_size");
    ++needs_.stats.landings_refused;
    GiveBack(slot, absl::InvalidArgumentError("DATA of another size than was offered"));
    return std::nullopt;
  }
  const LandingId landing(++last_landing_);
  landing_.emplace(landing, slot);
  ++needs_.stats.landings;
  return Landing{landing, slot.bytes};
}

void WritePath::OnBulkLanded(LandingId landing, const absl::Status& status) {
  const auto it = landing_.find(landing);
  CAIRN_CHECK(it != landing_.end()) << landing.value();
  GiveBack(it->second, status);
  landing_.erase(it);
  --needs_.stats.landings;
}

void WritePath::GiveBack(const LentSlot& slot, const absl::Status& status) {
  Shard& to = *needs_.shards[slot.shard];
  to.loop().Post([&to, fill = slot.fill, status] { to.LandingEnded(fill, status); });
}

void WritePath::GiveBackUnused(const EntryKey& entry) {
  const auto it = awaited_.find(entry);
  if (it == awaited_.end()) return;
  CAIRN_COVERED("node_wanted_data_never_came");
  GiveBack(it->second, absl::CancelledError("no DATA before the entry's end"));
  awaited_.erase(it);
}

// ---- ends ----

void WritePath::EndSession(SessionId session) {
  std::erase_if(offers_, [session](const auto& entry) { return entry.first.first == session; });
  open_entries_.erase(session);
  std::erase_if(awaited_, [this, session](const auto& entry) {
    if (std::get<SessionId>(entry.first) != session) return false;
    GiveBack(entry.second, absl::CancelledError("the session ended"));
    return true;
  });
}

}  // namespace cairn
