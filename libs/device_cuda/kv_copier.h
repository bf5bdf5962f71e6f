#ifndef CAIRN_LIBS_DEVICE_CUDA_KV_COPIER_H_
#define CAIRN_LIBS_DEVICE_CUDA_KV_COPIER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/device_blocks.h"
#include "libs/device_cuda/registered_memory.h"
#include "libs/layout/kv_layout.h"

namespace cairn {

// How blocks get from the host's registered memory to the device. All have the same size, so one
// way is the faster for all of them.
enum class BlockCopies : std::uint8_t {
  kMeasured,  // whichever was faster when the pool was registered
  kEngine,    // a copy each, by the device's copy engine
  kKernel,    // one kernel that reads them all (kernels/copy/fetch.h)
};

// KvCopier brings blocks of the host to the device, and new keys and values back.
//
// Blocks of memory that the device reaches (registered_memory.h) are read from where they are, and
// kernels write new tokens into those of the pool. Other blocks come through two pinned stages,
// filled by the CPU in turn. A block is read before Load returns, or before the stream has done
// what Load queued.
class KvCopier {
 public:
  static absl::StatusOr<std::unique_ptr<KvCopier>> Create(rt::Device& device,
                                                          const KvLayout& layout,
                                                          BlockCopies copies);

  // As RegisteredMemory's, when the device is idle. UsePool also measures.
  absl::Status UsePool(absl::Span<const std::byte> memory, rt::Stream& stream);
  void UseArena(std::shared_ptr<const SharedArena> arena) { memory_.UseArena(std::move(arena)); }
  // The device can write to all of these.
  bool AreWritable(absl::Span<std::byte* const> blocks) const;
  BlockCopies copies() const { return copies_; }

  // Queues copies of these blocks, by rising slots, into the device's pool; of staged ones, slots
  // next to each other in one copy. What it queued must be done before it is called again.
  absl::Status Load(absl::Span<const DeviceBlocks::Load> loads, std::byte* pool,
                    rt::Stream& stream);

  // Puts one token's keys and values, [layer][K|V][kv_heads][head_dim], into a block of the host;
  // no other byte of it is touched.
  void Store(const std::byte* fresh, std::uint32_t token, std::byte* block) const;

 private:
  struct Stage {
    rt::Buffer memory;
    rt::Event is_free;
  };
  KvCopier(rt::Device& device, const KvLayout& layout, BlockCopies copies, Stage first,
           Stage second);
  static absl::StatusOr<Stage> MakeStage(rt::Device& device, std::size_t bytes);

  absl::Status Measure(rt::Stream& stream);
  absl::Status LoadRegistered(absl::Span<const DeviceBlocks::Load> loads, BlockCopies copies,
                              std::byte* pool, rt::Stream& stream);
  absl::Status LoadStaged(absl::Span<const DeviceBlocks::Load> loads, std::byte* pool,
                          rt::Stream& stream);

  rt::Device& device_;
  const KvLayout layout_;
  const BlockCopies wanted_;
  BlockCopies copies_;
  RegisteredMemory memory_;
  rt::Buffer fetches_;  // pinned: what FetchBlocks is to do
  Stage stages_[2];
  std::uint32_t next_stage_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_KV_COPIER_H_
