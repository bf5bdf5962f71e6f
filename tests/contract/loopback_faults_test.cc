#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "libs/base/bytes.h"
#include "libs/base/rng.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/transport_loopback/loopback_network.h"

// The rules that every transport keeps, on LoopbackNetwork while everything goes wrong: connections
// break, bulks fail, processes die and come back. One seed, one history.
namespace cairn::contract {
namespace {

// A process that checks what it is told.
class Node : public TransportReceiver {
 public:
  Node(ManualWorld& world, LoopbackNetwork& network, int number)
      : loop_(world.AddLoop(
            {.name = absl::StrCat("node", number), .clock_offset = absl::Seconds(number)})) {
    transport_ = network.NewTransport(loop_, *this);
  }
  ~Node() override {
    loop_.Crash();
    transport_.reset();
  }

  void OnAccepted(EndpointId endpoint) override { Admit(endpoint); }
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override {
    Endpoint& endpoint = Known(from);
    EXPECT_FALSE(endpoint.is_closing) << "a message after Close";
    std::uint64_t number = 0;
    ASSERT_EQ(body.size(), sizeof number);
    std::memcpy(&number, body.data(), sizeof number);
    EXPECT_EQ(number, endpoint.heard + 1) << "out of order";
    endpoint.heard = number;
  }
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override {
    Endpoint& endpoint = Known(from);
    EXPECT_FALSE(endpoint.is_closing) << "a bulk after Close";
    if (header.empty()) return std::nullopt;
    const LandingId landing(++landings_made_);
    ++endpoint.landings;
    auto& target = targets_[landing];
    target.first = from;
    target.second.resize(bytes);
    return Landing{landing,
                   absl::MakeSpan(reinterpret_cast<std::byte*>(target.second.data()), bytes)};
  }
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override {
    const auto it = targets_.find(landing);
    ASSERT_NE(it, targets_.end()) << "ended twice";
    EXPECT_EQ(it->second.first, from);
    if (status.ok()) {
      const std::string& bytes = it->second.second;
      EXPECT_EQ(bytes.find_first_not_of(bytes.empty() ? 'x' : bytes[0]), std::string::npos);
    }
    targets_.erase(it);
    --Known(from).landings;
  }
  void OnClosed(EndpointId endpoint, const absl::Status& why) override {
    const Endpoint& closed = Known(endpoint);
    EXPECT_EQ(closed.landings, 0) << "OnClosed before a landing ended";
    EXPECT_EQ(closed.sends, 0) << "OnClosed before a send ended";
    EXPECT_EQ(why.ok(), closed.is_closing);
    endpoints_.erase(endpoint);
  }

  void Connect(Node& peer) {
    const auto made = transport_->Connect(peer.transport_->Address());
    if (made.ok()) Admit(*made);
  }
  void ListenOnce() { address_ = *transport_->Listen("127.0.0.1:0"); }
  void Dial(const Node& peer) {
    const auto made = transport_->Dial(peer.address_);
    if (made.ok()) Admit(*made);
  }
  void Act(Rng& rng) {
    if (endpoints_.empty()) return;
    auto it = endpoints_.begin();
    std::advance(it, rng.Below(endpoints_.size()));
    const EndpointId id = it->first;
    Endpoint& endpoint = it->second;
    switch (rng.Below(10)) {
      case 0:
        if (rng.Chance(1, 3)) {
          endpoint.is_closing = true;
          transport_->Close(id);
        }
        return;
      case 1:
      case 2:
      case 3:
        return SendBulk(id, endpoint, rng);
      default: {
        std::uint64_t number = endpoint.sent + 1;
        std::string body(reinterpret_cast<const char*>(&number), sizeof number);
        const absl::Status sent = transport_->Send(id, MessageType(1), std::move(body));
        EXPECT_EQ(sent.ok(), !endpoint.is_closing) << sent;
        if (sent.ok()) endpoint.sent = number;
      }
    }
  }
  void CloseAll() {
    for (auto& [id, endpoint] : endpoints_) {
      endpoint.is_closing = true;
      transport_->Close(id);
    }
  }
  bool is_quiet() const { return endpoints_.empty() && targets_.empty() && sources_.empty(); }
  ManualLoop& loop() { return loop_; }

 private:
  struct Endpoint {
    std::uint64_t sent = 0;
    std::uint64_t heard = 0;
    int sends = 0;
    int landings = 0;
    bool is_closing = false;
  };
  void Admit(EndpointId endpoint) { EXPECT_TRUE(endpoints_.emplace(endpoint, Endpoint{}).second); }
  Endpoint& Known(EndpointId endpoint) {
    EXPECT_TRUE(endpoints_.contains(endpoint)) << "an endpoint that was closed or never made";
    return endpoints_[endpoint];
  }
  void SendBulk(EndpointId id, Endpoint& endpoint, Rng& rng) {
    const std::uint64_t number = ++sources_made_;
    std::string& source = sources_[number];
    source.assign(rng.Below(200'000), static_cast<char>('a' + rng.Below(26)));
    const absl::Status sent =
        transport_->SendBulk(id, MessageType(2), rng.Chance(1, 10) ? "" : "header", AsBytes(source),
                             [this, id, number](absl::Status) {
                               EXPECT_EQ(sources_.erase(number), 1u) << "done twice";
                               --Known(id).sends;
                             });
    EXPECT_EQ(sent.ok(), !endpoint.is_closing) << sent;
    if (sent.ok()) {
      ++endpoint.sends;
    } else {
      sources_.erase(number);
    }
  }

  ManualLoop& loop_;
  std::map<EndpointId, Endpoint> endpoints_;
  std::map<LandingId, std::pair<EndpointId, std::string>> targets_;
  std::map<std::uint64_t, std::string> sources_;
  std::uint64_t landings_made_ = 0;
  std::uint64_t sources_made_ = 0;
  std::string address_;
  std::unique_ptr<Transport> transport_;
};

void RunHistory(std::uint64_t seed) {
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Rng rng(seed);
  ManualWorld world({.seed = seed});
  LoopbackNetwork network(
      seed, {.endpoint_failures_per_million = 3000, .bulk_failures_per_million = 50'000});
  std::vector<std::unique_ptr<Node>> nodes;
  int made = 0;
  const auto start = [&] {
    nodes.push_back(std::make_unique<Node>(world, network, made++));
    nodes.back()->ListenOnce();
  };
  for (int i = 0; i < 3; ++i) start();
  for (int step = 0; step < 400; ++step) {
    Node& node = *nodes[rng.Below(nodes.size())];
    Node& other = *nodes[rng.Below(nodes.size())];
    const std::uint64_t dice = rng.Below(100);
    if (dice < 8 && &node != &other) {
      node.Connect(other);
      if (rng.Chance(9, 10)) other.Connect(node);
    } else if (dice < 12 && &node != &other) {
      node.Dial(other);
    } else if (dice == 12) {
      network.BreakEndpoints(node.loop());
    } else if (dice == 13) {
      network.HoldBulk();
    } else if (dice < 18) {
      network.ReleaseBulk();
    } else if (dice == 18) {
      const std::size_t victim = rng.Below(nodes.size());
      network.Crash(nodes[victim]->loop());
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(victim));  // and its memory goes
      start();
    } else {
      node.Act(rng);
    }
    for (std::uint64_t i = rng.Below(8); i > 0; --i) world.Step();
  }
  network.ReleaseBulk();
  for (auto& node : nodes) node->CloseAll();
  world.RunFor(absl::Seconds(10));
  EXPECT_EQ(network.loans(), 0u);
  for (auto& node : nodes) EXPECT_TRUE(node->is_quiet());
}

TEST(LoopbackFaultsTest, RulesHoldWhateverBreaks) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RunHistory(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace cairn::contract
