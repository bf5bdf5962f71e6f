#ifndef CAIRN_TESTS_SIM_UNIVERSE_H_
#define CAIRN_TESTS_SIM_UNIVERSE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/wire/messages.h"

namespace cairn::sim {

// Tenants (roots) share keys on purpose, with other bytes: a leak between them shows.
inline constexpr int kTenants = 2;
// Producers of variant 1 come to other bytes for disputed entries: they disagree with variant 0.
inline constexpr int kVariants = 2;
inline constexpr std::uint32_t kBlockTokens = 16;
inline constexpr std::uint64_t kBlockBytes = 8192;
inline constexpr std::uint64_t kStateBytes = 12288;

// A block or state that clients ask for.
struct SimEntry {
  Key key;
  EntryKind kind = EntryKind::kKvBlock;
  std::optional<Key> parent;
  std::uint64_t bytes = 0;
  std::uint64_t depth = 0;
  bool is_disputed = false;
};
// One prompt: a chain of blocks, and states at some of their ends.
struct SimDocument {
  std::vector<int> blocks;  // entry numbers
  std::vector<int> states;
};

// Universe is the small world of prompts that all simulated clients live in. What an entry holds
// follows from its key, tenant and variant, so that every reader can tell right bytes from wrong.
// Immutable; threads: any.
class Universe {
 public:
  static const Universe& Get();

  const std::vector<SimEntry>& entries() const { return entries_; }
  const std::vector<SimDocument>& documents() const { return documents_; }
  absl::Span<const std::byte> BytesOf(int entry, int tenant, int variant) const;
  Checksum SumOf(int entry, int tenant, int variant) const;
  // True if `bytes` are those of some producer of this entry and tenant; one that claims another
  // block size stores the first bytes.
  bool IsRight(absl::Span<const std::byte> bytes, int entry, int tenant) const;
  // The entry under a key; -1: none of ours.
  int Find(const Key& key) const;

  static ModelIdentity IdentityOf(int tenant);
  static Root RootOfTenant(int tenant);

 private:
  Universe();
  int Add(SimEntry entry);
  struct Content {
    std::string bytes;
    Checksum sum;
  };
  std::vector<SimEntry> entries_;
  std::vector<SimDocument> documents_;
  std::vector<std::array<Content, kTenants * kVariants>> contents_;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_UNIVERSE_H_
