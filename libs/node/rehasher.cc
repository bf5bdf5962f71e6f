#include "libs/node/rehasher.h"

#include <utility>

#include "libs/base/mark.h"
#include "libs/base/status_macros.h"

namespace cairn {

Rehasher::Rehasher(const Needs& needs, absl::AnyInvocable<void()> after_each)
    : needs_(needs), after_each_(std::move(after_each)) {}

absl::Status Rehasher::Check(const Entry& entry, absl::AnyInvocable<void(bool)> done) {
  if (jobs_.size() >= needs_.jobs_max) return absl::ResourceExhaustedError("re-hashes");
  Job job{.hold = {}, .expected = entry.checksum, .done = std::move(done)};
  CAIRN_ASSIGN_OR_RETURN(job.hold, needs_.tier.pins().Hold(entry.place));
  const std::uint64_t id = ++last_job_;
  CAIRN_RETURN_IF_ERROR(needs_.copier.Sum(needs_.tier.BytesOf(entry.place, entry.bytes),
                                          [this, id](Checksum sum) { OnSum(id, sum); }));
  jobs_.emplace(id, std::move(job));
  return absl::OkStatus();
}

void Rehasher::OnSum(std::uint64_t id, Checksum sum) {
  auto job = jobs_.extract(id);
  const bool is_sound = sum == job.mapped().expected;
  if (!is_sound) {
    CAIRN_COVERED("node_rehash_found_bad_bytes");
    needs_.tier.Quarantine(job.mapped().hold.place(), needs_.loop.Now());
  }
  job.mapped().hold = SlotHold();  // before `done`, which may want the slot
  job.mapped().done(is_sound);
  after_each_();
}

}  // namespace cairn
