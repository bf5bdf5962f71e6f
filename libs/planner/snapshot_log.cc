#include "libs/planner/snapshot_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/checksum.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"

namespace cairn::planner {
namespace {

constexpr std::uint32_t kForm = 0x314C5343;  // "CSL1"
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

std::string Seal(std::uint64_t generation, absl::string_view snapshot) {
  ByteWriter out;
  out.Put(kForm);
  out.Put(generation);
  out.Put(static_cast<std::uint64_t>(snapshot.size()));
  out.PutBytes(snapshot);
  std::string sealed = std::move(out).Take();
  ByteWriter sum;
  sum.Put(ChecksumOf(AsBytes(sealed)).value());
  return sealed + std::move(sum).Take();
}

// The snapshot inside `value`. DATA_LOSS: not what Seal made for this generation.
absl::StatusOr<absl::string_view> Unseal(std::uint64_t generation, absl::string_view value) {
  if (value.size() < kChecksumBytes) return absl::DataLossError("cut short");
  const absl::string_view sealed = value.substr(0, value.size() - kChecksumBytes);
  ByteReader sum(value.substr(sealed.size()));
  if (sum.Get<std::uint64_t>() != ChecksumOf(AsBytes(sealed)).value()) {
    return absl::DataLossError("its checksum does not match");
  }
  ByteReader in(sealed);
  const bool is_ours = in.Get<std::uint32_t>() == kForm;
  if (!is_ours || in.Get<std::uint64_t>() != generation) {
    return absl::DataLossError("it is of another version or generation");
  }
  const auto bytes = in.Get<std::uint64_t>();
  const absl::string_view snapshot = in.GetBytes(bytes);
  if (!in.at_end()) return absl::DataLossError("its length does not match");
  return snapshot;
}

}  // namespace

absl::StatusOr<SnapshotLog::Opened> SnapshotLog::Open(
    absl::FunctionRef<absl::Status(absl::string_view)> take) {
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::uint64_t> generations, store_.List());
  Opened opened;
  std::reverse(generations.begin(), generations.end());
  for (const std::uint64_t generation : generations) {
    newest_ = std::max(newest_, generation);
    const absl::StatusOr<std::string> value = store_.Get(generation);
    absl::Status status = value.status();
    if (status.ok()) {
      const absl::StatusOr<absl::string_view> snapshot = Unseal(generation, *value);
      status = snapshot.ok() ? take(*snapshot) : snapshot.status();
    }
    if (status.ok()) {
      opened.generation = generation;
      return opened;
    }
    absl::StrAppend(&opened.skipped, opened.skipped.empty() ? "" : "; ", "generation ", generation,
                    ": ", status.message());
  }
  return opened;
}

absl::StatusOr<std::uint64_t> SnapshotLog::Write(absl::string_view snapshot) {
  const std::uint64_t generation = newest_ + 1;
  CAIRN_RETURN_IF_ERROR(store_.Put(generation, Seal(generation, snapshot)));
  newest_ = generation;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> generations, store_.List());
  for (const std::uint64_t old : generations) {
    if (old + kKept > generation) continue;
    const absl::Status removed = store_.Remove(old);
    if (!removed.ok()) {  // costs room only, and is tried again next time
      LogEvent(LogLevel::kWarning, "snapshot_kept")
          .With("generation", old)
          .With("why", removed.message());
    }
  }
  return generation;
}

}  // namespace cairn::planner
