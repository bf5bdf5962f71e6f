#ifndef CAIRN_LIBS_BASE_MODEL_IDENTITY_H_
#define CAIRN_LIBS_BASE_MODEL_IDENTITY_H_

#include <string>

namespace cairn {

// ModelIdentity is everything about a worker that can change the bytes of a stored block. Two
// workers share entries only if every field is equal: libs/span makes it part of every key,
// libs/wire carries it in HELLO. What goes into each field: services/ARCHITECTURE.md.
struct ModelIdentity {
  std::string model;
  std::string weights_digest;  // raw bytes (JSON: hex), over weights and configuration
  std::string arch;
  std::string kv_layout;
  std::string rope;
  std::string adapter;
  std::string numerics;  // empty under `numerics_any`

  friend bool operator==(const ModelIdentity&, const ModelIdentity&) = default;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_MODEL_IDENTITY_H_
