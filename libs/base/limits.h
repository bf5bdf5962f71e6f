#ifndef CAIRN_LIBS_BASE_LIMITS_H_
#define CAIRN_LIBS_BASE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "libs/base/units.h"

// Every limit of the product, in one file. At a limit we refuse, never grow. A value that operators
// may lower stands in config (proto/cairn/config/v1) and is bounded by the one here.
namespace cairn::limits {

// ---- prompts and keys (libs/span) ----
inline constexpr std::size_t kPromptTokensMax = 1 << 20;
inline constexpr std::size_t kSegmentsMax = 1 << 16;
inline constexpr std::size_t kExtrasMax = 1 << 16;
inline constexpr std::size_t kExtraHashBytesMax = 256;
inline constexpr std::size_t kExtraOverlapsMax = 1 << 21;  // (extra, block) pairs, each hashed
inline constexpr std::size_t kIdentityFieldBytesMax = 4096;
inline constexpr std::uint32_t kBlockTokensMax = 1 << 16;

static_assert(kExtraOverlapsMax >= kPromptTokensMax + kExtrasMax, "disjoint extras always fit");

// ---- messages (libs/wire) ----
inline constexpr std::size_t kMessageBytesMax = 4 * kMiB;       // any control message
inline constexpr std::size_t kFirstMessageBytesMax = 4 * kKiB;  // before HELLO succeeded
inline constexpr std::size_t kKeysPerMessageMax = 16384;        // ACQUIRE; OFFER is lower
inline constexpr std::size_t kOfferEntriesMax = 4096;
inline constexpr std::size_t kReleasesPerMessageMax = 16384;      // RELEASE, and riding on ACQUIRE
inline constexpr std::uint64_t kEntryBytesMax = 256 * kMiB;       // one stored block or state
inline constexpr std::uint64_t kDeadlineMicrosMax = 600'000'000;  // ten minutes

static_assert(kKeysPerMessageMax * 64 < kMessageBytesMax, "an ACQUIRED for every key fits");

// ---- ports (libs/ports) ----
inline constexpr std::size_t kTransportAddressBytesMax = 4 * kKiB;
inline constexpr std::size_t kTransportQueuedBytesMax = 64 * kMiB;  // control bytes per endpoint
inline constexpr std::size_t kBulkHeaderBytesMax = 4 * kKiB;
inline constexpr std::size_t kLocalMessageBytesMax = 256 * kKiB;
inline constexpr std::size_t kLocalQueuedBytesMax = 4 * kMiB;  // unread, per channel
inline constexpr std::size_t kLocalGrantsMax = 128;            // below the kernel's SCM_MAX_FD
inline constexpr std::size_t kLocalGrantsToListenerMax = 1;    // who dials is not yet known
inline constexpr std::size_t kCopyJobsMax = 1 << 16;
inline constexpr std::size_t kTransportEndpointsMax = 4096;  // per transport
inline constexpr std::size_t kTransportStrangersMax = 64;    // connected, not yet introduced
inline constexpr std::size_t kTransportBulksMax = 1 << 14;   // sends and landings, per endpoint
inline constexpr std::size_t kLocalChannelsPendingMax = 64;  // a listener's backlog

// ---- arena and node (libs/block, libs/node) ----
inline constexpr std::uint64_t kSegmentBytesMax = 16 * kGiB;
inline constexpr std::size_t kArenaSegmentsMax = 4096;
inline constexpr std::uint32_t kSlotsPerSegmentMax = 1 << 20;
inline constexpr std::uint32_t kShardsMax = 64;
inline constexpr std::uint32_t kSessionsMax = 1024;
inline constexpr std::uint32_t kHelloPendingMax = 64;
inline constexpr std::uint32_t kPinsPerSessionMax = 1 << 18;  // pinned keys, not pin objects
inline constexpr std::uint32_t kLoansMax = 1 << 16;
inline constexpr std::uint32_t kPendingPerKeyMax = 64;
inline constexpr std::uint64_t kPoolBytesMax = 1024 * kGiB;  // a worker's offered pool

// ---- processes (libs/config) ----
inline constexpr std::size_t kDescriptorsMin = 64;       // open files that a service needs to start
inline constexpr std::size_t kDescriptorsNotHttp = 256;  // of a worker's, for everything else

// ---- HTTP (libs/http) ----
inline constexpr std::size_t kHttpQueuedBytesMax = 4 * kMiB;  // to one slow client

// ---- configuration (libs/config) ----
inline constexpr std::size_t kConfigBytesMax = kMiB;
inline constexpr std::size_t kConfigValuesMax = 10'000;

// ---- models (libs/device_host) ----
inline constexpr std::uint64_t kModelLayersMax = 1024;
inline constexpr std::uint64_t kModelWidthMax = 1 << 22;  // any dimension of a matrix
inline constexpr std::uint64_t kModelHeadsMax = 4096;
inline constexpr std::uint64_t kModelPositionsMax = 1 << 24;

// ---- engine (libs/engine, libs/device_host) ----
inline constexpr std::size_t kStepRowsMax = 4096;  // tokens in one step, all requests together
inline constexpr std::size_t kRequestsWaitingMax = 1024;
inline constexpr std::size_t kRequestsRunningMax = 256;
inline constexpr std::uint32_t kGeneratedTokensMax = 1 << 17;
// Of one request. Each segment costs every later token a tile of attention at least, and text is
// tokenised on the thread that serves all connections: about 0.2 s a MiB.
inline constexpr std::size_t kRequestSegmentsMax = 512;
inline constexpr std::size_t kRequestTextBytesMax = kMiB;
inline constexpr std::size_t kStopStringsMax = 16;
inline constexpr std::size_t kStopStringBytesMax = 1024;

static_assert(kRequestSegmentsMax <= kSegmentsMax, "what may be asked has keys");

// ---- model files (libs/gguf) and tokenizer (libs/tokenizer) ----
inline constexpr std::uint64_t kGgufMetadataMax = 4096;          // keys
inline constexpr std::uint64_t kGgufKeyBytesMax = 65535;         // the format's own limit
inline constexpr std::uint64_t kGgufStringBytesMax = 16 * kMiB;  // a chat template is a string
inline constexpr std::uint64_t kGgufArrayElementsMax = 4 << 20;  // merges of a large vocabulary
inline constexpr int kGgufArrayDepthMax = 4;
inline constexpr std::uint64_t kGgufNestedArraysMax = 4096;  // in one file
inline constexpr std::uint64_t kGgufTensorsMax = 65536;
inline constexpr std::uint64_t kGgufTensorNameBytesMax = 256;
inline constexpr std::uint32_t kGgufDimsMax = 4;
inline constexpr std::uint64_t kGgufTensorBytesMax = 1024 * kGiB;
inline constexpr std::uint64_t kGgufAlignmentMax = 64 * kKiB;
inline constexpr std::size_t kTokenizerVocabularyMax = 1 << 20;
inline constexpr std::size_t kTokenizerTokenBytesMax = 4096;
inline constexpr std::size_t kTokenizerTextBytesMax = 4 * kMiB;  // one text; about 1 << 20 tokens
static_assert(kRequestTextBytesMax <= kTokenizerTextBytesMax, "what may be asked is tokenised");

static_assert(kTokenizerVocabularyMax <= kGgufArrayElementsMax, "every vocabulary can be read");

// ---- the node's tables, each of one shard unless said (libs/block, libs/pin, libs/index) ----
inline constexpr std::uint32_t kSizeClassesMax = 64;
inline constexpr std::uint32_t kEntriesMax = 1 << 24;
inline constexpr std::uint32_t kPinsMax = 1 << 16;        // pin objects
inline constexpr std::uint32_t kPinnedKeysMax = 1 << 22;  // over all sessions
inline constexpr std::uint32_t kHoldsMax = 1 << 16;       // sends and re-hashes under way
inline constexpr std::uint32_t kOpenOffersMax = 1 << 18;  // entries filling or pending
inline constexpr std::uint32_t kRemovalsRememberedMax = 1 << 14;
inline constexpr std::uint32_t kListEntriesMax = 1000;  // entries in one answer of List
inline constexpr std::uint32_t kListScanMax = 1 << 16;  // index places looked at for it
inline constexpr std::uint32_t kRootsMax = 4096;        // of a node: identities remembered
inline constexpr std::uint32_t kIdentityFieldsMax = 16;
inline constexpr std::uint32_t kProducersMax = 4096;  // of a node: names remembered

static_assert(kPinnedKeysMax >= kPinsPerSessionMax, "one session may reach its cap");
static_assert(kRootsMax >= kSessionsMax, "every session can have a root of its own");

// ---- the node's role (libs/node) ----
inline constexpr std::size_t kSessionTokensMax = 4096;  // live, from OpenSession
inline constexpr std::int64_t kSessionTokenTtlSecondsMax = 30 * 86400;
inline constexpr std::size_t kAcquiresInFlightMax = 256;  // of a session
inline constexpr std::size_t kOffersInFlightMax = 1024;   // OFFER messages of a session
inline constexpr std::size_t kSendsQueuedMax = 1 << 15;   // DATA of a session, to be sent
inline constexpr std::size_t kRehashesMax = 256;          // of a shard: suspects, conflicts
inline constexpr std::size_t kAdminJobsMax = 64;          // admin calls under way
inline constexpr std::size_t kVerifiesAtOnceMax = 4;      // re-hashes of Verify, of a shard
inline constexpr std::size_t kNearRootsShownMax = 8;      // in an answer of Explain

// ---- control (libs/rpc) ----
inline constexpr std::size_t kRpcMessageBytesMax = 4 * kMiB;  // to a server
inline constexpr std::size_t kRpcAnswerBytesMax = 64 * kMiB;  // of our own servers
inline constexpr std::size_t kRpcStreamsMax = 64;             // calls under way, a connection
inline constexpr int kRpcThreadsMax = 80;                     // of a server
inline constexpr int kObserveStreamsMax = 32;                 // at once, of cairn-placement
inline constexpr std::size_t kPemBytesMax = kMiB;

static_assert(kKeysPerMessageMax * 64 < kRpcMessageBytesMax, "a list of keys fits");
static_assert(kRpcThreadsMax > kAdminJobsMax,
              "threads that wait for admin calls leave some to refuse more");

static_assert(kObserveStreamsMax < kRpcThreadsMax / 2,
              "streams hold a thread each, and leave most of them to those who ask for plans");

// ---- cairnctl (tools/cairnctl) ----
inline constexpr std::size_t kKeysFileBytesMax = 64 * kMiB;

}  // namespace cairn::limits
#endif  // CAIRN_LIBS_BASE_LIMITS_H_
