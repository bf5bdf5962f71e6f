#ifndef CAIRN_LIBS_GGUF_GGUF_FILE_H_
#define CAIRN_LIBS_GGUF_GGUF_FILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/gguf/gguf_tensor.h"
#include "libs/gguf/metadata.h"

namespace cairn {

// GgufFile is a parsed GGUF file, version 2 or 3, little-endian.
//
// Nothing in the file is trusted: every count, length, dimension and offset is bounded
// (libs/base/limits.h, group gguf) before it is used or allocated for, names are unique, tensors
// lie inside the file, aligned, and do not overlap. Memory is a small multiple of the header's
// size; tensor bytes are never read while parsing. Errors:    INVALID_ARGUMENT for a malformed
// file, UNIMPLEMENTED for another version, byte order or
//            tensor type; the message names the key or tensor and the byte offset.
// Ownership: views into `bytes`, which must outlive it.
// Threads:   const after Parse; any number of readers.
class GgufFile {
 public:
  static absl::StatusOr<GgufFile> Parse(absl::Span<const std::byte> bytes);

  std::uint32_t version() const { return version_; }
  const GgufMetadata& metadata() const { return metadata_; }
  absl::Span<const GgufTensor> tensors() const { return tensors_; }  // in file order
  // Null when absent.
  const GgufTensor* Find(absl::string_view name) const;
  // The tensor `name` with exactly these dims; NOT_FOUND, or INVALID_ARGUMENT naming both shapes.
  absl::StatusOr<const GgufTensor*> Get(absl::string_view name,
                                        absl::Span<const std::uint64_t> dims) const;

 private:
  class Parser;
  std::uint32_t version_ = 0;
  GgufMetadata metadata_;
  std::vector<GgufTensor> tensors_;
  absl::flat_hash_map<absl::string_view, std::size_t> index_of_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_GGUF_FILE_H_
