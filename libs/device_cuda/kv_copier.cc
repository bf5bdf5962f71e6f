#include "libs/device_cuda/kv_copier.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

constexpr std::size_t kStageBytes =
    8 * kMiB;  // at least a block: far more than a copy's start costs

}  // namespace

KvCopier::KvCopier(rt::Device& device, const KvLayout& layout, Stage first, Stage second)
    : device_(device), layout_(layout), stages_{std::move(first), std::move(second)} {}

absl::StatusOr<KvCopier::Stage> KvCopier::MakeStage(rt::Device& device, std::size_t bytes) {
  CAIRN_ASSIGN_OR_RETURN(rt::Buffer memory,
                         Allocate(device, CudaMemory::kPinned, "KV blocks in passing", bytes));
  rt::Result<rt::Event> event = device.OpenEvent();
  if (!event.ok()) return ToStatus(event.status());
  return Stage{std::move(memory), std::move(*event)};
}

absl::StatusOr<std::unique_ptr<KvCopier>> KvCopier::Create(rt::Device& device,
                                                           const KvLayout& layout) {
  const std::size_t bytes = std::max<std::size_t>(kStageBytes, layout.block_bytes());
  CAIRN_ASSIGN_OR_RETURN(Stage first, MakeStage(device, bytes));
  CAIRN_ASSIGN_OR_RETURN(Stage second, MakeStage(device, bytes));
  return std::unique_ptr<KvCopier>(  // tidy: allow(new) a private constructor
      new KvCopier(device, layout, std::move(first), std::move(second)));
}

void KvCopier::UsePool(absl::Span<const std::byte> memory) {
  registered_ = rt::Buffer();
  if (memory.empty()) return;
  // The engine's pool is memory of its own: chunks name blocks of it to write to.
  rt::Result<rt::Buffer> registered = device_.RegisterHost(const_cast<std::byte*>(memory.data()),
                                                           memory.size(), /*read_only=*/false);
  if (registered.ok()) {
    registered_ = std::move(*registered);
  } else {
    LogEvent(LogLevel::kWarning, "kv_pool_not_registered")
        .With("bytes", memory.size())
        .With("reason", registered.status().message());
  }
}

bool KvCopier::IsRegistered(const std::byte* block) const {
  const std::byte* begin = registered_.bytes();
  return block >= begin && block < begin + registered_.size() &&
         layout_.block_bytes() <= registered_.size() - static_cast<std::size_t>(block - begin);
}

bool KvCopier::AreRegistered(absl::Span<std::byte* const> blocks) const {
  return std::all_of(blocks.begin(), blocks.end(),
                     [this](const std::byte* block) { return IsRegistered(block); });
}

absl::Status KvCopier::Load(absl::Span<const DeviceBlocks::Load> loads, std::byte* pool,
                            rt::Stream& stream) {
  std::vector<DeviceBlocks::Load> staged;
  for (const DeviceBlocks::Load& load : loads) {
    if (!IsRegistered(load.block)) {
      staged.push_back(load);
      continue;
    }
    const std::size_t bytes = layout_.block_bytes();
    CAIRN_RETURN_IF_ERROR(ToStatus(stream.CopyAsync(pool + load.slot * bytes, load.block, bytes)));
  }
  return LoadStaged(staged, pool, stream);
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
