#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/local_socket/local_socket.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "tests/contract/loop_rig.h"
#include "tests/contract/temp_folder.h"

// What libs/ports/local_channel.h promises, of local_loopback and local_socket.
namespace cairn::contract {
namespace {

// One side of a channel and what it heard.
struct Side {
  std::unique_ptr<LocalChannel> channel;
  std::vector<LocalChannel::Message> messages;
  std::vector<absl::Status> closed;
};

class LocalChannelContract : public testing::TestWithParam<bool> {
 protected:
  LocalChannelContract() {
    if (GetParam()) {
      memory_ = std::make_unique<HeapMemorySource>();
    } else {
      memory_ = std::make_unique<MemfdMemorySource>(MemfdMemorySource::Options{});
    }
  }
  ~LocalChannelContract() override {
    rig_->On(server_loop_, [&] {
      near_.channel.reset();
      listener_.reset();
    });
    rig_->On(client_loop_, [&] { far_.channel.reset(); });
    rig_->StopLoop(server_loop_);
    rig_->StopLoop(client_loop_);
  }

  std::unique_ptr<LocalListener> NewListener() {
    if (GetParam()) return hub_.NewListener(server_loop_, path_, PeerProcess{.uid = 1, .pid = 10});
    return NewSocketListener(server_loop_, {.path = path_});
  }
  std::unique_ptr<LocalDialer> NewDialer() {
    if (GetParam()) return hub_.NewDialer(client_loop_, path_, PeerProcess{.uid = 2, .pid = 20});
    return NewSocketDialer(client_loop_, path_);
  }
  void Begin(Side& side) {
    side.channel->Start(
        [this, &side](LocalChannel::Message message) {
          rig_->Record([&] {
            EXPECT_TRUE(side.closed.empty()) << "a message after on_closed";
            side.messages.push_back(std::move(message));
          });
        },
        [this, &side](absl::Status why) { rig_->Record([&] { side.closed.push_back(why); }); });
  }
  // `near_` is the listener's side, `far_` the dialler's; both started if `starts`.
  void Join(bool starts = true) {
    rig_->On(server_loop_, [&] {
      listener_ = NewListener();
      const absl::Status started = listener_->Start([&, starts](std::unique_ptr<LocalChannel> c) {
        rig_->Record([&] { near_.channel = std::move(c); });
        if (starts) Begin(near_);
      });
      ASSERT_TRUE(started.ok()) << started;
    });
    rig_->On(client_loop_, [&] {
      auto dialled = NewDialer()->Dial();
      ASSERT_TRUE(dialled.ok()) << dialled.status();
      far_.channel = *std::move(dialled);
      if (starts) Begin(far_);
    });
    ASSERT_TRUE(rig_->Await([&] { return near_.channel != nullptr; }));
  }
  LocalChannel::Message Body(std::string body) {
    LocalChannel::Message message;
    message.body = std::move(body);
    return message;
  }
  void SendFar(std::string body) {
    rig_->On(client_loop_, [&] { EXPECT_TRUE(far_.channel->Send(Body(std::move(body))).ok()); });
  }

  std::unique_ptr<LoopRig> rig_ = NewRig(GetParam());
  Loop& server_loop_ = rig_->NewLoop();
  Loop& client_loop_ = rig_->NewLoop();
  LocalHub hub_{LocalHub::Options{}};
  TempFolder folder_;
  std::string path_ = folder_ / "node.sock";
  std::unique_ptr<MemorySource> memory_;
  std::unique_ptr<LocalListener> listener_;
  Side near_;
  Side far_;
};

INSTANTIATE_TEST_SUITE_P(Channels, LocalChannelContract, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "Loopback" : "Socket");
});

TEST_P(LocalChannelContract, MessagesArriveWholeAndInOrderBothWays) {
  Join();
  const std::vector<std::size_t> sizes = {0, 1, 100, 70'000, limits::kLocalMessageBytesMax, 5};
  rig_->On(client_loop_, [&] {
    for (const std::size_t size : sizes) {
      EXPECT_TRUE(far_.channel->Send(Body(std::string(size, 'f'))).ok());
    }
  });
  rig_->On(server_loop_, [&] {
    for (const std::size_t size : sizes) {
      EXPECT_TRUE(near_.channel->Send(Body(std::string(size, 'n'))).ok());
    }
  });
  for (Side* side : {&near_, &far_}) {
    ASSERT_TRUE(rig_->Await([&] { return side->messages.size() == sizes.size(); }));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(side->messages[i].body == std::string(sizes[i], side == &near_ ? 'f' : 'n'));
    }
  }
}

TEST_P(LocalChannelContract, GrantsTravelWithTheirMessage) {
  auto owned = memory_->Create("test", 64 * kKiB);
  ASSERT_TRUE(owned.ok());
  (*owned)->bytes()[0] = std::byte{42};
  Join();
  const auto send_all = [&](Side& from, std::size_t most) {
    EXPECT_TRUE(from.channel->Send(Body("none")).ok());
    for (const std::size_t count : {std::size_t{1}, most}) {
      LocalChannel::Message message = Body(absl::StrCat(count));
      for (std::size_t i = 0; i < count; ++i) message.grants.push_back(*(*owned)->Grant());
      EXPECT_TRUE(from.channel->Send(std::move(message)).ok());
    }
    EXPECT_TRUE(from.channel->Send(Body("none")).ok());
  };
  rig_->On(client_loop_, [&] { send_all(far_, limits::kLocalGrantsToListenerMax); });
  rig_->On(server_loop_, [&] { send_all(near_, limits::kLocalGrantsMax); });
  for (Side* to : {&near_, &far_}) {
    ASSERT_TRUE(rig_->Await([&] { return to->messages.size() == 4; }));
    EXPECT_EQ(to->messages[0].grants.size(), 0u);
    EXPECT_EQ(to->messages[1].grants.size(), 1u);
    EXPECT_EQ(to->messages[2].grants.size(),
              to == &near_ ? limits::kLocalGrantsToListenerMax : limits::kLocalGrantsMax);
    EXPECT_EQ(to->messages[3].grants.size(), 0u);
    auto mapped = memory_->Map(std::move(to->messages[2].grants.back()), kMiB);
    ASSERT_TRUE(mapped.ok()) << mapped.status();
    EXPECT_EQ((*mapped)->bytes()[0], std::byte{42});
  }
}

TEST_P(LocalChannelContract, OverTheLimitsIsRefused) {
  Join();
  rig_->On(client_loop_, [&] {
    EXPECT_FALSE(
        far_.channel->Send(Body(std::string(limits::kLocalMessageBytesMax + 1, 'x'))).ok());
    LocalChannel::Message message;
    message.grants.resize(limits::kLocalGrantsToListenerMax + 1);
    EXPECT_FALSE(far_.channel->Send(std::move(message)).ok());
  });
  rig_->On(server_loop_, [&] {
    LocalChannel::Message message;
    message.grants.resize(limits::kLocalGrantsMax + 1);
    EXPECT_FALSE(near_.channel->Send(std::move(message)).ok());
  });
  SendFar("lives on");
  EXPECT_TRUE(rig_->Await([&] { return near_.messages.size() == 1; }));
}

TEST_P(LocalChannelContract, CloseIsHeardAfterTheLastMessage) {
  Join();
  SendFar("last words");
  rig_->On(client_loop_, [&] { far_.channel.reset(); });
  ASSERT_TRUE(rig_->Await([&] { return near_.closed.size() == 1; }));
  ASSERT_EQ(near_.messages.size(), 1u);
  EXPECT_EQ(near_.messages[0].body, "last words");
  EXPECT_EQ(near_.closed[0].code(), absl::StatusCode::kUnavailable);
  rig_->On(server_loop_, [&] { EXPECT_FALSE(near_.channel->Send(Body("late")).ok()); });
  EXPECT_EQ(far_.closed.size(), 0u) << "its own destruction calls nothing";
}

TEST_P(LocalChannelContract, WhatCameBeforeStartIsKept) {
  Join(/*starts=*/false);
  SendFar("early");
  rig_->On(client_loop_, [&] { far_.channel.reset(); });
  rig_->On(server_loop_, [&] { Begin(near_); });
  ASSERT_TRUE(rig_->Await([&] { return near_.closed.size() == 1; }));
  ASSERT_EQ(near_.messages.size(), 1u);
  EXPECT_EQ(near_.messages[0].body, "early");
}

TEST_P(LocalChannelContract, ChannelMayEndInsideItsCallbacks) {
  Join(/*starts=*/false);
  bool has_ended = false;
  bool has_closed = false;
  rig_->On(server_loop_, [&] {
    near_.channel->Start(
        [&](LocalChannel::Message) {
          near_.channel.reset();
          rig_->Record([&] { has_ended = true; });
        },
        [](absl::Status) { FAIL() << "on_closed of a destroyed channel"; });
  });
  rig_->On(client_loop_, [&] {
    far_.channel->Start([](LocalChannel::Message) {},
                        [&](absl::Status) {
                          far_.channel.reset();
                          rig_->Record([&] { has_closed = true; });
                        });
    EXPECT_TRUE(far_.channel->Send(Body("one")).ok());
    (void)far_.channel->Send(Body("two"));  // the other side may be gone already
  });
  EXPECT_TRUE(rig_->Await([&] { return has_ended && has_closed; }));
}

TEST_P(LocalChannelContract, PeerThatDoesNotReadIsCutOff) {
  Join(/*starts=*/false);
  rig_->On(client_loop_, [&] {
    Begin(far_);
    absl::Status status;
    int sent = 0;
    while (status.ok() && sent < 1000) {
      status = far_.channel->Send(Body(std::string(limits::kLocalMessageBytesMax, 'x')));
      ++sent;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_GE(sent, 16);
  });
  EXPECT_TRUE(rig_->Await([&] { return far_.closed.size() == 1; }));
  EXPECT_EQ(far_.closed[0].code(), absl::StatusCode::kResourceExhausted);
}

TEST_P(LocalChannelContract, LargeBacklogIsDeliveredToASlowReader) {
  Join(/*starts=*/false);
  constexpr int kMessages = 12;  // more than a socket's buffer, less than the limit
  rig_->On(client_loop_, [&] {
    Begin(far_);
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_TRUE(
          far_.channel->Send(Body(std::string(limits::kLocalMessageBytesMax, 'a' + i))).ok());
    }
  });
  rig_->On(server_loop_, [&] {
    Begin(near_);
    EXPECT_TRUE(near_.channel->Send(Body("back")).ok());
  });
  ASSERT_TRUE(rig_->Await([&] { return near_.messages.size() == kMessages; }));
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(near_.messages[i].body[0], 'a' + i);
  EXPECT_TRUE(rig_->Await([&] { return far_.messages.size() == 1; }));
}

TEST_P(LocalChannelContract, DialOfNobodyIsUnavailable) {
  rig_->On(client_loop_,
           [&] { EXPECT_EQ(NewDialer()->Dial().status().code(), absl::StatusCode::kUnavailable); });
  Join();
  rig_->On(server_loop_, [&] { listener_.reset(); });
  rig_->On(client_loop_,
           [&] { EXPECT_EQ(NewDialer()->Dial().status().code(), absl::StatusCode::kUnavailable); });
  SendFar("the channel outlives its listener");
  EXPECT_TRUE(rig_->Await([&] { return near_.messages.size() == 1; }));
}

TEST_P(LocalChannelContract, SecondListenerIsRefusedAndALaterOneServed) {
  Join();
  rig_->On(server_loop_, [&] {
    auto second = NewListener();
    EXPECT_EQ(second->Start([](std::unique_ptr<LocalChannel>) {}).code(),
              absl::StatusCode::kAlreadyExists);
  });
  rig_->On(client_loop_,
           [&] { EXPECT_TRUE(NewDialer()->Dial().ok()) << "the first still serves"; });
  rig_->On(server_loop_, [&] {
    listener_.reset();
    listener_ = NewListener();
    EXPECT_TRUE(listener_->Start([](std::unique_ptr<LocalChannel>) {}).ok());
  });
}

TEST_P(LocalChannelContract, PeerIsNamed) {
  Join();
  const PeerProcess peer = near_.channel->peer();
  EXPECT_EQ(peer.pid, GetParam() ? 20 : ::getpid());
  EXPECT_EQ(peer.uid, GetParam() ? 2u : ::getuid());
}

TEST(LocalHubTest, CrashEndsChannelsAfterWhatWasSent) {
  ManualRig rig(3);
  LocalHub hub({.seed = 3});
  auto& node = static_cast<ManualLoop&>(rig.NewLoop());
  auto& worker = static_cast<ManualLoop&>(rig.NewLoop());
  auto listener = hub.NewListener(node, "/sock", {});
  std::unique_ptr<LocalChannel> at_node;
  ASSERT_TRUE(
      listener->Start([&](std::unique_ptr<LocalChannel> c) { at_node = std::move(c); }).ok());
  auto channel = *hub.NewDialer(worker, "/sock", {})->Dial();
  std::vector<std::string> heard;
  ASSERT_TRUE(rig.Await([&] { return at_node != nullptr; }));
  at_node->Start([&](LocalChannel::Message m) { heard.push_back(m.body); },
                 [&](absl::Status) { heard.push_back("closed"); });
  LocalChannel::Message message;
  message.body = "sent";
  ASSERT_TRUE(channel->Send(std::move(message)).ok());
  hub.Crash(worker);
  worker.Crash();
  channel.reset();  // its process's objects go; nobody hears of it twice
  rig.world().RunFor(absl::Seconds(1));
  EXPECT_EQ(heard, (std::vector<std::string>{"sent", "closed"}));
  // The node dies; its path can be bound again.
  hub.Crash(node);
  node.Crash();
  auto& next = static_cast<ManualLoop&>(rig.NewLoop());
  auto again = hub.NewListener(next, "/sock", {});
  EXPECT_TRUE(again->Start([](std::unique_ptr<LocalChannel>) {}).ok());
  listener.reset();
}

}  // namespace
}  // namespace cairn::contract
