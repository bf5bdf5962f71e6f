// ACQUIRE, ACQUIRED, RELEASE, SUSPECT, PULL, PULL_DATA, PULL_FAILED: the read path.
#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/wire/field_reader.h"
#include "libs/wire/messages.h"

namespace cairn::wire {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kDescriptorBytes = 4 + 4 + 4 + 8 + 8 + 8 + 8 + 8;
constexpr std::uint32_t kKeyIndexMax = limits::kKeysPerMessageMax - 1;

static_assert(64 + limits::kKeysPerMessageMax * kDescriptorBytes < limits::kMessageBytesMax,
              "a full ACQUIRED fits a message");
static_assert(64 + limits::kKeysPerMessageMax * (kKeyBytes + 1 + 4) +
                      limits::kReleasesPerMessageMax * 8 <
                  limits::kMessageBytesMax,
              "a full ACQUIRE fits a message");

void PutPins(ByteWriter& out, const std::vector<PinId>& pins) {
  PutCount(out, pins);
  for (const PinId pin : pins) out.Put(pin.value());
}

std::vector<PinId> GetPins(FieldReader& in, const char* field) {
  std::vector<PinId> pins(in.Count(field, limits::kReleasesPerMessageMax, 8));
  for (PinId& pin : pins) pin = in.IdOf<PinId>(field);
  return pins;
}

void PutDescriptor(ByteWriter& out, const Descriptor& d) {
  out.Put(d.index);
  out.Put(d.place.segment.value());
  out.Put(d.place.slot.value());
  out.Put(d.offset);
  out.Put(d.generation.value());
  out.Put(d.bytes);
  out.Put(d.checksum.value());
  out.Put(d.depth);
}

Descriptor GetDescriptor(FieldReader& in) {
  Descriptor d;
  d.index = in.Int<std::uint32_t>("hits.index", kKeyIndexMax);
  d.place.segment = in.IdOf<SegmentId>("hits.segment");
  d.place.slot = in.IdOf<SlotId>("hits.slot");
  d.offset = in.Int<std::uint64_t>("hits.offset");
  d.generation = in.IdOf<Generation>("hits.generation");
  d.bytes = in.Int<std::uint64_t>("hits.bytes", limits::kEntryBytesMax);
  d.checksum = in.IdOf<Checksum>("hits.checksum");
  d.depth = in.Int<std::uint64_t>("hits.depth");
  return d;
}

void GetEnds(FieldReader& in, Acquire& m) {
  m.prompt_tokens = in.Int<std::uint32_t>("prompt_tokens", limits::kPromptTokensMax);
  m.ends.resize(in.Count("ends", m.keys.size(), 4));
  if (m.ends.size() != (m.prompt_tokens == 0 ? 0 : m.keys.size())) in.Refuse("ends");
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < m.ends.size(); ++i) {
    m.ends[i] = in.Int<std::uint32_t>("ends", m.prompt_tokens);
    if (i >= m.kinds.size() || m.kinds[i] != EntryKind::kKvBlock) continue;
    if (m.ends[i] <= last) in.Refuse("ends");
    last = m.ends[i];
  }
}

}  // namespace

std::string Encode(const Acquire& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.remaining_us);
  out.Put(m.want);
  PutFlag(out, m.is_hybrid);
  out.Put(m.resume_depth_max);
  PutPins(out, m.released);
  PutCount(out, m.keys);
  for (const Key& key : m.keys) PutDigest(out, key);
  PutCount(out, m.kinds);
  for (const EntryKind kind : m.kinds) out.Put(kind);
  out.Put(m.prompt_tokens);
  PutCount(out, m.ends);
  for (const std::uint32_t end : m.ends) out.Put(end);
  return std::move(out).Take();
}

absl::StatusOr<Acquire> DecodeAcquire(absl::string_view body) {
  FieldReader in("ACQUIRE", body, limits::kMessageBytesMax);
  Acquire m;
  m.request = in.IdOf<RequestId>("request");
  m.remaining_us = in.Int<std::uint64_t>("remaining_us", limits::kDeadlineMicrosMax);
  m.want = in.Enum("want", Want::kPull);
  m.is_hybrid = in.Flag("is_hybrid");
  m.resume_depth_max = in.Int<std::uint64_t>("resume_depth_max");
  m.released = GetPins(in, "released");
  m.keys.resize(in.Count("keys", limits::kKeysPerMessageMax, kKeyBytes + 1));
  for (Key& key : m.keys) key = in.Digest("keys");
  m.kinds.resize(in.Count("kinds", m.keys.size(), 1));
  for (EntryKind& kind : m.kinds) kind = in.Enum("kinds", EntryKind::kState);
  if (m.kinds.size() != m.keys.size()) in.Refuse("kinds");
  GetEnds(in, m);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Acquired& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.result);
  out.Put(m.pin.value());
  out.Put(m.resume_depth);
  out.Put(m.capped);
  out.Put(m.family);
  out.Put(m.overlap_depth);
  PutCount(out, m.hits);
  for (const Descriptor& hit : m.hits) PutDescriptor(out, hit);
  return std::move(out).Take();
}

absl::StatusOr<Acquired> DecodeAcquired(absl::string_view body) {
  FieldReader in("ACQUIRED", body, limits::kMessageBytesMax);
  Acquired m;
  m.request = in.IdOf<RequestId>("request");
  m.result = in.Enum("result", AcquireResult::kNoSession);
  m.pin = in.IdOf<PinId>("pin");
  m.resume_depth = in.Int<std::uint64_t>("resume_depth");
  m.capped = in.Int<std::uint32_t>("capped");
  m.family = in.Int<std::uint64_t>("family");
  m.overlap_depth = in.Int<std::uint32_t>("overlap_depth", limits::kPromptTokensMax);
  m.hits.resize(in.Count("hits", limits::kKeysPerMessageMax, kDescriptorBytes));
  for (std::size_t i = 0; i < m.hits.size(); ++i) {
    m.hits[i] = GetDescriptor(in);
    if (i > 0 && m.hits[i].index <= m.hits[i - 1].index) in.Refuse("hits.index");
  }
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Release& m) {
  ByteWriter out;
  PutPins(out, m.pins);
  return std::move(out).Take();
}

absl::StatusOr<Release> DecodeRelease(absl::string_view body) {
  FieldReader in("RELEASE", body, limits::kMessageBytesMax);
  Release m;
  m.pins = GetPins(in, "pins");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Suspect& m) {
  ByteWriter out;
  out.Put(m.pin.value());
  out.Put(m.index);
  return std::move(out).Take();
}

absl::StatusOr<Suspect> DecodeSuspect(absl::string_view body) {
  FieldReader in("SUSPECT", body, limits::kMessageBytesMax);
  Suspect m;
  m.pin = in.IdOf<PinId>("pin");
  m.index = in.Int<std::uint32_t>("index", kKeyIndexMax);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Pull& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.remaining_us);
  out.Put(m.pin.value());
  PutCount(out, m.indices);
  for (const std::uint32_t index : m.indices) out.Put(index);
  return std::move(out).Take();
}

absl::StatusOr<Pull> DecodePull(absl::string_view body) {
  FieldReader in("PULL", body, limits::kMessageBytesMax);
  Pull m;
  m.request = in.IdOf<RequestId>("request");
  m.remaining_us = in.Int<std::uint64_t>("remaining_us", limits::kDeadlineMicrosMax);
  m.pin = in.IdOf<PinId>("pin");
  m.indices.resize(in.Count("indices", limits::kKeysPerMessageMax, 4));
  for (std::uint32_t& index : m.indices) index = in.Int<std::uint32_t>("indices", kKeyIndexMax);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const PullData& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.index);
  out.Put(m.bytes);
  out.Put(m.checksum.value());
  return std::move(out).Take();
}

absl::StatusOr<PullData> DecodePullData(absl::string_view header) {
  FieldReader in("PULL_DATA", header, limits::kBulkHeaderBytesMax);
  PullData m;
  m.request = in.IdOf<RequestId>("request");
  m.index = in.Int<std::uint32_t>("index", kKeyIndexMax);
  m.bytes = in.Int<std::uint64_t>("bytes", limits::kEntryBytesMax);
  m.checksum = in.IdOf<Checksum>("checksum");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const PullFailed& m) {
  ByteWriter out;
  out.Put(m.request.value());
  out.Put(m.index);
  out.Put(m.why);
  return std::move(out).Take();
}

absl::StatusOr<PullFailed> DecodePullFailed(absl::string_view body) {
  FieldReader in("PULL_FAILED", body, limits::kMessageBytesMax);
  PullFailed m;
  m.request = in.IdOf<RequestId>("request");
  m.index = in.Int<std::uint32_t>("index", kKeyIndexMax);
  m.why = in.Enum("why", PullFailure::kOverloaded);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

}  // namespace cairn::wire
