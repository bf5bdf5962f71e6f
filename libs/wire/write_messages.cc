// OFFER, WANT, OFFER_DATA, STORED: the write path.
#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/wire/field_reader.h"
#include "libs/wire/messages.h"

namespace cairn::wire {
namespace {

constexpr std::size_t kOfferEntryBytes = 32 + 1 + 1 + 32 + 8 + 8 + 8 + 8;
constexpr std::size_t kWantEntryBytes = 4 + 1 + 1;
constexpr std::size_t kStoredEntryBytes = 4 + 1;
constexpr std::uint32_t kEntryIndexMax = limits::kOfferEntriesMax - 1;

static_assert(64 + limits::kOfferEntriesMax * kOfferEntryBytes < limits::kMessageBytesMax,
              "a full OFFER fits a message");

void PutOfferEntry(ByteWriter& out, const OfferEntry& e) {
  PutDigest(out, e.key);
  out.Put(e.kind);
  PutFlag(out, e.has_parent);
  PutDigest(out, e.parent);
  out.Put(e.bytes);
  out.Put(e.checksum.value());
  out.Put(e.depth);
  out.Put(e.pool_offset);
}

OfferEntry GetOfferEntry(FieldReader& in) {
  OfferEntry e;
  e.key = in.Digest("entries.key");
  e.kind = in.Enum("entries.kind", EntryKind::kState);
  e.has_parent = in.Flag("entries.has_parent");
  e.parent = in.Digest("entries.parent");
  e.bytes = in.Int<std::uint64_t>("entries.bytes", limits::kEntryBytesMax);
  e.checksum = in.IdOf<Checksum>("entries.checksum");
  e.depth = in.Int<std::uint64_t>("entries.depth");
  e.pool_offset = in.Int<std::uint64_t>("entries.pool_offset");
  return e;
}

}  // namespace

std::string Encode(const Offer& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.remaining_us);
  PutCount(out, m.entries);
  for (const OfferEntry& entry : m.entries) PutOfferEntry(out, entry);
  return std::move(out).Take();
}

absl::StatusOr<Offer> DecodeOffer(absl::string_view body) {
  FieldReader in("OFFER", body, limits::kMessageBytesMax);
  Offer m;
  m.request = in.IdOf<RequestId>("request");
  m.remaining_us = in.Int<std::uint64_t>("remaining_us", limits::kDeadlineMicrosMax);
  m.entries.resize(in.Count("entries", limits::kOfferEntriesMax, kOfferEntryBytes));
  for (OfferEntry& entry : m.entries) entry = GetOfferEntry(in);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const WantMessage& m) {
  ByteWriter out;
  out.Put(m.request.value());
  PutCount(out, m.entries);
  for (const WantEntry& entry : m.entries) {
    out.Put(entry.index);
    out.Put(entry.verdict);
    out.Put(entry.refusal);
  }
  return std::move(out).Take();
}

absl::StatusOr<WantMessage> DecodeWant(absl::string_view body) {
  FieldReader in("WANT", body, limits::kMessageBytesMax);
  WantMessage m;
  m.request = in.IdOf<RequestId>("request");
  m.entries.resize(in.Count("entries", limits::kOfferEntriesMax, kWantEntryBytes));
  for (WantEntry& entry : m.entries) {
    entry.index = in.Int<std::uint32_t>("entries.index", kEntryIndexMax);
    entry.verdict = in.Enum("entries.verdict", Verdict::kRefused);
    entry.refusal = in.Enum("entries.refusal", Refusal::kLimit);
    const bool is_refused = entry.verdict == Verdict::kRefused;
    if (is_refused != (entry.refusal != Refusal::kNone)) in.Refuse("entries.refusal");
  }
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const OfferData& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.index);
  return std::move(out).Take();
}

absl::StatusOr<OfferData> DecodeOfferData(absl::string_view header) {
  FieldReader in("OFFER_DATA", header, limits::kBulkHeaderBytesMax);
  OfferData m;
  m.request = in.IdOf<RequestId>("request");
  m.index = in.Int<std::uint32_t>("index", kEntryIndexMax);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Stored& m) {
  ByteWriter out;
  out.Put(m.request.value());
  PutCount(out, m.entries);
  for (const StoredEntry& entry : m.entries) {
    out.Put(entry.index);
    out.Put(entry.result);
  }
  return std::move(out).Take();
}

absl::StatusOr<Stored> DecodeStored(absl::string_view body) {
  FieldReader in("STORED", body, limits::kMessageBytesMax);
  Stored m;
  m.request = in.IdOf<RequestId>("request");
  m.entries.resize(in.Count("entries", limits::kOfferEntriesMax, kStoredEntryBytes));
  for (StoredEntry& entry : m.entries) {
    entry.index = in.Int<std::uint32_t>("entries.index", kEntryIndexMax);
    entry.result = in.Enum("entries.result", StoreResult::kDropped);
  }
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

}  // namespace cairn::wire
