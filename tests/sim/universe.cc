#include "tests/sim/universe.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/rng.h"
#include "libs/base/sha256.h"
#include "libs/span/identity.h"

namespace cairn::sim {
namespace {

constexpr int kDocuments = 9;

std::string MakeBytes(std::uint64_t seed, std::uint64_t bytes) {
  std::string out(bytes, '\0');
  Rng rng(seed);
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t word = rng.Next();
    std::memcpy(out.data() + i, &word, 8);
  }
  return out;
}

absl::Span<const std::byte> View(const std::string& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

const Universe& Universe::Get() {
  static const Universe* const universe = new Universe;
  return *universe;
}

int Universe::Add(SimEntry entry) {
  const auto number = static_cast<std::uint64_t>(entries_.size());
  auto& contents = contents_.emplace_back();
  for (int tenant = 0; tenant < kTenants; ++tenant) {
    for (int variant = 0; variant < kVariants; ++variant) {
      const std::uint64_t differs = entry.is_disputed ? variant : 0;
      Content& content = contents[tenant * kVariants + variant];
      content.bytes = MakeBytes(number * 1000 + tenant * 10 + differs + 1, entry.bytes);
      content.sum = ChecksumOf(View(content.bytes));
    }
  }
  entries_.push_back(entry);
  return static_cast<int>(number);
}

Universe::Universe() {
  for (int d = 0; d < kDocuments; ++d) {
    SimDocument document;
    std::optional<Key> parent;
    for (int b = 0; b < 1 + d % 5; ++b) {
      SimEntry block{.key = Sha256Of(absl::StrCat("document ", d, " block ", b)),
                     .parent = parent,
                     .bytes = kBlockBytes,
                     .depth = (b + 1u) * kBlockTokens,
                     .is_disputed = d < 2};
      parent = block.key;
      document.blocks.push_back(Add(block));
    }
    for (int b = 0; b < static_cast<int>(document.blocks.size()); b += 2) {
      document.states.push_back(Add({.key = Sha256Of(absl::StrCat("document ", d, " state ", b)),
                                     .kind = EntryKind::kState,
                                     .bytes = kStateBytes,
                                     .depth = (b + 1u) * kBlockTokens}));
    }
    documents_.push_back(document);
  }
}

absl::Span<const std::byte> Universe::BytesOf(int entry, int tenant, int variant) const {
  return View(contents_[entry][tenant * kVariants + variant].bytes);
}

Checksum Universe::SumOf(int entry, int tenant, int variant) const {
  return contents_[entry][tenant * kVariants + variant].sum;
}

bool Universe::IsRight(absl::Span<const std::byte> bytes, int entry, int tenant) const {
  for (int variant = 0; variant < kVariants; ++variant) {
    const absl::Span<const std::byte> right = BytesOf(entry, tenant, variant);
    if (bytes.size() <= right.size() &&
        std::memcmp(right.data(), bytes.data(), bytes.size()) == 0) {
      return true;
    }
    if (!entries_[entry].is_disputed) break;
  }
  return false;
}

int Universe::Find(const Key& key) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key == key) return static_cast<int>(i);
  }
  return -1;
}

ModelIdentity Universe::IdentityOf(int tenant) {
  return {.model = absl::StrCat("model-", tenant), .rope = "theta=10000", .numerics = "sim"};
}

Root Universe::RootOfTenant(int tenant) {
  const absl::StatusOr<Digest256> fingerprint = FingerprintOf(IdentityOf(tenant));
  CAIRN_CHECK(fingerprint.ok());
  return *RootOf(*fingerprint, "", "", kBlockTokens);
}

}  // namespace cairn::sim
