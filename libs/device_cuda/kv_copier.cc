#include "libs/device_cuda/kv_copier.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/copy/fetch.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

constexpr std::size_t kStageBytes =
    8 * kMiB;  // at least a block: far more than a copy's start costs

// What is measured: enough blocks that one start does not decide, enough runs that one hiccup does
// not.
constexpr std::size_t kMeasuredBlocks = 16, kMeasuredBytes = 64 * kMiB;
constexpr int kMeasuredRuns = 5;

std::chrono::nanoseconds Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

KvCopier::KvCopier(rt::Device& device, const KvLayout& layout, BlockCopies copies, Stage first,
                   Stage second)
    : device_(device),
      layout_(layout),
      wanted_(copies),
      copies_(copies == BlockCopies::kMeasured ? BlockCopies::kEngine : copies),
      memory_(device),
      stages_{std::move(first), std::move(second)} {}

absl::StatusOr<KvCopier::Stage> KvCopier::MakeStage(rt::Device& device, std::size_t bytes) {
  CAIRN_ASSIGN_OR_RETURN(rt::Buffer memory,
                         Allocate(device, CudaMemory::kPinned, "KV blocks in passing", bytes));
  rt::Result<rt::Event> event = device.OpenEvent();
  if (!event.ok()) return ToStatus(event.status());
  return Stage{std::move(memory), std::move(*event)};
}

absl::StatusOr<std::unique_ptr<KvCopier>> KvCopier::Create(rt::Device& device,
                                                           const KvLayout& layout,
                                                           BlockCopies copies) {
  const std::size_t bytes = std::max<std::size_t>(kStageBytes, layout.block_bytes());
  CAIRN_ASSIGN_OR_RETURN(Stage first, MakeStage(device, bytes));
  CAIRN_ASSIGN_OR_RETURN(Stage second, MakeStage(device, bytes));
  return std::unique_ptr<KvCopier>(  // tidy: allow(new) a private constructor
      new KvCopier(device, layout, copies, std::move(first), std::move(second)));
}

absl::Status KvCopier::UsePool(absl::Span<const std::byte> memory, rt::Stream& stream) {
  memory_.UsePool(memory);
  if (wanted_ != BlockCopies::kMeasured || memory_.pool().empty()) return absl::OkStatus();
  return Measure(stream);
}

absl::Status KvCopier::Measure(rt::Stream& stream) {
  const std::size_t block_bytes = layout_.block_bytes();
  const std::size_t in_pool = memory_.pool().size() / block_bytes;
  const std::size_t blocks = std::min({kMeasuredBlocks, in_pool, kMeasuredBytes / block_bytes});
  if (blocks == 0) return absl::OkStatus();  // so large that the copy engine it is
  CAIRN_ASSIGN_OR_RETURN(
      const rt::Buffer target,
      Allocate(device_, CudaMemory::kDevice, "measuring copies", blocks * block_bytes));
  std::vector<DeviceBlocks::Load> loads;
  for (std::size_t i = 0; i < blocks; ++i) {  // all over the pool
    loads.push_back({memory_.pool().data() + in_pool / blocks * i * block_bytes,
                     static_cast<std::uint32_t>(i)});
  }
  std::chrono::nanoseconds best[2] = {std::chrono::nanoseconds::max(),
                                      std::chrono::nanoseconds::max()};
  constexpr BlockCopies kWays[2] = {BlockCopies::kEngine, BlockCopies::kKernel};
  for (int run = 0; run < kMeasuredRuns; ++run) {
    for (int way = 0; way < 2; ++way) {
      const std::chrono::nanoseconds begin = Now();
      CAIRN_RETURN_IF_ERROR(LoadRegistered(loads, kWays[way], target.bytes(), stream));
      CAIRN_RETURN_IF_ERROR(ToStatus(stream.Synchronize()));
      best[way] = std::min(best[way], Now() - begin);
    }
  }
  copies_ = best[1] < best[0] ? BlockCopies::kKernel : BlockCopies::kEngine;
  LogEvent(LogLevel::kInfo, "kv_copies_measured")
      .With("block_bytes", block_bytes)
      .With("blocks", blocks)
      .With("engine_us", best[0].count() / 1000)
      .With("kernel_us", best[1].count() / 1000)
      .With("way", copies_ == BlockCopies::kKernel ? "kernel" : "engine");
  return absl::OkStatus();
}

bool KvCopier::AreWritable(absl::Span<std::byte* const> blocks) const {
  return std::all_of(blocks.begin(), blocks.end(), [this](const std::byte* block) {
    return memory_.IsWritable(block, layout_.block_bytes());
  });
}

absl::Status KvCopier::Load(absl::Span<const DeviceBlocks::Load> loads, std::byte* pool,
                            rt::Stream& stream) {
  std::vector<DeviceBlocks::Load> registered, staged;
  for (const DeviceBlocks::Load& load : loads) {
    const bool is_readable = memory_.IsReadable(load.block, layout_.block_bytes());
    (is_readable ? registered : staged).push_back(load);
  }
  CAIRN_RETURN_IF_ERROR(LoadRegistered(registered, copies_, pool, stream));
  return LoadStaged(staged, pool, stream);
}

absl::Status KvCopier::LoadRegistered(absl::Span<const DeviceBlocks::Load> loads,
                                      BlockCopies copies, std::byte* pool, rt::Stream& stream) {
  const std::size_t bytes = layout_.block_bytes();
  if (copies == BlockCopies::kEngine) {
    for (const DeviceBlocks::Load& load : loads) {
      CAIRN_RETURN_IF_ERROR(
          ToStatus(stream.CopyAsync(pool + load.slot * bytes, load.block, bytes)));
    }
    return absl::OkStatus();
  }
  if (loads.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(Grow(device_, CudaMemory::kPinned, "a list of blocks",
                             loads.size() * sizeof(kernels::FetchItem), &fetches_));
  auto* items = fetches_.as<kernels::FetchItem>();
  for (const DeviceBlocks::Load& load : loads) *items++ = {load.block, load.slot, 0};
  return ToStatus(kernels::FetchBlocks(stream, {.pool = pool,
                                                .items = fetches_.as<kernels::FetchItem>(),
                                                .count = static_cast<std::uint32_t>(loads.size()),
                                                .block_bytes = static_cast<std::uint32_t>(bytes)}));
}

absl::Status KvCopier::LoadStaged(absl::Span<const DeviceBlocks::Load> loads, std::byte* pool,
                                  rt::Stream& stream) {
  const std::size_t block_bytes = layout_.block_bytes();
  const std::size_t at_once = stages_[0].memory.size() / block_bytes;
  for (std::size_t first = 0; first < loads.size(); first += at_once) {
    const auto staged = loads.subspan(first, at_once);
    Stage& stage = stages_[next_stage_++ % 2];
    CAIRN_RETURN_IF_ERROR(ToStatus(stage.is_free.Synchronize()));
    for (std::size_t i = 0; i < staged.size(); ++i) {
      std::memcpy(stage.memory.bytes() + i * block_bytes, staged[i].block, block_bytes);
    }
    for (std::size_t i = 0, end = 0; i < staged.size(); i = end) {
      for (end = i + 1; end < staged.size() && staged[end].slot == staged[end - 1].slot + 1;) ++end;
      CAIRN_RETURN_IF_ERROR(ToStatus(stream.CopyAsync(pool + staged[i].slot * block_bytes,
                                                      stage.memory.bytes() + i * block_bytes,
                                                      (end - i) * block_bytes)));
    }
    CAIRN_RETURN_IF_ERROR(ToStatus(stream.Record(stage.is_free)));
  }
  return absl::OkStatus();
}

void KvCopier::Store(const std::byte* fresh, std::uint32_t token, std::byte* block) const {
  const KvLayout::Shape& shape = layout_.shape();
  const std::size_t row_bytes = layout_.row_bytes();
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    for (const bool is_value : {false, true}) {
      for (std::uint32_t head = 0; head < shape.kv_heads; ++head, fresh += row_bytes) {
        const std::uint64_t slots =
            is_value ? layout_.ValueOffset(layer, head) : layout_.KeyOffset(layer, head);
        std::memcpy(block + slots + token * row_bytes, fresh, row_bytes);
      }
    }
  }
}

}  // namespace cairn
