#ifndef CAIRN_LIBS_PLACEMENT_FAMILY_RATES_H_
#define CAIRN_LIBS_PLACEMENT_FAMILY_RATES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "libs/base/bytes.h"
#include "libs/placement/adaptive_rates.h"

namespace cairn::placement {

// One rate table per family (prompts that share a beginning) and class of entries. A new family has
// none and lives on the pooled law; its own counts take over as they come (Dirichlet-like back-off:
// the pooled law is worth a few exposures).
//
// What one family may tell the pooled law is bounded, so that nobody moves other families' plans by
// sending much: after kPooledExposuresMax entries or kPooledClaimsMax claims a family and class
// teaches its own table only (the last one counts in full, whatever its weight), and claims far
// beyond its entries never teach more. Who teaches no more does not ask either.
//
// Memory: at most `tables_max` tables; the least recently used goes. Threads: one owner.
class FamilyRates {
 public:
  static constexpr std::uint32_t kPooledExposuresMax = 256;
  static constexpr std::uint32_t kPooledClaimsMax = 256;
  static constexpr std::uint32_t kClaimsPerExposureMax = 4;

  explicit FamilyRates(std::size_t tables_max) : tables_max_(tables_max) {}

  // Count in the family's own table; true: count it in the pooled law too. Family 0 (none known)
  // has no table, and always teaches the pooled law.
  bool Claim(std::uint64_t family, std::uint32_t entry_class, std::uint32_t distance,
             std::uint32_t weight = 1);
  bool Expose(std::uint64_t family, std::uint32_t entry_class, std::uint32_t positions,
              std::uint32_t weight = 1);

  // Whether the pooled law still learns from this family and class.
  bool MayTeach(std::uint64_t family, std::uint32_t entry_class);

  // Null: nothing of its own yet. Stays valid until the next Claim or Expose.
  const AdaptiveRates* Find(std::uint64_t family, std::uint32_t entry_class) const;
  // Whether it has taught the pooled law all that it may, and is to live on its own counts.
  bool IsEstablished(std::uint64_t family, std::uint32_t entry_class) const;
  std::size_t size() const { return tables_.size(); }

  // All tables, the least recently used first. Load replaces what is here; of more tables than
  // tables_max the most recently used stay. It leaves the reader marked bad if Save wrote something
  // else (also: a table twice, or one of family 0).
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  struct Table {
    AdaptiveRates rates;
    std::uint32_t pooled_claims = 0;
    std::uint32_t pooled_exposures = 0;
    std::list<Key>::iterator use;

    bool MayTeach() const {
      return pooled_claims < kPooledClaimsMax && pooled_exposures < kPooledExposuresMax;
    }
  };
  Table* Lookup(const Key& key);  // null: there is none
  Table& Touch(const Key& key);

  std::size_t tables_max_;
  Key last_key_ = {};  // of last_, what Lookup found last: it is asked twice a claim
  Table* last_ = nullptr;
  absl::flat_hash_map<Key, Table> tables_;
  std::list<Key> uses_;  // least recent first
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_FAMILY_RATES_H_
