#ifndef CAIRN_LIBS_STORE_MEMORY_MEMORY_STORE_H_
#define CAIRN_LIBS_STORE_MEMORY_MEMORY_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libs/ports/generation_store.h"

namespace cairn {

// A GenerationStore that lives as long as it does: for tests, and for a service that is to keep
// nothing. Damage can be done to it. Threads: one at a time.
class MemoryStore : public GenerationStore {
 public:
  absl::Status Put(std::uint64_t generation, absl::string_view value) override;
  absl::StatusOr<std::vector<std::uint64_t>> List() const override;
  absl::StatusOr<std::string> Get(std::uint64_t generation) const override;
  absl::Status Remove(std::uint64_t generation) override;

  // Puts fail from now on, or work again.
  void FailPuts(bool is_failing) { is_failing_ = is_failing; }

 private:
  std::map<std::uint64_t, std::string> values_;
  bool is_failing_ = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_STORE_MEMORY_MEMORY_STORE_H_
