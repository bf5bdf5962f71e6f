#ifndef CAIRN_TESTS_SIM_SIM_NODE_H_
#define CAIRN_TESTS_SIM_SIM_NODE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "libs/copier_manual/manual_copier.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/node/node.h"
#include "tests/sim/sim_world.h"

namespace cairn::sim {

// SimNode is the node's process: it starts, is killed, and starts again with an empty arena.
class SimNode : private OverlapSink {
 public:
  explicit SimNode(SimWorld& sim) : sim_(sim) {}
  ~SimNode() { Crash(); }

  void Start();
  void Crash();
  bool is_up() const { return node_ != nullptr; }
  Node& node() { return *node_; }
  ManualLoop& loop() { return *loops_.front(); }
  ShardStats Stats() const;

  // Promises 1 and 2, looked at from inside: every entry that can be found has the bytes of a
  // completed put of its key.
  void CheckContents();
  // Nobody is connected and nothing moves: nothing may be pinned, held, lent or waited for.
  void CheckNothingIsKept();
  // Flips one bit of an entry that nobody has read since it was stored. False if there is none.
  bool FlipUnread();
  // One call of an administrator, its answer checked when it comes.
  void CallAdmin();
  std::uint64_t admin_calls_open() const { return admin_calls_open_; }

 private:
  void Report(const Overlap& overlap) override;
  template <class T>
  AdminDone<T> Expect();

  SimWorld& sim_;
  std::vector<ManualLoop*> loops_;
  std::vector<std::unique_ptr<ManualCopier>> copiers_;
  std::vector<std::unique_ptr<FlakyCopier>> flaky_copiers_;
  std::unique_ptr<Node> node_;
  std::uint64_t starts_ = 0;
  std::uint64_t admin_calls_open_ = 0;
  std::string list_cursor_;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_SIM_NODE_H_
