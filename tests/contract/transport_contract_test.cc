#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"
#include "tests/contract/transport_rig.h"

// What libs/ports/transport.h promises, of transport_loopback and transport_ucx.
namespace cairn::contract {
namespace {

class TransportContract : public testing::TestWithParam<Way> {
 protected:
  static void SetUpTestSuite() { SetUcxDefaults(); }
  bool Await(absl::FunctionRef<bool()> is_done) { return rig_.loops().Await(is_done); }

  TransportRig rig_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Ways, TransportContract,
                         testing::Values(Way::kLoopbackManual, Way::kLoopbackThreads,
                                         Way::kLoopbackDial, Way::kUcxShm, Way::kUcxTcp,
                                         Way::kUcxDial),
                         [](const auto& param) { return NameOf(param.param); });

// What needs both sides' Connect.
class ConnectContract : public TransportContract {};
INSTANTIATE_TEST_SUITE_P(Ways, ConnectContract,
                         testing::Values(Way::kLoopbackManual, Way::kLoopbackThreads, Way::kUcxShm,
                                         Way::kUcxTcp),
                         [](const auto& param) { return NameOf(param.param); });

TEST_P(TransportContract, MessagesOfAllSizesArriveInOrderBothWays) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  const auto [at_a, at_b] = rig_.Join(a, b);
  const std::vector<std::size_t> sizes = {0, 1, 100, 5000, 70'000, 1 << 20, 3, 0, 300'000};
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < 4 * sizes.size(); ++i) {
    bodies.push_back(Pattern(sizes[i % sizes.size()], i));
  }
  rig_.loops().On(*a.loop, [&, to = at_a] {
    for (const std::string& body : bodies) {
      ASSERT_TRUE(a.transport->Send(to, MessageType(31), body).ok());
    }
  });
  rig_.loops().On(*b.loop, [&, to = at_b] {
    for (const std::string& body : bodies) {
      ASSERT_TRUE(b.transport->Send(to, MessageType(0), body).ok());
    }
  });
  for (Process* process : {&a, &b}) {
    ASSERT_TRUE(Await([&] { return process->heard->messages.size() == bodies.size(); }));
    rig_.loops().Record([&] {
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Recorder::Message& message = process->heard->messages[i];
        EXPECT_EQ(message.from, process == &a ? at_a : at_b);
        EXPECT_EQ(message.type, process == &a ? 0 : 31);
        EXPECT_TRUE(message.body == bodies[i]) << "message " << i;
      }
    });
  }
}

TEST_P(TransportContract, LargestMessageArrivesAndALargerOneIsRefused) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  const auto [at_a, at_b] = rig_.Join(a, b);
  const std::string body = Pattern(limits::kMessageBytesMax, 1);
  EXPECT_TRUE(rig_.Send(a, at_a, 1, body).ok());
  ASSERT_TRUE(Await([&] { return b.heard->messages.size() == 1; }));
  EXPECT_TRUE(b.heard->messages[0].body == body);
  EXPECT_EQ(rig_.Send(a, at_a, 1, body + "x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(rig_.Send(a, at_a, kMessageTypesMax, "x").code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(TransportContract, BulkOfEverySizeLandsWhole) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  const auto [at_a, at_b] = rig_.Join(a, b);
  std::vector<absl::Status> results;
  std::vector<std::string> sources;
  const std::vector<std::size_t> sizes = {0, 1, 4096, 64 * kKiB, 1 * kMiB, 16 * kMiB};
  for (const std::size_t size : sizes) sources.push_back(Pattern(size, size));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ASSERT_TRUE(rig_.SendBulk(a, at_a, absl::StrCat("bulk ", i), sources[i], results).ok());
  }
  ASSERT_TRUE(Await([&] { return b.heard->landed.size() == sizes.size(); }));
  ASSERT_TRUE(Await([&] { return results.size() == sizes.size(); }));
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
  for (const Recorder::Landed& landed : b.heard->landed) {
    EXPECT_TRUE(landed.status.ok()) << landed.status;
    EXPECT_EQ(landed.from, at_b);
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_TRUE(b.heard->landing(absl::StrCat("bulk ", i)) == sources[i]) << "bulk " << i;
  }
  EXPECT_EQ(b.heard->landings_open, 0u);
}

TEST_P(TransportContract, ManyBulksCrossBothWays) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  const auto [at_a, at_b] = rig_.Join(a, b);
  constexpr int kBulks = 40;
  std::vector<std::string> sources;
  for (int i = 0; i < kBulks; ++i) sources.push_back(Pattern(100'000 + 1000 * i, i));
  std::vector<absl::Status> results;
  for (int i = 0; i < kBulks; ++i) {
    const std::string header = absl::StrCat(std::string(4000, 'h'), i);
    ASSERT_TRUE(rig_.SendBulk(a, at_a, header, sources[i], results).ok());
    ASSERT_TRUE(rig_.SendBulk(b, at_b, header, sources[i], results).ok());
  }
  ASSERT_TRUE(Await([&] {
    return a.heard->landed.size() == kBulks && b.heard->landed.size() == kBulks &&
           results.size() == 2 * kBulks;
  }));
  for (Process* process : {&a, &b}) {
    for (int i = 0; i < kBulks; ++i) {
      EXPECT_TRUE(process->heard->landing(absl::StrCat(std::string(4000, 'h'), i)) == sources[i]);
    }
  }
}

TEST_P(TransportContract, RefusedBulkEndsItsLoanAndMovesNothing) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  b.heard->accepts_bulk = [](EndpointId, const std::string& header) { return header != "no"; };
  const auto [at_a, at_b] = rig_.Join(a, b);
  const std::string bytes = Pattern(1 * kMiB, 1);
  std::vector<absl::Status> results;
  std::vector<absl::Status> later;
  ASSERT_TRUE(rig_.SendBulk(a, at_a, "no", bytes, results).ok());
  ASSERT_TRUE(Await([&] { return results.size() == 1; }));
  EXPECT_EQ(results[0].code(), absl::StatusCode::kAborted) << results[0];
  // The endpoint lives on.
  ASSERT_TRUE(rig_.SendBulk(a, at_a, "yes", bytes, later).ok());
  ASSERT_TRUE(Await([&] { return later.size() == 1 && b.heard->landed.size() == 1; }));
  EXPECT_TRUE(later[0].ok());
  EXPECT_TRUE(b.heard->landing("yes") == bytes);
  EXPECT_EQ(b.heard->bulks_announced, 2u);
}

TEST_P(ConnectContract, EitherSideMaySendBeforeTheOtherConnects) {
  for (const bool a_first : {true, false}) {
    Process& a = rig_.NewProcess();
    Process& b = rig_.NewProcess();
    Process& first = a_first ? a : b;
    Process& second = a_first ? b : a;
    std::string address_first;
    std::string address_second;
    rig_.loops().On(*first.loop, [&] { address_first = first.transport->Address(); });
    rig_.loops().On(*second.loop, [&] { address_second = second.transport->Address(); });
    EndpointId at_first;
    rig_.loops().On(*first.loop, [&] { at_first = *first.transport->Connect(address_second); });
    const std::string bytes = Pattern(200'000, 5);
    std::vector<absl::Status> results;
    ASSERT_TRUE(rig_.Send(first, at_first, 1, "early").ok());
    ASSERT_TRUE(rig_.SendBulk(first, at_first, "early bulk", bytes, results).ok());
    rig_.loops().On(*second.loop, [&] {
      auto at_second = second.transport->Connect(address_first);
      ASSERT_TRUE(at_second.ok());
      ASSERT_TRUE(second.transport->Send(*at_second, MessageType(2), "back").ok());
    });
    ASSERT_TRUE(Await([&] { return second.heard->messages.size() == 1; }));
    ASSERT_TRUE(Await([&] { return first.heard->messages.size() == 1; }));
    ASSERT_TRUE(Await([&] { return second.heard->landed.size() == 1 && results.size() == 1; }));
    EXPECT_EQ(second.heard->messages[0].body, "early");
    EXPECT_EQ(first.heard->messages[0].body, "back");
  }
}

TEST_P(TransportContract, CloseIsHeardOnBothSides) {
  for (const bool a_closes : {true, false}) {
    Process& a = rig_.NewProcess();
    Process& b = rig_.NewProcess();
    const auto [at_a, at_b] = rig_.Join(a, b);
    ASSERT_TRUE(rig_.Send(a, at_a, 1, "hello").ok());
    ASSERT_TRUE(rig_.Send(b, at_b, 1, "hello").ok());
    ASSERT_TRUE(Await([&] { return !a.heard->messages.empty() && !b.heard->messages.empty(); }));
    Process& closer = a_closes ? a : b;
    Process& other = a_closes ? b : a;
    const EndpointId closing = a_closes ? at_a : at_b;
    const EndpointId hearing = a_closes ? at_b : at_a;
    ASSERT_TRUE(rig_.Send(closer, closing, 2, "last words").ok());
    rig_.Close(closer, closing);
    EXPECT_EQ(rig_.Send(closer, closing, 1, "late").code(), absl::StatusCode::kNotFound);
    ASSERT_TRUE(Await([&] { return closer.heard->closed_count(closing) == 1; }));
    ASSERT_TRUE(Await([&] { return other.heard->closed_count(hearing) == 1; }));
    EXPECT_TRUE(closer.heard->why(closing).ok()) << closer.heard->why(closing);
    EXPECT_EQ(other.heard->why(hearing).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(other.heard->messages.back().body, "last words");
    EXPECT_EQ(rig_.Send(other, hearing, 1, "late").code(), absl::StatusCode::kNotFound);
    rig_.Close(closer, closing);  // no effect on a closed one
  }
}

TEST_P(TransportContract, BothMayCloseAtOnce) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  const auto [at_a, at_b] = rig_.Join(a, b);
  ASSERT_TRUE(rig_.Send(a, at_a, 1, "hello").ok());
  ASSERT_TRUE(Await([&] { return b.heard->messages.size() == 1; }));
  rig_.Close(a, at_a);
  rig_.Close(b, at_b);
  ASSERT_TRUE(Await([&] { return a.heard->closed_count(at_a) == 1; }));
  ASSERT_TRUE(Await([&] { return b.heard->closed_count(at_b) == 1; }));
}

TEST_P(ConnectContract, CloseBeforeThePeerConnectedIsHeard) {
  // Both orders, so that each of the two is once the one who waits.
  for (int i = 0; i < 2; ++i) {
    Process& a = rig_.NewProcess();
    Process& b = rig_.NewProcess();
    std::string address;
    rig_.loops().On(*b.loop, [&] { address = b.transport->Address(); });
    EndpointId at_a;
    rig_.loops().On(*a.loop, [&] {
      at_a = *a.transport->Connect(address);
      EXPECT_TRUE(a.transport->Send(at_a, MessageType(1), "never heard").ok());
    });
    rig_.Close(a, at_a);
    ASSERT_TRUE(Await([&] { return a.heard->closed_count(at_a) == 1; }));
    EXPECT_TRUE(a.heard->why(at_a).ok());
    // The next attempt of the same two works.
    const auto [again_a, again_b] = rig_.Join(a, b);
    ASSERT_TRUE(rig_.Send(a, again_a, 1, "second try").ok());
    ASSERT_TRUE(rig_.Send(b, again_b, 1, "second try").ok());
    ASSERT_TRUE(Await([&] { return !b.heard->messages.empty() && !a.heard->messages.empty(); }));
    EXPECT_EQ(b.heard->messages[0].body, "second try");
    EXPECT_EQ(b.heard->messages[0].from, again_b);
  }
}

TEST_P(ConnectContract, SameTwoMayMeetAgainAndHaveTwoEndpoints) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  const auto [a1, b1] = rig_.Join(a, b);
  ASSERT_TRUE(rig_.Send(a, a1, 1, "one").ok());
  ASSERT_TRUE(Await([&] { return b.heard->messages.size() == 1; }));
  const auto [a2, b2] = rig_.Join(a, b);
  ASSERT_TRUE(rig_.Send(a, a2, 1, "two").ok());
  ASSERT_TRUE(rig_.Send(b, b2, 1, "two").ok());
  ASSERT_TRUE(
      Await([&] { return b.heard->messages.size() == 2 && a.heard->messages.size() == 1; }));
  EXPECT_EQ(b.heard->messages[1].from, b2);
  EXPECT_EQ(a.heard->messages[0].from, a2);
  // Closing one leaves the other alone.
  rig_.Close(b, b1);
  ASSERT_TRUE(Await([&] { return a.heard->closed_count(a1) == 1; }));
  ASSERT_TRUE(rig_.Send(a, a2, 1, "three").ok());
  ASSERT_TRUE(Await([&] { return b.heard->messages.size() == 3; }));
  EXPECT_EQ(b.heard->messages[2].from, b2);
}

TEST_P(TransportContract, LoansEndBeforeOnClosedOfEitherSide) {
  // The BYE queues behind the bulks, however long a loaded machine takes over them: keepalive
  // cannot tell b of the end of a peer in b's own process.
  rig_.ucx.close_max = absl::Seconds(60);
  for (const bool sender_closes : {true, false}) {
    Process& a = rig_.NewProcess();
    Process& b = rig_.NewProcess();
    const auto [at_a, at_b] = rig_.Join(a, b);
    constexpr std::size_t kBulks = 8;
    const std::string bytes = Pattern(16 * kMiB, 3);
    std::vector<absl::Status> results;
    for (std::size_t i = 0; i < kBulks; ++i) {
      ASSERT_TRUE(rig_.SendBulk(a, at_a, absl::StrCat(i), bytes, results).ok());
    }
    // Under way, or over already: a quick transport may be through before anyone looks.
    ASSERT_TRUE(Await([&] { return b.heard->landings_open > 0 || !b.heard->landed.empty(); }));
    if (sender_closes) {
      rig_.Close(a, at_a);
    } else {
      rig_.Close(b, at_b);
    }
    std::size_t ended_at_close = 0;
    ASSERT_TRUE(Await([&] {
      if (a.heard->closed_count(at_a) == 0) return false;
      ended_at_close = results.size();
      return true;
    }));
    EXPECT_EQ(ended_at_close, kBulks);
    ASSERT_TRUE(Await([&] { return b.heard->closed_count(at_b) == 1; }));
    EXPECT_EQ(b.heard->landings_open, 0u);
    for (const Recorder::Landed& landed : b.heard->landed) {
      if (!landed.status.ok()) continue;
      const std::string header = absl::StrCat(landed.landing.value() - 1);
      EXPECT_TRUE(b.heard->landing(header) == bytes) << "OK, but not all bytes are there";
    }
  }
}

TEST_P(TransportContract, DestructionEndsLoansAndPeersHearOfIt) {
  rig_.ucx.end_max = absl::Seconds(60);  // the BYE queues behind the bulks here, too
  for (const bool sender_ends : {true, false}) {
    Process& a = rig_.NewProcess();
    Process& b = rig_.NewProcess();
    const auto [at_a, at_b] = rig_.Join(a, b);
    std::vector<absl::Status> results;
    std::string bytes = Pattern(4 * kMiB, 3);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(rig_.SendBulk(a, at_a, absl::StrCat(i), bytes, results).ok());
    }
    ASSERT_TRUE(Await([&] { return b.heard->landings_open > 0 || !b.heard->landed.empty(); }));
    if (sender_ends) {
      rig_.End(a);
      std::memset(bytes.data(), 0, bytes.size());  // ours again: nobody may read it any more
      ASSERT_TRUE(Await([&] { return b.heard->closed_count(at_b) == 1; }));
      EXPECT_EQ(b.heard->landings_open, 0u);
      EXPECT_EQ(b.heard->why(at_b).code(), absl::StatusCode::kUnavailable);
    } else {
      rig_.End(b);
      ASSERT_TRUE(Await([&] { return a.heard->closed_count(at_a) == 1; }));
      EXPECT_EQ(results.size(), 4u);
    }
  }
}

TEST_P(TransportContract, EndpointToADeadPeerCloses) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  EndpointId at_a;
  if (Dials(GetParam())) {
    std::string bound;
    rig_.loops().On(*b.loop, [&] { bound = *b.transport->Listen("127.0.0.1:0"); });
    rig_.End(b);
    rig_.loops().On(*a.loop, [&] { at_a = *a.transport->Dial(bound); });
  } else {
    std::string address;
    rig_.loops().On(*b.loop, [&] { address = b.transport->Address(); });
    rig_.End(b);
    absl::StatusOr<EndpointId> made;
    rig_.loops().On(*a.loop, [&] { made = a.transport->Connect(address); });
    if (!made.ok()) return;  // it may be known at once
    at_a = *made;
  }
  ASSERT_TRUE(Await([&] { return a.heard->closed_count(at_a) == 1; }));
  EXPECT_EQ(a.heard->why(at_a).code(), absl::StatusCode::kUnavailable);
}

TEST_P(ConnectContract, QueueOfAnEndpointIsBounded) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  std::string address;
  rig_.loops().On(*b.loop, [&] { address = b.transport->Address(); });
  rig_.loops().On(*a.loop, [&] {
    const EndpointId to = *a.transport->Connect(address);  // b never connects back
    const std::string body(limits::kMessageBytesMax, 'x');
    absl::Status status;
    std::size_t sent = 0;
    while (status.ok() && sent < 1000) {
      status = a.transport->Send(to, MessageType(1), body);
      sent += status.ok() ? 1 : 0;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(sent, limits::kTransportQueuedBytesMax / limits::kMessageBytesMax);
  });
}

TEST_P(TransportContract, BadAddressesAreRefused) {
  Process& a = rig_.NewProcess();
  rig_.loops().On(*a.loop, [&] {
    const std::string own = a.transport->Address();
    EXPECT_LE(own.size(), limits::kTransportAddressBytesMax);
    EXPECT_FALSE(a.transport->Connect("").ok());
    EXPECT_FALSE(a.transport->Connect("rubbish").ok());
    EXPECT_FALSE(a.transport->Connect(own).ok()) << "its own";
    EXPECT_FALSE(a.transport->Connect(own + "x").ok());
    EXPECT_FALSE(a.transport->Connect(own.substr(0, own.size() / 2)).ok());
    EXPECT_EQ(a.transport->Send(EndpointId(99), MessageType(1), "x").code(),
              absl::StatusCode::kNotFound);
    a.transport->Close(EndpointId(99));
  });
}

TEST_P(TransportContract, CallsFromInsideCallbacksWork) {
  Process& a = rig_.NewProcess();
  Process& b = rig_.NewProcess();
  b.heard->on_message = [&](const Recorder::Message& message) {
    // Not Record: this runs inside the transport's callback, on its loop.
    if (message.body == "close") {
      b.transport->Close(message.from);
    } else {
      EXPECT_TRUE(b.transport->Send(message.from, MessageType(9), message.body + "!").ok());
    }
  };
  const auto [at_a, at_b] = rig_.Join(a, b);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(rig_.Send(a, at_a, 1, absl::StrCat(i)).ok());
  ASSERT_TRUE(Await([&] { return a.heard->messages.size() == 50; }));
  EXPECT_EQ(a.heard->messages[49].body, "49!");
  ASSERT_TRUE(rig_.Send(a, at_a, 1, "close").ok());
  ASSERT_TRUE(Await([&] { return a.heard->closed_count(at_a) == 1; }));
  ASSERT_TRUE(Await([&] { return b.heard->closed_count(at_b) == 1; }));
}

}  // namespace
}  // namespace cairn::contract
