#ifndef CAIRN_LIBS_PLACEMENT_EXPERT_PANEL_H_
#define CAIRN_LIBS_PLACEMENT_EXPERT_PANEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/placement/arrival.h"
#include "libs/placement/entry_tree.h"
#include "libs/placement/expert.h"
#include "libs/placement/plan_query.h"

namespace cairn::placement {

// ExpertPanel finds out which expert would have saved most so far.
//
// An overlap prices a plan exactly only where states do not meet, but entries share nodes and
// states stay. So each expert lives in a shadow world: only bits, one per state and world
// (entry_tree.h). In it, every request resumes at that expert's own states, the expert learns from
// that and sketches plans on it, and what it saves there is its score. Real states follow the
// leader's RULES, solved exactly on the real states by whoever has those (Planner, Replay): its
// shadow plan would be a plan for states that are not there.
//
// Ties: the expert named first. Threads: one owner. Memory: entry_tree.h, and 24 bytes per entry
// and expert; at `entries_max` entries Arrive answers RESOURCE_EXHAUSTED and Restart forgets them.
class ExpertPanel {
 public:
  using Arrival = placement::Arrival;
  // What the request met in one expert's world.
  struct InWorld {
    std::uint32_t resumed = 0;
    std::uint32_t placed = 0;  // new states
  };
  struct Outcome {
    EntryTree::Entry entry = 0;
    std::vector<InWorld> worlds;  // by expert
  };
  struct Score {
    std::string_view expert;
    std::uint64_t saved = 0;   // blocks not computed again
    std::uint64_t states = 0;  // placed
  };

  // INVALID_ARGUMENT: no expert, more than limits::kExpertsMax, or entries_max 0.
  static absl::StatusOr<std::unique_ptr<ExpertPanel>> Create(
      std::vector<std::unique_ptr<Expert>> experts, std::size_t entries_max);

  // In this order: look up, score, observe, plan, store. INVALID_ARGUMENT, and nothing counted: an
  // entry that there is not, depths that contradict each other or lie beyond limits.h.
  // RESOURCE_EXHAUSTED: entries_max are stored.
  absl::StatusOr<Outcome> Arrive(const Arrival& arrival);

  std::size_t Leader() const;
  Score ScoreOf(std::size_t expert) const;
  const Expert& ExpertAt(std::size_t expert) const { return *experts_[expert].expert; }
  std::size_t experts() const { return experts_.size(); }
  std::uint64_t Ceiling() const { return ceiling_; }  // blocks that dense states would have saved
  std::uint64_t Requests() const { return requests_; }

  // Forgets all entries and their states, in every world; laws and scores stay. Entries of before
  // are unknown afterwards. What they held is handed out, since freeing it takes milliseconds.
  struct Forgotten {
    EntryTree tree;
    std::vector<std::vector<EntryShape>> shapes;
  };
  Forgotten Restart();
  std::size_t entries() const { return tree_.size(); }
  std::uint32_t LengthOf(EntryTree::Entry entry) const { return tree_.LengthOf(entry); }

  // Laws and scores as bytes, with a version. Entries and shadow states are left out: a panel that
  // was loaded is as after Restart. Load wants a new panel of the same experts. DATA_LOSS: nothing
  // that Save wrote; FAILED_PRECONDITION: written by another version or for other experts. After an
  // error the panel is of no use.
  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  struct Member {
    std::unique_ptr<Expert> expert;
    Score score;
    std::vector<EntryShape> shapes;  // by entry: as this world saw it
  };
  ExpertPanel(std::vector<std::unique_ptr<Expert>> experts, std::size_t entries_max);
  absl::Status Validate(const Arrival& arrival) const;
  void ObserveAll(const Arrival& arrival);
  void Reserve();

  std::vector<Member> experts_;
  std::size_t entries_max_;
  EntryTree tree_;
  std::vector<std::uint32_t> ends_;  // by entry
  std::uint64_t ceiling_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_EXPERT_PANEL_H_
