#include "libs/rpc/rpc_security.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

template <class T, void (*kFree)(T*)>
struct Deleter {
  void operator()(T* object) const { kFree(object); }
};
void FreeBio(BIO* bio) { BIO_free(bio); }
using Bio = std::unique_ptr<BIO, Deleter<BIO, FreeBio>>;
using Certificate = std::unique_ptr<X509, Deleter<X509, X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY, EVP_PKEY_free>>;

absl::StatusOr<std::string> ReadPem(absl::string_view field, const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError(absl::StrCat(field, ": required"));
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": cannot read ", path, ": ", std::strerror(errno)));
  }
  std::string text(limits::kPemBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad() || text.size() > limits::kPemBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": cannot read ", path,
                                                   ": no PEM file of at most ",
                                                   limits::kPemBytesMax, " bytes"));
  }
  return text;
}

Bio BioOf(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}
Certificate CertificateOf(const std::string& pem) {
  return Certificate(PEM_read_bio_X509(BioOf(pem).get(), nullptr, nullptr, nullptr));
}
// Never asks for a pass phrase: a service has nobody to ask.
int NoPassPhrase(char*, int, int, void*) { return -1; }
PrivateKey KeyOf(const std::string& pem) {
  return PrivateKey(PEM_read_bio_PrivateKey(BioOf(pem).get(), nullptr, NoPassPhrase, nullptr));
}

}  // namespace

absl::StatusOr<RpcSecurity> LoadMutualTls(const config::v1::MutualTls& files) {
  RpcSecurity out;
  CAIRN_ASSIGN_OR_RETURN(out.ca, ReadPem("ca_file", files.ca_file()));
  CAIRN_ASSIGN_OR_RETURN(out.certificate, ReadPem("certificate_file", files.certificate_file()));
  CAIRN_ASSIGN_OR_RETURN(out.key, ReadPem("key_file", files.key_file()));
  if (CertificateOf(out.ca) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("ca_file: no certificate in PEM form in ", files.ca_file()));
  }
  const Certificate certificate = CertificateOf(out.certificate);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("certificate_file: no certificate in PEM form in ", files.certificate_file()));
  }
  const PrivateKey key = KeyOf(out.key);
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key_file: no private key in PEM form, without a pass phrase, in ", files.key_file()));
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("key_file: ", files.key_file(),
                                                   " is not the key of the certificate in ",
                                                   files.certificate_file()));
  }
  return out;
}

absl::StatusOr<RpcSecurity> LoadRpcSecurity(const config::v1::Security& security) {
  if (security.has_tls() == security.dev_mode_without_tls()) {
    return absl::InvalidArgumentError(
        security.has_tls() ? "security: tls and dev_mode_without_tls exclude each other"
                           : "security: required: either tls, or dev_mode_without_tls: true to try "
                             "things on one machine");
  }
  if (security.dev_mode_without_tls()) return RpcSecurity{.is_dev_mode = true};
  absl::StatusOr<RpcSecurity> tls = LoadMutualTls(security.tls());
  if (tls.ok()) return tls;
  return absl::InvalidArgumentError(absl::StrCat("security.tls.", tls.status().message()));
}

}  // namespace cairn
