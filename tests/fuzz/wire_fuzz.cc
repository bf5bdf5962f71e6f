// Decodes arbitrary bytes as each message of libs/wire: the first byte chooses which. Whatever
// decodes must encode to the very same bytes, so that two readers of one message never differ.
#include <cstdint>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/wire/local_messages.h"
#include "libs/wire/messages.h"

namespace cairn::wire {
namespace {

template <class M>
void Try(absl::StatusOr<M> (*decode)(absl::string_view), absl::string_view body) {
  const absl::StatusOr<M> m = decode(body);
  if (m.ok()) CAIRN_CHECK(Encode(*m) == body) << "size " << body.size();
}

void TryMessage(Type type, absl::string_view body) {
  switch (type) {
    case Type::kHello: return Try(DecodeHello, body);
    case Type::kChallenge: return Try(DecodeChallenge, body);
    case Type::kProof: return Try(DecodeProof, body);
    case Type::kWelcome: return Try(DecodeWelcome, body);
    case Type::kAcquire: return Try(DecodeAcquire, body);
    case Type::kAcquired: return Try(DecodeAcquired, body);
    case Type::kRelease: return Try(DecodeRelease, body);
    case Type::kSuspect: return Try(DecodeSuspect, body);
    case Type::kPull: return Try(DecodePull, body);
    case Type::kPullData: return Try(DecodePullData, body);
    case Type::kPullFailed: return Try(DecodePullFailed, body);
    case Type::kOffer: return Try(DecodeOffer, body);
    case Type::kWant: return Try(DecodeWant, body);
    case Type::kOfferData: return Try(DecodeOfferData, body);
    case Type::kStored: return Try(DecodeStored, body);
  }
}

// The local channel's bodies carry their own type.
void TryLocal(absl::string_view body) {
  const absl::StatusOr<LocalType> type = LocalTypeOf(body);
  if (!type.ok()) return;
  switch (*type) {
    case LocalType::kChallenge: return Try(DecodeLocalChallenge, body);
    case LocalType::kProof: return Try(DecodeLocalProof, body);
    case LocalType::kWelcome: return Try(DecodeLocalWelcome, body);
    case LocalType::kSegments: return Try(DecodeLocalSegments, body);
    case LocalType::kRefused: return Try(DecodeLocalRefused, body);
  }
}

}  // namespace
}  // namespace cairn::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const absl::string_view body(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  if (bytes[0] == 0) {
    cairn::wire::TryLocal(body);
  } else {
    cairn::wire::TryMessage(static_cast<cairn::wire::Type>(bytes[0]), body);
  }
  return 0;
}
