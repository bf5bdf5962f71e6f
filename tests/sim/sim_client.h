#ifndef CAIRN_TESTS_SIM_SIM_CLIENT_H_
#define CAIRN_TESTS_SIM_SIM_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libs/client/cache_client.h"
#include "libs/copier_manual/manual_copier.h"
#include "libs/loop_manual/manual_world.h"
#include "tests/sim/sim_node.h"
#include "tests/sim/sim_world.h"

namespace cairn::sim {

// SimClient is a worker's process: it asks for prompts, reads hits in place piece by piece as a
// step of an engine would, pulls from afar, computes what is missing and offers it. Every answer is
// held against the promises.
class SimClient {
 public:
  SimClient(SimWorld& sim, SimNode& node, int number);
  ~SimClient() { Crash(); }

  void Start();
  void Crash();
  bool is_up() const { return client_ != nullptr; }
  void Pause();
  void Resume();
  bool is_paused() const { return loop_ != nullptr && loop_->is_paused(); }
  ManualLoop& loop() { return *loop_; }

  // Begins nothing new from now on.
  void Quiet() { is_quiet_ = true; }
  bool IsIdle() const;
  void Stop();
  bool has_stopped() const { return has_stopped_; }

 private:
  // What one call asked for, and what must be true of its end.
  struct Ask {
    std::vector<int> entries;
    std::vector<EntryKind> kinds;
    std::vector<int> prompt;  // the KV blocks' entries, if the node was told of a prompt
    bool is_hybrid = false;
    bool is_pull = false;
    Instant deadline;
    std::uint64_t pauses = 0;            // of this process, when it began
    std::vector<std::uint64_t> buffers;  // kPull: where each lands
  };
  // Memory lent to a pull or a remote offer. Pulled bytes are looked at in the call's answer, but
  // may be written to until the loan ends.
  struct Buffer {
    std::vector<std::byte> bytes;
    bool is_back = false;
    bool is_answered = false;
  };
  // A step of the engine that reads hits in place, a piece at a time.
  struct Reading {
    AcquireAnswer answer;
    std::vector<int> entries;
    std::vector<std::vector<std::byte>> copies;
    std::size_t key = 0;
    std::size_t piece_bytes = 0;
    absl::Duration pause_max;
  };
  struct Offered {
    std::vector<int> entries;
    std::vector<int> slots;  // of the pool; or buffers
    std::vector<std::uint64_t> buffers;
    Instant deadline;
    std::uint64_t pauses = 0;
    std::size_t left = 0;
  };

  ClientOptions Options();
  void AskForToken(absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> done);
  void Act();
  void ActLater();

  Ask PickPrompt();
  void BeginAcquire(Ask ask);
  void OnAnswer(const Ask& ask, AcquireAnswer answer);
  void CheckInTime(Instant deadline, std::uint64_t pauses, const char* what);
  void CheckHybrid(const Ask& ask, const AcquireAnswer& answer);
  void TellPrompt(Ask& ask, AcquireRequest& request);
  void CheckOverlap(const Ask& ask, const AcquireAnswer& answer);
  void CheckBytes(absl::Span<const std::byte> bytes, int entry, const char* how);
  std::vector<int> MissesOf(const Ask& ask, const AcquireAnswer& answer) const;

  void BeginReading(const Ask& ask, AcquireAnswer answer);
  void ReadPiece(std::uint64_t id);
  void EndReading(std::uint64_t id);

  PullTarget NewTarget(std::uint64_t bytes, std::uint64_t& id);
  void DropIfDone(std::uint64_t id);
  void BeginPull(const Ask& ask, AcquireAnswer answer);
  void BeginOffer(const std::vector<int>& entries);
  void OnOffered(std::uint64_t id, std::size_t index, OfferResult result);
  void Scribble(absl::Span<std::byte> bytes);
  std::uint64_t BytesFor(int entry) const;

  absl::Duration Random(std::int64_t micros_max) {
    return absl::Microseconds(static_cast<std::int64_t>(rng_.Below(micros_max + 1)));
  }

  SimWorld& sim_;
  SimNode& node_;
  const int number_;
  const ClientProfile profile_;
  Rng rng_;
  std::uint64_t starts_ = 0;
  std::uint64_t pauses_ = 0;
  bool is_quiet_ = false;
  bool has_stopped_ = false;

  ManualLoop* loop_ = nullptr;
  std::unique_ptr<ManualCopier> copier_;
  std::unique_ptr<FlakyCopier> flaky_copier_;
  std::unique_ptr<LocalDialer> dialer_;
  std::unique_ptr<OwnedMemory> pool_;
  std::vector<int> free_slots_;
  std::map<std::uint64_t, Buffer> buffers_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Reading>> readings_;
  std::map<std::uint64_t, Offered> offers_;
  std::uint64_t calls_open_ = 0;
  std::unique_ptr<CacheClient> client_;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_SIM_CLIENT_H_
