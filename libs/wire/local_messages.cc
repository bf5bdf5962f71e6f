#include "libs/wire/local_messages.h"

#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/wire/field_reader.h"

namespace cairn::wire {
namespace {

constexpr std::size_t kLocalSegmentBytes = 4 + 8 + 8;

static_assert(512 + limits::kTransportAddressBytesMax +
                      limits::kLocalGrantsMax * kLocalSegmentBytes <
                  limits::kLocalMessageBytesMax,
              "a full LocalWelcome fits a message");

ByteWriter Begin(LocalType type) {
  ByteWriter out;
  out.Put(type);
  return out;
}

FieldReader Open(const char* message, absl::string_view body, LocalType type) {
  FieldReader in(message, body, limits::kLocalMessageBytesMax);
  if (in.Int<std::uint8_t>("type") != static_cast<std::uint8_t>(type)) in.Refuse("type");
  return in;
}

void PutSegments(ByteWriter& out, const std::vector<LocalSegment>& segments) {
  PutCount(out, segments);
  for (const LocalSegment& segment : segments) {
    out.Put(segment.segment.value());
    out.Put(segment.bytes);
    out.Put(segment.words_bytes);
  }
}

std::vector<LocalSegment> GetSegments(FieldReader& in) {
  std::vector<LocalSegment> segments(
      in.Count("segments", limits::kLocalGrantsMax, kLocalSegmentBytes));
  for (LocalSegment& segment : segments) {
    segment.segment = in.IdOf<SegmentId>("segments.segment");
    segment.bytes = in.Int<std::uint64_t>("segments.bytes", limits::kSegmentBytesMax);
    segment.words_bytes = in.Int<std::uint64_t>("segments.words_bytes", segment.bytes);
  }
  return segments;
}

}  // namespace

absl::StatusOr<LocalType> LocalTypeOf(absl::string_view body) {
  FieldReader in("local message", body.substr(0, 1), 1);
  const LocalType type = in.Enum("type", LocalType::kRefused);
  if (type < LocalType::kChallenge) in.Refuse("type");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return type;
}

std::string Encode(const LocalChallenge& m) {
  ByteWriter out = Begin(LocalType::kChallenge);
  out.Put(m.version);
  PutBoot(out, m.node_boot);
  out.PutLengthPrefixed(m.node_nonce);
  return std::move(out).Take();
}

absl::StatusOr<LocalChallenge> DecodeLocalChallenge(absl::string_view body) {
  FieldReader in = Open("LocalChallenge", body, LocalType::kChallenge);
  LocalChallenge m;
  m.version = in.Int<std::uint32_t>("version");
  if (in.ok() && m.version != kWireVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("LocalChallenge of wire version ", m.version, "; ours is ", kWireVersion));
  }
  m.node_boot = in.Boot("node_boot");
  m.node_nonce = in.Nonce("node_nonce", kNonceBytes);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const LocalProof& m) {
  ByteWriter out = Begin(LocalType::kProof);
  out.PutLengthPrefixed(m.token_id);
  out.PutLengthPrefixed(m.client_nonce);
  out.Put(m.profile);
  out.PutLengthPrefixed(m.transport_address);
  out.Put(m.pool_bytes);
  PutDigest(out, m.mac);
  return std::move(out).Take();
}

absl::StatusOr<LocalProof> DecodeLocalProof(absl::string_view body) {
  FieldReader in = Open("LocalProof", body, LocalType::kProof);
  LocalProof m;
  m.token_id = in.Text("token_id", kTokenIdBytesMax);
  m.client_nonce = in.Nonce("client_nonce", kNonceBytes);
  m.profile = in.Enum("profile", LocalProfile::kOtherUser);
  m.transport_address = in.Text("transport_address", limits::kTransportAddressBytesMax);
  m.pool_bytes = in.Int<std::uint64_t>("pool_bytes", limits::kPoolBytesMax);
  m.mac = in.Digest("mac");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const LocalWelcome& m) {
  ByteWriter out = Begin(LocalType::kWelcome);
  PutDigest(out, m.mac);
  out.PutLengthPrefixed(m.ticket);
  PutBoot(out, m.arena_boot);
  out.PutLengthPrefixed(m.transport_address);
  out.Put(m.segments_total);
  PutSegments(out, m.segments);
  return std::move(out).Take();
}

absl::StatusOr<LocalWelcome> DecodeLocalWelcome(absl::string_view body) {
  FieldReader in = Open("LocalWelcome", body, LocalType::kWelcome);
  LocalWelcome m;
  m.mac = in.Digest("mac");
  m.ticket = in.Nonce("ticket", kTicketBytes);
  m.arena_boot = in.Boot("arena_boot");
  m.transport_address = in.Text("transport_address", limits::kTransportAddressBytesMax);
  m.segments_total = in.Int<std::uint32_t>("segments_total", limits::kArenaSegmentsMax);
  m.segments = GetSegments(in);
  if (m.segments.size() > m.segments_total) in.Refuse("segments_total");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const LocalSegments& m) {
  ByteWriter out = Begin(LocalType::kSegments);
  PutSegments(out, m.segments);
  return std::move(out).Take();
}

absl::StatusOr<LocalSegments> DecodeLocalSegments(absl::string_view body) {
  FieldReader in = Open("LocalSegments", body, LocalType::kSegments);
  LocalSegments m;
  m.segments = GetSegments(in);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const LocalRefused& m) {
  ByteWriter out = Begin(LocalType::kRefused);
  out.Put(m.result);
  out.PutLengthPrefixed(absl::string_view(m.message).substr(0, kMessageTextBytesMax));
  return std::move(out).Take();
}

absl::StatusOr<LocalRefused> DecodeLocalRefused(absl::string_view body) {
  FieldReader in = Open("LocalRefused", body, LocalType::kRefused);
  LocalRefused m;
  m.result = in.Enum("result", WelcomeResult::kStopping);
  m.message = in.Text("message", kMessageTextBytesMax);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

Digest256 LocalClientMac(absl::string_view token, const LocalChallenge& challenge,
                         const LocalProof& proof) {
  ByteWriter out;
  out.PutBytes(absl::string_view("cairn.local.client.v1\0", 22));
  PutBoot(out, challenge.node_boot);
  out.PutBytes(challenge.node_nonce);
  out.PutBytes(proof.client_nonce);
  out.Put(proof.profile);
  out.PutLengthPrefixed(proof.transport_address);
  out.Put(proof.pool_bytes);
  return HmacSha256(token, std::move(out).Take());
}

Digest256 LocalNodeMac(absl::string_view token, const LocalChallenge& challenge,
                       const LocalProof& proof, const LocalWelcome& welcome) {
  ByteWriter out;
  out.PutBytes(absl::string_view("cairn.local.node.v1\0", 20));
  out.PutBytes(challenge.node_nonce);
  out.PutBytes(proof.client_nonce);
  out.PutBytes(welcome.ticket);
  out.PutLengthPrefixed(welcome.transport_address);
  return HmacSha256(token, std::move(out).Take());
}

}  // namespace cairn::wire
