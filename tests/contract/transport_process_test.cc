#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "libs/base/hex.h"
#include "libs/base/units.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "tests/contract/child_process.h"
#include "tests/contract/transport_rig.h"

// transport_ucx against processes of their own: killed, stopped, hostile (ucx_peer_main.cc).
namespace cairn::contract {
namespace {

std::string WordOf(Way way) {
  return way == Way::kUcxShm ? "shm" : way == Way::kUcxTcp ? "tcp" : "dial";
}

class TransportProcess : public testing::TestWithParam<Way> {
 protected:
  static void SetUpTestSuite() {
    ::setenv("UCX_KEEPALIVE_INTERVAL", "1s", /*overwrite=*/0);  // or a killed peer takes 5 s
    SetUcxDefaults();
  }
  bool Await(absl::FunctionRef<bool()> is_done) { return rig_.loops().Await(is_done); }

  // Starts a peer and joins it with `process`; the endpoint here.
  EndpointId StartPeer(Process& process, std::unique_ptr<ChildProcess>& child) {
    std::size_t before = 0;
    rig_.loops().Record([&] { before = process.heard->accepted.size(); });
    child = std::make_unique<ChildProcess>(
        std::vector<std::string>{CAIRN_UCX_PEER, WordOf(GetParam()), AddressOf(process)});
    const std::string theirs = *FromHex(child->ReadLine());
    EndpointId endpoint;
    if (Dials(GetParam())) {
      EXPECT_TRUE(Await([&] { return process.heard->accepted.size() > before; }));
      rig_.loops().Record([&] { endpoint = process.heard->accepted.back(); });
    } else {
      rig_.loops().On(*process.loop, [&] { endpoint = *process.transport->Connect(theirs); });
    }
    return endpoint;
  }

  // What the peer needs, in hex: our Address(), or where we listen.
  std::string AddressOf(Process& process) {
    rig_.loops().On(*process.loop, [&] {
      if (!Dials(GetParam())) {
        address_ = process.transport->Address();
      } else if (address_.empty()) {
        address_ = *process.transport->Listen("127.0.0.1:0");
      }
    });
    return ToHex(address_);
  }

  void ExpectEcho(Process& process, EndpointId peer, const std::string& text) {
    std::size_t before = 0;
    rig_.loops().Record([&] { before = process.heard->messages.size(); });
    ASSERT_TRUE(rig_.Send(process, peer, 5, "echo " + text).ok());
    ASSERT_TRUE(Await([&] { return process.heard->messages.size() > before; }));
    rig_.loops().Record([&] { EXPECT_EQ(process.heard->messages.back().body, text); });
  }

  TransportRig rig_{GetParam()};
  std::string address_;
};

INSTANTIATE_TEST_SUITE_P(Ways, TransportProcess,
                         testing::Values(Way::kUcxShm, Way::kUcxTcp, Way::kUcxDial),
                         [](const auto& param) { return NameOf(param.param); });

TEST_P(TransportProcess, KilledPeerIsNoticedAndAllLoansEnd) {
  Process& here = rig_.NewProcess();
  std::unique_ptr<ChildProcess> child;
  const EndpointId peer = StartPeer(here, child);
  ExpectEcho(here, peer, "hello");
  // Stopped at the moment when its bulk is announced: neither direction can finish.
  here.heard->accepts_bulk = [&](EndpointId, const std::string&) {
    child->Signal(SIGSTOP);
    return true;
  };
  ASSERT_TRUE(rig_.Send(here, peer, 5, absl::StrCat("bulk ", 64 * kMiB)).ok());
  ASSERT_TRUE(Await([&] { return here.heard->landings_open == 1; }));
  const std::string bytes = Pattern(16 * kMiB, 1);
  std::vector<absl::Status> results;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(rig_.SendBulk(here, peer, absl::StrCat(i), bytes, results).ok());
  }
  child->Signal(SIGKILL);
  child->Wait();
  ASSERT_TRUE(Await([&] { return here.heard->closed_count(peer) == 1; }));
  rig_.loops().Record([&] {
    EXPECT_EQ(here.heard->why(peer).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(here.heard->landings_open, 0u);
    EXPECT_EQ(results.size(), 4u);
    for (const absl::Status& status : results) EXPECT_FALSE(status.ok());
  });
  // The next one is served.
  here.heard->accepts_bulk = nullptr;
  const EndpointId next = StartPeer(here, child);
  ExpectEcho(here, next, "again");
}

TEST_P(TransportProcess, StoppedPeersLoansEndAtCloseAndNoByteLandsLater) {
  Process& here = rig_.NewProcess();
  std::unique_ptr<ChildProcess> child;
  const EndpointId peer = StartPeer(here, child);
  ExpectEcho(here, peer, "hello");
  here.heard->accepts_bulk = [&](EndpointId, const std::string&) {
    child->Signal(SIGSTOP);
    return true;
  };
  ASSERT_TRUE(rig_.Send(here, peer, 5, absl::StrCat("bulk ", 64 * kMiB)).ok());
  ASSERT_TRUE(Await([&] { return here.heard->landings_open == 1; }));
  std::string bytes = Pattern(16 * kMiB, 1);
  std::vector<absl::Status> results;
  ASSERT_TRUE(rig_.SendBulk(here, peer, "out", bytes, results).ok());
  rig_.Close(here, peer);
  ASSERT_TRUE(Await([&] { return here.heard->closed_count(peer) == 1; }));
  rig_.loops().Record([&] {
    EXPECT_TRUE(here.heard->why(peer).ok());
    EXPECT_EQ(here.heard->landings_open, 0u);
    EXPECT_EQ(results.size(), 1u);
  });
  // All of it is ours again. The peer goes on, finds its endpoint gone and ends.
  std::string& landing = here.heard->mutable_landing("from peer");
  landing.assign(landing.size(), 'o');
  child->Signal(SIGCONT);
  EXPECT_EQ(child->Wait(), 0);
  rig_.loops().On(*here.loop, [] {});
  const EndpointId next = StartPeer(here, child);  // and whatever was on its way has been read
  ExpectEcho(here, next, "again");
  EXPECT_EQ(landing.find_first_not_of('o'), std::string::npos) << "a byte landed after OnClosed";
}

TEST_P(TransportProcess, HostileFramesCostALogLineOnly) {
  Process& here = rig_.NewProcess();
  std::unique_ptr<ChildProcess> good;
  const EndpointId peer = StartPeer(here, good);
  ExpectEcho(here, peer, "hello");
  const std::string address = AddressOf(here);
  for (const std::string kind : {"ids", "eager64m", "bulk64m", "headers", "kinds", "half"}) {
    SCOPED_TRACE(kind);
    ChildProcess raw({CAIRN_UCX_PEER, "raw-" + WordOf(GetParam()), address, kind});
    EXPECT_EQ(raw.ReadLine(), kind == "half" ? "half" : "done");
    EXPECT_EQ(raw.Wait(), 0);
    ExpectEcho(here, peer, kind);
  }
  rig_.loops().On(*here.loop, [&] {
    const UcxStats stats = static_cast<UcxTransport*>(here.transport.get())->stats();
    EXPECT_GT(stats.malformed_dropped, 0u);
    EXPECT_GT(stats.strangers_dropped, 0u);
    EXPECT_EQ(stats.bulks_received, 0u);
  });
  rig_.loops().Record([&] {
    EXPECT_EQ(here.heard->bulks_announced, 0u);
    EXPECT_EQ(here.heard->closed_count(peer), 0u);
    EXPECT_EQ(here.heard->messages.size(), 7u);
  });
}

TEST(UcxSameHostOtherUser, APeerOfAnotherHostIsRefused) {
  TransportRig rig(Way::kUcxTcp);
  Process& a = rig.NewProcess();
  Process& b = rig.NewProcess();
  std::string address;
  rig.loops().On(*b.loop, [&] { address = b.transport->Address(); });
  const std::string host = "127.0.0.1";
  ASSERT_NE(address.find(host), std::string::npos);
  address.replace(address.find(host), host.size(), "10.0.0.10");  // of the same length
  rig.loops().On(*a.loop, [&] {
    EXPECT_EQ(a.transport->Connect(address).status().code(), absl::StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace cairn::contract
