#include "libs/base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "libs/base/check.h"
#include "libs/base/hex.h"

namespace cairn {
namespace {

// Fetched once: EVP_sha256() would look the algorithm up again at every init (design deps.md part
// 7).
const EVP_MD* FetchedSha256() {
  static EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  CAIRN_CHECK(md != nullptr) << "OpenSSL has no SHA-256";
  return md;
}

}  // namespace

std::string Digest256::ToHex() const { return cairn::ToHex(view()); }

struct Sha256::Context {
  Context() : evp(EVP_MD_CTX_new()) { Start(); }
  ~Context() { EVP_MD_CTX_free(evp); }
  void Start() { CAIRN_CHECK(EVP_DigestInit_ex2(evp, FetchedSha256(), nullptr) == 1); }
  EVP_MD_CTX* evp;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::Update(absl::string_view bytes) {
  CAIRN_CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
  return *this;
}

Sha256& Sha256::UpdateU8(std::uint8_t value) {
  return Update(absl::string_view(reinterpret_cast<const char*>(&value), 1));
}

Sha256& Sha256::UpdateU32(std::uint32_t value) {
  char raw[4];
  for (int i = 0; i < 4; ++i) raw[i] = static_cast<char>(value >> (8 * i));
  return Update(absl::string_view(raw, 4));
}

Sha256& Sha256::UpdateU64(std::uint64_t value) {
  char raw[8];
  for (int i = 0; i < 8; ++i) raw[i] = static_cast<char>(value >> (8 * i));
  return Update(absl::string_view(raw, 8));
}

Sha256& Sha256::UpdateLengthPrefixed(absl::string_view bytes) {
  CAIRN_CHECK(bytes.size() <= UINT32_MAX) << bytes.size();
  UpdateU32(static_cast<std::uint32_t>(bytes.size()));
  return Update(bytes);
}

Digest256 Sha256::Finish() {
  Digest256 digest;
  unsigned int size = 0;
  CAIRN_CHECK(EVP_DigestFinal_ex(context_->evp, digest.bytes.data(), &size) == 1);
  CAIRN_CHECK(size == digest.bytes.size());
  context_->Start();
  return digest;
}

Digest256 Sha256Of(absl::string_view bytes) { return Sha256().Update(bytes).Finish(); }

Digest256 HmacSha256(absl::string_view key, absl::string_view message) {
  Digest256 out;
  unsigned int size = 0;
  const unsigned char* done = HMAC(FetchedSha256(), key.data(), static_cast<int>(key.size()),
                                   reinterpret_cast<const unsigned char*>(message.data()),
                                   message.size(), out.bytes.data(), &size);
  CAIRN_CHECK(done != nullptr);
  CAIRN_CHECK(size == out.bytes.size());
  return out;
}

bool EqualConstantTime(const Digest256& a, const Digest256& b) {
  return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

std::string RandomBytes(std::size_t bytes) {
  std::string out(bytes, '\0');
  CAIRN_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(bytes)) ==
              1)
      << "no randomness available";
  return out;
}

}  // namespace cairn
