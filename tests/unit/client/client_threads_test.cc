// The client on a real loop, with threads that read its hits in place and drop its pins.
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "libs/base/mutex.h"
#include "libs/client/cache_client.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/support/scripted_node.h"

namespace cairn {
namespace {

constexpr int kThreads = 3;
constexpr int kAcquiresPerThread = 100;
constexpr std::uint32_t kKeys = 4;

// A value that one thread sets and another waits for.
template <class T>
class Mailbox {
 public:
  void Put(T value) {
    MutexLock lock(mutex_);
    value_ = std::move(value);
    cond_.NotifyOne();
  }
  T Take() {
    MutexLock lock(mutex_);
    while (!value_.has_value()) cond_.Wait(mutex_);
    T value = *std::move(value_);
    value_.reset();
    return value;
  }

 private:
  Mutex mutex_;
  CondVar cond_;
  std::optional<T> value_ CAIRN_GUARDED_BY(mutex_);
};

class ClientThreadsTest : public ::testing::Test {
 protected:
  // Runs `task` on the loop and waits for it.
  void OnLoop(Task task) {
    Mailbox<bool> done;
    loop_.Post([&] {
      task();
      done.Put(true);
    });
    done.Take();
  }

  void SetUp() override {
    loop_.Start("client");
    OnLoop([this] {
      node_ =
          std::make_unique<ScriptedNode>(loop_, network_, hub_, memory_, "/node", PeerProcess());
      node_->script().root = Digest256();
      node_->script().on_heard = [this](const ScriptedNode::Heard& heard) { OnHeard(heard); };
      node_->Listen("");
      for (std::uint32_t i = 0; i < kKeys; ++i) {
        hits_.push_back(node_->Fill(i, {SegmentId(0), SlotId(i)}, static_cast<std::uint8_t>(i)));
      }
      dialer_ = hub_.NewDialer(loop_, "/node", PeerProcess());
      ClientOptions options;
      options.tokens = [this](absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> done) {
        // From another thread, as a call of OpenSession would.
        token_threads_.emplace_back([done = std::move(done)]() mutable {
          done(AccessToken{"dev", "secret"});
        });
      };
      client_ = std::make_unique<CacheClient>(
          ClientPorts{.loop = loop_,
                      .copier = copier_,
                      .transports = [this](TransportProfile, TransportReceiver& receiver)
                          -> absl::StatusOr<std::unique_ptr<Transport>> {
                        return network_.NewTransport(loop_, receiver);
                      },
                      .dialer = dialer_.get(),
                      .memory = &memory_},
          std::move(options));
      client_->Start();
    });
  }
  void TearDown() override {
    Mailbox<bool> stopped;
    loop_.Post([&] { client_->Stop([&] { stopped.Put(true); }); });
    stopped.Take();
    OnLoop([this] {
      client_.reset();
      dialer_.reset();
      node_.reset();
    });
    loop_.Stop();
    for (std::thread& thread : token_threads_) thread.join();
  }

  // On the loop: every key is a hit, each time under a new pin.
  void OnHeard(const ScriptedNode::Heard& heard) {
    std::vector<PinId> released;
    if (heard.type == wire::Type::kAcquire) {
      const auto acquire = wire::DecodeAcquire(heard.body);
      released = acquire->released;
      wire::Acquired answer;
      answer.request = acquire->request;
      answer.pin = PinId(++pins_granted_);
      answer.hits = hits_;
      node_->Say(wire::Type::kAcquired, wire::Encode(answer));
    } else if (heard.type == wire::Type::kRelease) {
      released = wire::DecodeRelease(heard.body)->pins;
    }
    for (const PinId pin : released) EXPECT_TRUE(released_.insert(pin).second);
    if (released_.size() == kThreads * kAcquiresPerThread) all_released_.Put(true);
  }

  // On a thread of the engine's.
  void ReadInPlace() {
    for (int i = 0; i < kAcquiresPerThread; ++i) {
      Mailbox<AcquireAnswer> mailbox;
      loop_.Post([&] {
        client_->Acquire(AcquireRequest{.keys = std::vector<Key>(kKeys),
                                        .deadline = loop_.Now() + absl::Seconds(60)},
                         [&](AcquireAnswer answer) { mailbox.Put(std::move(answer)); });
      });
      AcquireAnswer answer = mailbox.Take();
      if (!answer.pin.is_held()) {  // no session yet
        --i;
        std::this_thread::yield();
        continue;
      }
      std::vector<HitBlock> hits;
      for (std::uint32_t key = 0; key < kKeys; ++key) {
        ASSERT_TRUE(answer.keys[key].is_hit());
        hits.push_back(answer.keys[key].block);
        EXPECT_EQ(hits[key].bytes[1234], static_cast<std::byte>(key));
      }
      EXPECT_TRUE(StillValid(hits));
      EXPECT_FALSE(answer.mapping->lost_at().has_value());
    }
  }

  AsioLoop loop_;
  LoopbackNetwork network_{1};
  LocalHub hub_{{.seed = 2}};
  HeapMemorySource memory_;
  ThreadCopier copier_{loop_, {.threads = 2}};
  std::unique_ptr<ScriptedNode> node_;
  std::unique_ptr<LocalDialer> dialer_;
  std::unique_ptr<CacheClient> client_;
  std::vector<std::thread> token_threads_;
  std::vector<wire::Descriptor> hits_;
  std::uint64_t pins_granted_ = 0;
  std::set<PinId> released_;
  Mailbox<bool> all_released_;
};

TEST_F(ClientThreadsTest, AnyThreadReadsInPlaceAndDropsPins) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([this] { ReadInPlace(); });
  for (std::thread& thread : threads) thread.join();
  all_released_.Take();
  OnLoop([this] {
    EXPECT_EQ(pins_granted_, kThreads * kAcquiresPerThread);
    EXPECT_EQ(client_->stats().sums_done, kKeys) << "each slot once, whoever asked";
  });
}

}  // namespace
}  // namespace cairn
