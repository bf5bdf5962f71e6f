#ifndef CAIRN_TESTS_SUPPORT_SCRIPTED_NODE_H_
#define CAIRN_TESTS_SUPPORT_SCRIPTED_NODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/ports/loop.h"
#include "libs/ports/memory.h"
#include "libs/ports/transport.h"
#include "libs/transport_loopback/loopback_network.h"
#include "libs/wire/local_messages.h"
#include "libs/wire/messages.h"

namespace cairn {

// ScriptedNode speaks a node's side of the wire, honestly or as a test bids: it opens sessions by
// itself, keeps what it hears, and says only what the test makes it say.
// One client at a time. Threads: its loop's (in simulation: between steps).
class ScriptedNode : public TransportReceiver {
 public:
  static constexpr std::uint64_t kSegmentBytes = 64 * 1024;
  static constexpr std::uint64_t kTableBytes = 4096;
  static constexpr std::uint64_t kSlotBytes = 4096;

  struct Heard {
    wire::Type type;
    std::string body;
  };
  // What it does while a session opens; change it before the client comes.
  struct Script {
    std::string token_id = "dev";
    std::string token = "secret";
    BootId node_boot{1, 2};
    BootId arena_boot{3, 4};
    Root root;
    std::uint32_t pins_max = 1000;
    std::uint32_t offers_max = 100;
    std::uint64_t pin_age_max_us = 60'000'000;
    std::size_t segments = 2;
    std::size_t grants_per_message = 100;
    bool stays_silent = false;  // says not even LocalChallenge
    // Each may spoil a message; nullptr: nothing spoilt.
    std::function<void(wire::LocalChallenge&)> edit_challenge;
    std::function<void(wire::LocalWelcome&, LocalChannel::Message&)> edit_local_welcome;
    std::function<void(wire::Welcome&)> edit_welcome;
    // Said instead of LocalWelcome, LocalChallenge's answer or WELCOME, if set.
    std::optional<std::string> instead_of_challenge;
    std::optional<std::string> instead_of_local_welcome;
    std::optional<std::pair<wire::Type, std::string>> instead_of_welcome;
    // Called for each message after WELCOME.
    std::function<void(const Heard&)> on_heard;
  };
  ScriptedNode(Loop& loop, LoopbackNetwork& network, LocalHub& hub, MemorySource& memory,
               absl::string_view path, PeerProcess self);
  ~ScriptedNode() override;

  Script& script() { return script_; }
  // Begins to listen on the path, and at `socket_address` if it is not empty.
  void Listen(absl::string_view socket_address);
  std::string listening_at() const { return listening_at_; }

  // ---- what it has heard ----
  bool has_session() const { return has_session_; }
  std::uint64_t proofs() const { return proofs_; }
  std::uint64_t hellos() const { return hellos_; }
  const wire::Hello& hello() const { return hello_; }
  const wire::LocalProof& local_proof() const { return local_proof_; }
  bool are_macs_right() const { return are_macs_right_; }
  // Messages after WELCOME, in order.
  const std::vector<Heard>& heard() const { return heard_; }
  // The newest body of a type, decoded by the test; CHECKs that there is one.
  std::string Last(wire::Type type) const;
  std::size_t Count(wire::Type type) const;
  absl::Span<const std::byte> client_pool() const;

  // ---- what it says ----
  void Say(wire::Type type, std::string body);
  void SayLocal(std::string body);
  void SayBulk(wire::Type type, std::string header, absl::Span<const std::byte> bytes);
  void CloseChannel() { channel_.reset(); }
  void CloseEndpoint();
  // Where the next OFFER_DATA land; what has landed.
  void LandOffersIn(absl::Span<std::byte> bytes) { landing_ = bytes; }
  const std::vector<absl::Status>& landed() const { return landed_; }
  const std::vector<absl::Status>& bulks_sent() const { return bulks_sent_; }

  // ---- its arena ----
  // Fills a slot: bytes of `fill`, a word one higher; the descriptor of it for key `index`.
  wire::Descriptor Fill(std::uint32_t index, Place place, std::uint8_t fill,
                        std::uint64_t bytes = kSlotBytes);
  // The slot's word moves on; its bytes stay until they are filled again.
  void Advance(Place place);
  absl::Span<std::byte> SlotBytes(Place place);

  // TransportReceiver
  void OnAccepted(EndpointId endpoint) override;
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override;
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override;
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override;
  void OnClosed(EndpointId endpoint, const absl::Status& why) override;

 private:
  void MakeArena();
  void OnChannel(std::unique_ptr<LocalChannel> channel);
  void OnLocal(LocalChannel::Message message);
  void SendLocalWelcome();
  LocalChannel::Message SegmentsFrom(std::size_t first, std::size_t count,
                                     std::vector<wire::LocalSegment>& segments);
  void OnHello(absl::string_view body);
  void SendWelcome();

  Loop& loop_;
  LoopbackNetwork& network_;
  MemorySource& memory_;
  Script script_;
  std::unique_ptr<LocalListener> listener_;
  std::unique_ptr<LocalChannel> channel_;
  std::unique_ptr<Transport> transport_;
  std::string listening_at_;
  EndpointId endpoint_{};
  bool has_session_ = false;
  bool are_macs_right_ = true;
  std::uint64_t proofs_ = 0;
  std::uint64_t hellos_ = 0;
  std::string ticket_;
  std::string node_nonce_;
  std::string hello_body_;
  wire::Hello hello_;
  wire::LocalChallenge local_challenge_;
  wire::LocalProof local_proof_;
  std::unique_ptr<PeerMemory> client_pool_;
  std::vector<std::unique_ptr<OwnedMemory>> arena_;
  std::vector<Heard> heard_;
  absl::Span<std::byte> landing_;
  std::uint64_t landings_ = 0;
  std::vector<absl::Status> landed_;
  std::vector<absl::Status> bulks_sent_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_SUPPORT_SCRIPTED_NODE_H_
