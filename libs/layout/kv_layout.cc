#include "libs/layout/kv_layout.h"

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"

namespace cairn {

absl::StatusOr<KvLayout> KvLayout::Create(const Shape& shape) {
  if (shape.layers == 0 || shape.kv_heads == 0 || shape.head_dim == 0 || shape.block_tokens == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV layout with a zero: layers=", shape.layers, " kv_heads=", shape.kv_heads,
                     " head_dim=", shape.head_dim, " block_tokens=", shape.block_tokens));
  }
  unsigned __int128 bytes = 2 * BytesOf(shape.dtype);
  for (const std::uint32_t factor :
       {shape.layers, shape.kv_heads, shape.head_dim, shape.block_tokens}) {
    bytes *= factor;
    if (bytes > limits::kEntryBytesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("a KV block would exceed ", limits::kEntryBytesMax, " bytes"));
    }
  }
  return KvLayout(shape);
}

KvLayout::KvLayout(const Shape& shape)
    : shape_(shape),
      row_bytes_(shape.head_dim * BytesOf(shape.dtype)),
      head_bytes_(row_bytes_ * shape.block_tokens),
      token_bytes_(row_bytes_ * 2 * shape.layers * shape.kv_heads),
      block_bytes_(RoundUp(token_bytes_ * shape.block_tokens, kPieceBytes)) {}

std::string KvLayout::IdentityText() const {
  return absl::StrCat("layers=", shape_.layers, ",kv_heads=", shape_.kv_heads,
                      ",head_dim=", shape_.head_dim,
                      ",dtype=", shape_.dtype == KvDtype::kBf16 ? "bf16" : "f32",
                      ",order=layer.kv.head.slot.dim,keys=unrotated,shard=0/1");
}

}  // namespace cairn
