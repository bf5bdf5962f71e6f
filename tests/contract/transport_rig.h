#ifndef CAIRN_TESTS_CONTRACT_TRANSPORT_RIG_H_
#define CAIRN_TESTS_CONTRACT_TRANSPORT_RIG_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/ports/transport.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "tests/contract/loop_rig.h"

namespace cairn::contract {

// Which transport, and how two of them meet.
enum class Way { kLoopbackManual, kLoopbackThreads, kLoopbackDial, kUcxShm, kUcxTcp, kUcxDial };
std::string NameOf(Way way);
bool IsUcx(Way way);
bool Dials(Way way);

// What one transport told its owner. Written through the rig's Record.
class Recorder : public TransportReceiver {
 public:
  struct Message {
    EndpointId from;
    int type = 0;
    std::string body;
  };
  struct Landed {
    EndpointId from;
    LandingId landing;
    absl::Status status;
  };
  explicit Recorder(LoopRig& rig) : rig_(rig) {}

  void OnAccepted(EndpointId endpoint) override;
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override;
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override;
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override;
  void OnClosed(EndpointId endpoint, const absl::Status& why) override;

  std::size_t closed_count(EndpointId endpoint) const;
  absl::Status why(EndpointId endpoint) const;
  // The bytes that landed, by the header that announced them.
  const std::string& landing(const std::string& header) const { return landings_.at(header).bytes; }
  std::string& mutable_landing(const std::string& header) { return landings_.at(header).bytes; }

  std::vector<EndpointId> accepted;
  std::vector<Message> messages;
  std::vector<Landed> landed;
  std::vector<std::pair<EndpointId, absl::Status>> closed;
  std::size_t landings_open = 0;
  std::size_t bulks_announced = 0;
  // Called on the loop, outside Record. Refuses by returning false.
  std::function<bool(EndpointId, const std::string& header)> accepts_bulk;
  std::function<void(const Message&)> on_message;
  std::vector<std::string> violations;  // of the port's rules, seen here

 private:
  struct Target {
    std::string header;
    std::string bytes;
  };
  LoopRig& rig_;
  std::map<std::string, Target> landings_;
  std::map<LandingId, EndpointId> open_;
  std::uint64_t landings_made_ = 0;
};

// One simulated or real process: a loop, a transport, and what it heard.
struct Process {
  Loop* loop = nullptr;
  std::unique_ptr<Recorder> heard;
  std::unique_ptr<Transport> transport;
};

// A few processes in this one. All calls into a transport go through On, as the port demands.
class TransportRig {
 public:
  explicit TransportRig(Way way);
  ~TransportRig();
  Process& NewProcess();
  // One endpoint on each side, joined (or on the way to it).
  std::pair<EndpointId, EndpointId> Join(Process& a, Process& b);
  LoopRig& loops() { return *loops_; }
  Way way() const { return way_; }
  // Destroys a process's transport on its loop, as an orderly end does.
  void End(Process& process);

  absl::Status Send(Process& from, EndpointId to, int type, std::string body);
  // `result` is filled on the loop when the loan ends; it and `bytes` outlive the rig's use.
  absl::Status SendBulk(Process& from, EndpointId to, std::string header, absl::string_view bytes,
                        std::vector<absl::Status>& results);
  void Close(Process& process, EndpointId endpoint);

  UcxOptions ucx;  // of processes made from now on; the profile is that of the way

 private:
  const Way way_;
  std::unique_ptr<LoopRig> loops_;
  struct Simulated;
  std::unique_ptr<Simulated> simulated_;
  std::vector<std::unique_ptr<Process>> processes_;
};

// Bytes that differ from place to place and from seed to seed.
std::string Pattern(std::size_t bytes, std::uint64_t seed);

}  // namespace cairn::contract
#endif  // CAIRN_TESTS_CONTRACT_TRANSPORT_RIG_H_
