#include "libs/span/block_hash.h"

#include <cstring>

#include "libs/span/hash_tag.h"

namespace cairn {
namespace {

void PutU32(std::string& out, std::uint32_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);  // little-endian, as all our targets
  out.append(raw, sizeof raw);
}

}  // namespace

absl::string_view BlockBodies::Body(const PromptLayout& layout, std::size_t index) {
  const PromptBlock& block = layout.blocks()[index];
  const NormalSegment& segment = layout.segments()[block.segment];
  const std::vector<Extra>& extras = layout.extras();
  if (index == segment.first_block) {
    next_extra_ = segment.first_extra;
    live_.clear();
  }
  const std::uint32_t begin = block.first_token - segment.first_token;
  const std::uint32_t end = begin + block.token_count;
  while (next_extra_ < segment.first_extra + segment.extra_count &&
         extras[next_extra_].first < end) {
    live_.push_back(next_extra_++);
  }
  std::erase_if(live_, [&](std::size_t i) { return extras[i].first + extras[i].count <= begin; });

  body_.clear();
  PutU32(body_, block.token_count);
  const absl::Span<const Token> tokens = layout.TokensOf(block);
  body_.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token));
  PutU32(body_, static_cast<std::uint32_t>(live_.size()));
  for (std::size_t i : live_) {
    PutU32(body_, extras[i].first - begin);  // i32: negative where the extra began before the block
    PutU32(body_, extras[i].count);
    PutU32(body_, static_cast<std::uint32_t>(extras[i].hash.size()));
    body_.append(extras[i].hash);
  }
  return body_;
}

Key BlockHash::ChainedKey(const Digest256& parent, absl::string_view body) {
  return sha_.Update(HashTag("cairn.block.v1"))
      .UpdateU8(0)
      .Update(parent.view())
      .Update(body)
      .Finish();
}

Key BlockHash::DependentKey(const Digest256& digest, std::uint64_t position,
                            absl::string_view body) {
  return sha_.Update(HashTag("cairn.block.v1"))
      .UpdateU8(2)
      .Update(digest.view())
      .UpdateU64(position)
      .Update(body)
      .Finish();
}

Digest256 BlockHash::PromptDigest(const Digest256& before, BlockStart start, std::uint64_t position,
                                  absl::string_view body) {
  return sha_.Update(HashTag("cairn.prompt.v1"))
      .Update(before.view())
      .UpdateU8(static_cast<std::uint8_t>(start))
      .UpdateU64(position)
      .Update(body)
      .Finish();
}

Key StateKeyOf(const Digest256& digest) {
  return Sha256().Update(HashTag("cairn.state.v1")).Update(digest.view()).Finish();
}

}  // namespace cairn
