#ifndef CAIRN_LIBS_WIRE_MESSAGES_H_
#define CAIRN_LIBS_WIRE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/model_identity.h"

// The messages between a client and a node (services/ARCHITECTURE.md, read and write path).
//
// Form:    little-endian, packed, u32 counts before lists, no padding. A message is its fields in
//          the order below; the type is the active-message id, not part of the body.
// Input:   Decode takes hostile bytes: it bounds every count by limits.h and by what is left before
//          it allocates, and refuses trailing bytes, unknown enum values and flags that it does not
//          know (INVALID_ARGUMENT naming message and field). What decodes encodes to the same
//          bytes.
// Version: kWireVersion travels first in HELLO; of another version nothing more is read, and
//          DecodeHello says FAILED_PRECONDITION. Within a version the form never changes.
// Encode:  the caller keeps to the limits; only texts for people are cut to them.
// Time:    deadlines are remaining microseconds; the caller counts from sending, the callee from
//          receipt, each on its own monotonic clock.
namespace cairn::wire {

inline constexpr std::uint32_t kWireVersion = 2;

enum class Type : std::uint8_t {
  kHello = 1,        // client -> node, first message of an endpoint
  kChallenge = 2,    // node -> client, only where no local channel vouched for the endpoint
  kProof = 3,        // client -> node, answers kChallenge
  kWelcome = 4,      // node -> client, the session exists or is refused
  kAcquire = 5,      // client -> node
  kAcquired = 6,     // node -> client
  kRelease = 7,      // client -> node, no answer
  kSuspect = 8,      // client -> node, no answer
  kPull = 9,         // client -> node
  kPullData = 10,    // node -> client, bulk, one entry each
  kPullFailed = 11,  // node -> client, for an entry of a PULL that will not come
  kOffer = 12,       // client -> node
  kWant = 13,        // node -> client, may come again for entries that were pending
  kOfferData = 14,   // client -> node, bulk, one wanted entry each (no shared pool)
  kStored = 15,      // node -> client, the last word on each entry of an OFFER
};

// HELLO names everything that the session's root is made of. On one host `ticket` is what the local
// channel's LocalWelcome gave; else it is empty, and the node answers CHALLENGE.
struct Hello {
  std::uint32_t version = kWireVersion;
  std::string ticket;        // 0 or kTicketBytes
  std::string token_id;      // empty with a ticket
  std::string client_nonce;  // kNonceBytes without a ticket, else empty
  ModelIdentity identity;
  std::string name_space;
  std::string salt;
  std::uint32_t block_tokens = 0;
  std::uint64_t block_bytes = 0;  // bytes of a stored KV block under this identity
  std::string producer;           // names this client in logs and conflicts
  friend bool operator==(const Hello&, const Hello&) = default;
};
inline constexpr std::size_t kTicketBytes = 32;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kTokenIdBytesMax = 64;
inline constexpr std::size_t kProducerBytesMax = 128;
inline constexpr std::size_t kMessageTextBytesMax = 512;

struct Challenge {
  std::string node_nonce;  // kNonceBytes
  friend bool operator==(const Challenge&, const Challenge&) = default;
};
// mac = HMAC-SHA-256(token, "cairn.remote.v1\0" node_nonce client_nonce H(HELLO's body))
struct Proof {
  Digest256 mac;
  friend bool operator==(const Proof&, const Proof&) = default;
};

enum class WelcomeResult : std::uint8_t {
  kOk = 0,
  kBadVersion = 1,
  kBadToken = 2,     // unknown, expired, wrong mac, or it does not allow this root
  kBadIdentity = 3,  // malformed, or block size that the node does not serve
  kFull = 4,         // kSessionsMax or hello_pending_max
  kStopping = 5,
};
struct Welcome {
  WelcomeResult result = WelcomeResult::kOk;
  std::string message;  // for people; empty when kOk
  BootId node_boot;
  Root root;
  std::uint32_t pins_max = 0;    // keys that this session may hold pinned
  std::uint32_t offers_max = 0;  // entries that it may have on offer
  std::uint64_t pin_age_max_us = 0;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

enum class Want : std::uint8_t {
  kPlace = 0,  // read in place: same host only
  kPull = 1,   // DATA for every hit follows at once, as if PULL had named them all
};
struct Acquire {
  RequestId request;
  std::uint64_t remaining_us = 0;
  Want want = Want::kPlace;
  bool is_hybrid = false;              // answer resume_depth, pin only what it needs
  std::uint64_t resume_depth_max = 0;  // hybrid: n - 1
  std::vector<PinId> released;         // rides along
  std::vector<Key> keys;               // in prompt order; KV blocks' keys, then (hybrid) state keys
  std::vector<EntryKind> kinds;        // one per key
  // A request's first ACQUIRE says how long the prompt is, and, one per key, how many of its tokens
  // come up to the end of the key's block (ascending over the KV blocks): from that, the node sees
  // where prompts part. 0 and none in any other ACQUIRE.
  std::uint32_t prompt_tokens = 0;
  std::vector<std::uint32_t> ends;
  friend bool operator==(const Acquire&, const Acquire&) = default;
};

enum class AcquireResult : std::uint8_t {
  kOk = 0,          // also when nothing hit
  kOverloaded = 1,  // a limit of the node: every key is a miss
  kStopping = 2,
  kNoSession = 3,
};
struct Descriptor {
  std::uint32_t index = 0;  // into Acquire::keys, ascending
  Place place;
  std::uint64_t offset = 0;  // of the entry's bytes in its segment
  Generation generation;     // the slot's word while these bytes are there
  std::uint64_t bytes = 0;
  Checksum checksum;
  std::uint64_t depth = 0;
  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};
struct Acquired {
  RequestId request;
  AcquireResult result = AcquireResult::kOk;
  PinId pin;                       // 0 if nothing hit: there is nothing to release
  std::uint64_t resume_depth = 0;  // hybrid only
  std::uint32_t capped = 0;        // keys answered as misses because of the pin cap
  // What the node saw of the prompt, if it was told and looks (libs/overlap); else 0.
  std::uint64_t family = 0;
  std::uint32_t overlap_depth = 0;  // tokens in common with an earlier prompt, whole blocks
  std::vector<Descriptor> hits;     // every key not in here is a miss
  friend bool operator==(const Acquired&, const Acquired&) = default;
};

struct Release {
  std::vector<PinId> pins;
  friend bool operator==(const Release&, const Release&) = default;
};
// The reader's checksum of a pinned entry failed while the slot's word was unchanged.
struct Suspect {
  PinId pin;
  std::uint32_t index = 0;
  friend bool operator==(const Suspect&, const Suspect&) = default;
};

struct Pull {
  RequestId request;
  std::uint64_t remaining_us = 0;
  PinId pin;
  std::vector<std::uint32_t> indices;  // into the keys of the ACQUIRE that granted `pin`
  friend bool operator==(const Pull&, const Pull&) = default;
};
struct PullData {  // bulk header; the bytes are the entry
  RequestId request;
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
  Checksum checksum;
  friend bool operator==(const PullData&, const PullData&) = default;
};
enum class PullFailure : std::uint8_t { kGone = 0, kDeadline = 1, kOverloaded = 2 };
struct PullFailed {
  RequestId request;
  std::uint32_t index = 0;
  PullFailure why = PullFailure::kGone;
  friend bool operator==(const PullFailed&, const PullFailed&) = default;
};

struct OfferEntry {
  Key key;
  EntryKind kind = EntryKind::kKvBlock;
  bool has_parent = false;
  Key parent;
  std::uint64_t bytes = 0;
  Checksum checksum;
  std::uint64_t depth = 0;
  std::uint64_t pool_offset = 0;  // where the bytes are in the pool given over the local channel
  friend bool operator==(const OfferEntry&, const OfferEntry&) = default;
};
struct Offer {
  RequestId request;
  std::uint64_t remaining_us = 0;
  std::vector<OfferEntry> entries;
  friend bool operator==(const Offer&, const Offer&) = default;
};
enum class Verdict : std::uint8_t {
  kWanted = 0,   // same host: the node copies now; else: send kOfferData
  kStored = 1,   // already there with this checksum
  kPending = 2,  // another producer is filling it; another WANT or STORED follows
  kRefused = 3,  // see reason; the entry is finished
};
enum class Refusal : std::uint8_t {
  kNone = 0,
  kNoRoom = 1,
  kConflict = 2,   // the stored bytes differ and are sound
  kMalformed = 3,  // size, place or depth that cannot be
  kLimit = 4,      // offers_max, pending per key, loans
};
struct WantEntry {
  std::uint32_t index = 0;
  Verdict verdict = Verdict::kWanted;
  Refusal refusal = Refusal::kNone;
  friend bool operator==(const WantEntry&, const WantEntry&) = default;
};
struct WantMessage {
  RequestId request;
  std::vector<WantEntry> entries;
  friend bool operator==(const WantMessage&, const WantMessage&) = default;
};
struct OfferData {  // bulk header; the bytes are the entry
  RequestId request;
  std::uint32_t index = 0;
  friend bool operator==(const OfferData&, const OfferData&) = default;
};
enum class StoreResult : std::uint8_t {
  kStored = 0,
  kTorn = 1,    // what arrived does not have the offered checksum
  kFailed = 2,  // the transfer failed
  kDeadline = 3,
  kDropped = 4,  // pending, and no longer asked for (the node is stopping, the key was evicted)
};
struct StoredEntry {
  std::uint32_t index = 0;
  StoreResult result = StoreResult::kStored;
  friend bool operator==(const StoredEntry&, const StoredEntry&) = default;
};
struct Stored {
  RequestId request;
  std::vector<StoredEntry> entries;
  friend bool operator==(const Stored&, const Stored&) = default;
};

std::string Encode(const Hello& m);
std::string Encode(const Challenge& m);
std::string Encode(const Proof& m);
std::string Encode(const Welcome& m);
std::string Encode(const Acquire& m);
std::string Encode(const Acquired& m);
std::string Encode(const Release& m);
std::string Encode(const Suspect& m);
std::string Encode(const Pull& m);
std::string Encode(const PullData& m);
std::string Encode(const PullFailed& m);
std::string Encode(const Offer& m);
std::string Encode(const WantMessage& m);
std::string Encode(const OfferData& m);
std::string Encode(const Stored& m);

absl::StatusOr<Hello> DecodeHello(absl::string_view body);
absl::StatusOr<Challenge> DecodeChallenge(absl::string_view body);
absl::StatusOr<Proof> DecodeProof(absl::string_view body);
absl::StatusOr<Welcome> DecodeWelcome(absl::string_view body);
absl::StatusOr<Acquire> DecodeAcquire(absl::string_view body);
absl::StatusOr<Acquired> DecodeAcquired(absl::string_view body);
absl::StatusOr<Release> DecodeRelease(absl::string_view body);
absl::StatusOr<Suspect> DecodeSuspect(absl::string_view body);
absl::StatusOr<Pull> DecodePull(absl::string_view body);
absl::StatusOr<PullData> DecodePullData(absl::string_view header);
absl::StatusOr<PullFailed> DecodePullFailed(absl::string_view body);
absl::StatusOr<Offer> DecodeOffer(absl::string_view body);
absl::StatusOr<WantMessage> DecodeWant(absl::string_view body);
absl::StatusOr<OfferData> DecodeOfferData(absl::string_view header);
absl::StatusOr<Stored> DecodeStored(absl::string_view body);

// The mac of a PROOF: `hello_body` is the HELLO exactly as sent.
Digest256 ProofMac(absl::string_view token, absl::string_view node_nonce,
                   absl::string_view client_nonce, absl::string_view hello_body);

}  // namespace cairn::wire
#endif  // CAIRN_LIBS_WIRE_MESSAGES_H_
