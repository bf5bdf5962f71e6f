#ifndef CAIRN_LIBS_LAYOUT_KV_LAYOUT_H_
#define CAIRN_LIBS_LAYOUT_KV_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace cairn {

// How a number of the KV pool is stored.
enum class KvDtype : std::uint8_t { kBf16 = 0, kF32 = 1 };
constexpr std::size_t BytesOf(KvDtype dtype) { return dtype == KvDtype::kBf16 ? 2 : 4; }

// KvLayout says where the keys and values of a block's tokens are. Keys are unrotated.
//
//   block: [layer][K|V][kv_head][slot][dim]     slot = token's index in its block,
//   0..block_tokens-1
//
// Blocks are padded to 4 KiB, linear, and the same in the pool, in the arena and on the wire. Empty
// slots of a ragged block, and the padding, are zero.
class KvLayout {
 public:
  struct Shape {
    std::uint32_t layers = 0;
    std::uint32_t kv_heads = 0;
    std::uint32_t head_dim = 0;
    std::uint32_t block_tokens = 0;
    KvDtype dtype = KvDtype::kBf16;
  };
  // INVALID_ARGUMENT if a field is 0 or a block would exceed limits::kEntryBytesMax.
  static absl::StatusOr<KvLayout> Create(const Shape& shape);

  const Shape& shape() const { return shape_; }
  std::uint64_t block_bytes() const { return block_bytes_; }
  std::uint64_t token_bytes() const { return token_bytes_; }  // of one token, all layers, K and V

  // Offset in a block of slot 0 of one head's keys or values; slot s is s * row_bytes() further.
  std::uint64_t KeyOffset(std::uint32_t layer, std::uint32_t kv_head) const {
    return (std::uint64_t{layer} * 2 * shape_.kv_heads + kv_head) * head_bytes_;
  }
  std::uint64_t ValueOffset(std::uint32_t layer, std::uint32_t kv_head) const {
    return ((std::uint64_t{layer} * 2 + 1) * shape_.kv_heads + kv_head) * head_bytes_;
  }
  std::uint64_t row_bytes() const { return row_bytes_; }

  // The canonical text that goes into an identity (keys.md, kv_layout).
  std::string IdentityText() const;

 private:
  explicit KvLayout(const Shape& shape);
  Shape shape_;
  std::uint64_t row_bytes_;
  std::uint64_t head_bytes_;
  std::uint64_t token_bytes_;
  std::uint64_t block_bytes_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_LAYOUT_KV_LAYOUT_H_
