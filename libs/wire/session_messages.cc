// HELLO, CHALLENGE, PROOF, WELCOME: how an endpoint becomes a session.
#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/wire/field_reader.h"
#include "libs/wire/messages.h"

namespace cairn::wire {
namespace {

void PutIdentity(ByteWriter& out, const ModelIdentity& identity) {
  out.PutLengthPrefixed(identity.model);
  out.PutLengthPrefixed(identity.weights_digest);
  out.PutLengthPrefixed(identity.arch);
  out.PutLengthPrefixed(identity.kv_layout);
  out.PutLengthPrefixed(identity.rope);
  out.PutLengthPrefixed(identity.adapter);
  out.PutLengthPrefixed(identity.numerics);
}

ModelIdentity GetIdentity(FieldReader& in) {
  ModelIdentity identity;
  identity.model = in.Text("model", limits::kIdentityFieldBytesMax);
  identity.weights_digest = in.Text("weights_digest", limits::kIdentityFieldBytesMax);
  identity.arch = in.Text("arch", limits::kIdentityFieldBytesMax);
  identity.kv_layout = in.Text("kv_layout", limits::kIdentityFieldBytesMax);
  identity.rope = in.Text("rope", limits::kIdentityFieldBytesMax);
  identity.adapter = in.Text("adapter", limits::kIdentityFieldBytesMax);
  identity.numerics = in.Text("numerics", limits::kIdentityFieldBytesMax);
  return identity;
}

}  // namespace

std::string Encode(const Hello& m) {
  ByteWriter out;
  out.Put(m.version);
  out.PutLengthPrefixed(m.ticket);
  out.PutLengthPrefixed(m.token_id);
  out.PutLengthPrefixed(m.client_nonce);
  PutIdentity(out, m.identity);
  out.PutLengthPrefixed(m.name_space);
  out.PutLengthPrefixed(m.salt);
  out.Put(m.block_tokens);
  out.Put(m.block_bytes);
  out.PutLengthPrefixed(m.producer);
  return std::move(out).Take();
}

absl::StatusOr<Hello> DecodeHello(absl::string_view body) {
  FieldReader in("HELLO", body, limits::kFirstMessageBytesMax);
  Hello m;
  m.version = in.Int<std::uint32_t>("version");
  if (in.ok() && m.version != kWireVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("HELLO of wire version ", m.version, "; ours is ", kWireVersion));
  }
  m.ticket = in.Text("ticket", kTicketBytes);
  m.token_id = in.Text("token_id", kTokenIdBytesMax);
  m.client_nonce = in.Text("client_nonce", kNonceBytes);
  const bool has_ticket = !m.ticket.empty();
  if (has_ticket && m.ticket.size() != kTicketBytes) in.Refuse("ticket");
  if (has_ticket != m.token_id.empty()) in.Refuse("token_id");
  if (m.client_nonce.size() != (has_ticket ? 0 : kNonceBytes)) in.Refuse("client_nonce");
  m.identity = GetIdentity(in);
  m.name_space = in.Text("name_space", limits::kIdentityFieldBytesMax);
  m.salt = in.Text("salt", limits::kIdentityFieldBytesMax);
  m.block_tokens = in.Int<std::uint32_t>("block_tokens", limits::kBlockTokensMax);
  m.block_bytes = in.Int<std::uint64_t>("block_bytes", limits::kEntryBytesMax);
  m.producer = in.Text("producer", kProducerBytesMax);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Challenge& m) {
  ByteWriter out;
  out.PutLengthPrefixed(m.node_nonce);
  return std::move(out).Take();
}

absl::StatusOr<Challenge> DecodeChallenge(absl::string_view body) {
  FieldReader in("CHALLENGE", body, limits::kMessageBytesMax);
  Challenge m;
  m.node_nonce = in.Nonce("node_nonce", kNonceBytes);
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Proof& m) {
  ByteWriter out;
  PutDigest(out, m.mac);
  return std::move(out).Take();
}

absl::StatusOr<Proof> DecodeProof(absl::string_view body) {
  FieldReader in("PROOF", body, limits::kFirstMessageBytesMax);
  Proof m;
  m.mac = in.Digest("mac");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

std::string Encode(const Welcome& m) {
  ByteWriter out;
  out.Put(m.result);
  out.PutLengthPrefixed(absl::string_view(m.message).substr(0, kMessageTextBytesMax));
  PutBoot(out, m.node_boot);
  PutDigest(out, m.root);
  out.Put(m.pins_max);
  out.Put(m.offers_max);
  out.Put(m.pin_age_max_us);
  return std::move(out).Take();
}

absl::StatusOr<Welcome> DecodeWelcome(absl::string_view body) {
  FieldReader in("WELCOME", body, limits::kMessageBytesMax);
  Welcome m;
  m.result = in.Enum("result", WelcomeResult::kStopping);
  m.message = in.Text("message", kMessageTextBytesMax);
  m.node_boot = in.Boot("node_boot");
  m.root = in.Digest("root");
  m.pins_max = in.Int<std::uint32_t>("pins_max");
  m.offers_max = in.Int<std::uint32_t>("offers_max");
  m.pin_age_max_us = in.Int<std::uint64_t>("pin_age_max_us");
  CAIRN_RETURN_IF_ERROR(in.Finish());
  return m;
}

Digest256 ProofMac(absl::string_view token, absl::string_view node_nonce,
                   absl::string_view client_nonce, absl::string_view hello_body) {
  ByteWriter out;
  out.PutBytes(absl::string_view("cairn.remote.v1\0", 16));
  out.PutBytes(node_nonce);
  out.PutBytes(client_nonce);
  PutDigest(out, Sha256Of(hello_body));
  return HmacSha256(token, std::move(out).Take());
}

}  // namespace cairn::wire
