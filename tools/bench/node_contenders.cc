#include "tools/bench/node_contenders.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/bench/pipeline.h"

namespace cairn::bench {
namespace {

constexpr std::uint64_t kSegmentBytes = 256 * kMiB;

absl::Status Refused(const char* what, const char* result) {
  return absl::UnavailableError(absl::StrCat(what, " ended ", result));
}

// OFFERs of one new block each, by whichever client.
absl::Status RunPuts(NodeSite& site, BenchClient& client, const Cell& cell, double until,
                     Slice& slice, std::uint64_t& next) {
  Pipeline* to = nullptr;
  Pipeline pipeline(
      site.needs().loop,
      {.window = cell.window, .operation_bytes = cell.bytes, .until = until, .first_number = next},
      slice, [&](std::uint32_t lane, std::uint64_t number) {
        std::vector<OfferBlock> blocks;
        blocks.push_back(site.NewBlock(number));
        client.client().Offer(
            std::move(blocks), BenchClient::Deadline(),
            [&to, lane](std::size_t, OfferResult result) {
              const bool is_stored = result == OfferResult::kStored;
              to->Done(lane, is_stored ? absl::OkStatus() : Refused("an offer", NameOf(result)));
            });
      });
  to = &pipeline;
  return pipeline.Run(next);
}

absl::Status CheckAllHit(const AcquireAnswer& answer) {
  for (const KeyAnswer& key : answer.keys) {
    if (!key.is_hit()) return Refused("a key's ACQUIRE", NameOf(key.result));
  }
  return absl::OkStatus();
}

// What the two ways to a node share: puts, and a pin on what gets will read.
class ThroughNode : public Contender {
 public:
  explicit ThroughNode(NodeSite& site) : site_(site) {}
  std::vector<pid_t> servers() const override { return {site_.pid()}; }
  absl::Status Prepare(std::uint64_t bytes) override {
    answer_ = {};
    return absl::OkStatus();
  }
  // A remote pin lasts ten seconds: each slice has its own.
  absl::Status Ready(const Cell& cell) override {
    answer_ = {};
    if (cell.operation == Operation::kPut) return absl::OkStatus();
    answer_ = client().Acquire(site_.keys());
    return CheckAllHit(answer_);
  }
  absl::Status Run(const Cell& cell, double until, Slice& slice) override {
    if (cell.operation == Operation::kGet) return RunGets(cell, until, slice);
    return RunPuts(site_, client(), cell, until, slice, next_);
  }

 protected:
  virtual BenchClient& client() = 0;
  virtual absl::Status RunGets(const Cell& cell, double until, Slice& slice) = 0;

  NodeSite& site_;
  AcquireAnswer answer_;
  std::uint64_t next_ = 0;
};

class NodeOverTcp final : public ThroughNode {
 public:
  using ThroughNode::ThroughNode;
  std::string name() const override { return "node"; }

 private:
  BenchClient& client() override { return site_.remote(); }
  absl::Status RunGets(const Cell& cell, double until, Slice& slice) override {
    Pipeline* to = nullptr;
    Pipeline pipeline(site_.needs().loop,
                      {.window = cell.window,
                       .operation_bytes = cell.bytes,
                       .until = until,
                       .first_number = next_},
                      slice, [&](std::uint32_t lane, std::uint64_t number) {
                        Pull(cell, number, [this, &to, lane, number, cell](KeyResult result) {
                          to->Done(lane, Check(cell, number, result));
                        });
                      });
    to = &pipeline;
    return pipeline.Run(next_);
  }
  void Pull(const Cell& cell, std::uint64_t number, absl::AnyInvocable<void(KeyResult)> done) {
    const std::uint64_t index = Buffers::SourceOffset(number, cell.bytes) / cell.bytes;
    std::vector<PullItem> items;
    items.push_back({.index = static_cast<std::uint32_t>(index),
                     .bytes = cell.bytes,
                     .checksum = site_.ChecksumAt(index),
                     .target = {.bytes = site_.needs().buffers.TargetOf(number, cell.bytes),
                                .returned = [] {}}});
    site_.remote().client().Pull(
        answer_.pin, std::move(items), BenchClient::Deadline(),
        [done = std::move(done)](std::vector<KeyResult> results) mutable { done(results[0]); });
  }
  absl::Status Check(const Cell& cell, std::uint64_t number, KeyResult result) const {
    if (result != KeyResult::kHit) return Refused("a pull", NameOf(result));
    return CheckLanded(site_.needs().buffers.TargetOf(number, cell.bytes),
                       Buffers::SourceOffset(number, cell.bytes));
  }
};

class NodeOnHost final : public ThroughNode {
 public:
  using ThroughNode::ThroughNode;
  std::string name() const override { return "host"; }

 private:
  BenchClient& client() override { return site_.local(); }
  absl::Status RunGets(const Cell& cell, double until, Slice& slice) override {
    const Buffers& buffers = site_.needs().buffers;
    std::vector<HitBlock> read(cell.window);
    std::vector<double> started(cell.window);
    for (double now = NowSeconds(); now < until;) {
      for (std::uint32_t i = 0; i < cell.window; ++i, ++next_) {
        started[i] = now;
        const std::uint64_t offset = Buffers::SourceOffset(next_, cell.bytes);
        const absl::Span<std::byte> target = buffers.TargetOf(next_, cell.bytes);
        read[i] = answer_.keys[offset / cell.bytes].block;
        std::memcpy(target.data(), read[i].bytes.data(), cell.bytes);
        CAIRN_RETURN_IF_ERROR(CheckLanded(target, offset));
        now = NowSeconds();
        slice.Add(cell.bytes, now - started[i]);
      }
      if (!StillValid(read)) return absl::AbortedError("a pinned slot was reused");
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::Status NodeSite::Prepare(std::uint64_t bytes) {
  bytes_ = bytes;
  local_.reset();
  remote_.reset();
  node_.reset();
  // Room for the source and as much again: in the end puts evict older puts.
  const StartedNode::Options options{.arena_bytes = 2 * kWorkingSetBytes + kSegmentBytes,
                                     .segment_bytes = kSegmentBytes,
                                     .serves_peers = true};
  CAIRN_ASSIGN_OR_RETURN(node_, StartedNode::Start(needs_.folder, options, needs_.termination));
  BenchClient::Options client{.run_dir = node_->run_dir(),
                              .block_bytes = bytes,
                              .pool = &needs_.pool,
                              .offered_bytes_max = kWorkingSetBytes};
  CAIRN_ASSIGN_OR_RETURN(local_, BenchClient::Open(needs_.loop, needs_.memory, client));
  client.peer_address = node_->peer_address();
  CAIRN_ASSIGN_OR_RETURN(remote_, BenchClient::Open(needs_.loop, needs_.memory, client));

  keys_.clear();
  checksums_.clear();
  std::vector<OfferBlock> blocks;
  for (std::uint64_t i = 0; i < kWorkingSetBytes / bytes; ++i) {
    const absl::Span<const std::byte> block = needs_.buffers.source.subspan(i * bytes, bytes);
    keys_.push_back(KeyOf(i));
    checksums_.push_back(ChecksumOf(block));
    blocks.push_back({.key = keys_[i], .bytes = block, .checksum = checksums_[i], .depth = 1});
  }
  return local_->Store(std::move(blocks));
}

OfferBlock NodeSite::NewBlock(std::uint64_t number) {
  const std::uint64_t offset = Buffers::SourceOffset(number, bytes_);
  return {.key = KeyOf(keys_made_++),
          .bytes = needs_.buffers.source.subspan(offset, bytes_),
          .checksum = ChecksumAt(offset / bytes_),
          .depth = 1};
}

std::unique_ptr<Contender> NewNodeOverTcp(NodeSite& site) {
  return std::make_unique<NodeOverTcp>(site);
}
std::unique_ptr<Contender> NewNodeOnHost(NodeSite& site) {
  return std::make_unique<NodeOnHost>(site);
}

}  // namespace cairn::bench
