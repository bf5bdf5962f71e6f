#ifndef CAIRN_TESTS_SUPPORT_RAW_PEER_H_
#define CAIRN_TESTS_SUPPORT_RAW_PEER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libs/node/lanes.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"
#include "libs/ports/memory.h"
#include "libs/ports/transport.h"
#include "libs/wire/local_messages.h"
#include "libs/wire/messages.h"

namespace cairn {

// RawPeer speaks to a node message by message, so that tests can also say what no client would. It
// keeps what it hears. Threads: its loop's.
class RawPeer final : public TransportReceiver {
 public:
  struct Options {
    std::string token_id = "dev";
    std::string token;
    wire::LocalProfile profile = wire::LocalProfile::kSameUser;
    std::uint64_t pool_bytes = 0;
    wire::Hello hello;
    bool sends_hello = true;  // false: stops before HELLO
  };
  using NewTransport = std::function<std::unique_ptr<Transport>(TransportReceiver&)>;
  RawPeer(Loop& loop, MemorySource& memory, const NewTransport& new_transport,
          const Options& options);
  ~RawPeer() override;

  // Begins the hand-shake on a channel, or to a listening node.
  void Meet(std::unique_ptr<LocalChannel> channel);
  void Dial(absl::string_view address);

  void Send(wire::Type type, std::string body);
  template <class M>
  void Say(wire::Type type, const M& message) {
    Send(type, wire::Encode(message));
  }
  void SendData(const wire::OfferData& header, absl::Span<const std::byte> bytes);
  void CloseChannel() { channel_.reset(); }
  void CloseEndpoint() { transport_->Close(endpoint_); }

  // What was heard, in order.
  std::optional<wire::Welcome> welcome;
  std::optional<wire::LocalWelcome> local_welcome;
  std::optional<wire::LocalRefused> local_refused;
  std::vector<wire::Acquired> acquired;
  std::vector<wire::WantMessage> wants;
  std::vector<wire::Stored> stored;
  std::vector<wire::PullFailed> pulls_failed;
  struct Data {
    wire::PullData header;
    std::string bytes;
  };
  std::vector<Data> data;
  std::vector<absl::Status> data_sent;  // ends of SendData
  bool is_channel_closed = false;
  bool is_closed = false;

  std::vector<std::unique_ptr<PeerMemory>> arena;  // mapped segments
  absl::Span<std::byte> pool() { return pool_->bytes(); }
  bool has_session() const {
    return welcome.has_value() && welcome->result == wire::WelcomeResult::kOk;
  }
  Options& options() { return options_; }

 private:
  void OnAccepted(EndpointId) override {}
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override;
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override;
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override;
  void OnClosed(EndpointId endpoint, const absl::Status& why) override;

  void OnChannelMessage(LocalChannel::Message message);
  void OnLocalWelcome(LocalChannel::Message message);

  Loop& loop_;
  MemorySource& memory_;
  Options options_;
  std::unique_ptr<OwnedMemory> pool_;
  wire::LocalChallenge challenge_;
  wire::LocalProof proof_;
  std::string hello_body_;
  std::unique_ptr<LocalChannel> channel_;
  EndpointId endpoint_;
  struct Arriving {
    wire::PullData header;
    std::vector<std::byte> bytes;
  };
  std::map<LandingId, Arriving> arriving_;
  std::uint64_t landings_ = 0;
  std::unique_ptr<Transport> transport_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_SUPPORT_RAW_PEER_H_
