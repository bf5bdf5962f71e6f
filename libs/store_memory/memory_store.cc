#include "libs/store_memory/memory_store.h"

#include "absl/strings/str_cat.h"

namespace cairn {

absl::Status MemoryStore::Put(std::uint64_t generation, absl::string_view value) {
  if (is_failing_) return absl::UnavailableError("told to fail");
  values_[generation] = std::string(value);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::uint64_t>> MemoryStore::List() const {
  std::vector<std::uint64_t> generations;
  for (const auto& [generation, value] : values_) generations.push_back(generation);
  return generations;
}

absl::StatusOr<std::string> MemoryStore::Get(std::uint64_t generation) const {
  const auto found = values_.find(generation);
  if (found == values_.end()) return absl::NotFoundError(absl::StrCat("generation ", generation));
  return found->second;
}

absl::Status MemoryStore::Remove(std::uint64_t generation) {
  values_.erase(generation);
  return absl::OkStatus();
}

}  // namespace cairn
