#ifndef CAIRN_LIBS_DEVICE_CUDA_KV_COPIER_H_
#define CAIRN_LIBS_DEVICE_CUDA_KV_COPIER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/device_blocks.h"
#include "libs/layout/kv_layout.h"

namespace cairn {

// KvCopier brings blocks of the host to the device, and new keys and values back.
//
// The host's pool is registered with the device, where it allows that: then blocks are copied from
// where they are, and kernels write new tokens into them. Other blocks (a node's arena is mapped
// read-only, which not every driver registers) come through two pinned stages, filled by the CPU in
// turn. A block is read before Load returns, or before the stream has done what Load queued.
class KvCopier {
 public:
  static absl::StatusOr<std::unique_ptr<KvCopier>> Create(rt::Device& device,
                                                          const KvLayout& layout);

  // Registers this memory, and forgets what was. A failure is logged, and costs copies by the CPU.
  void UsePool(absl::Span<const std::byte> memory);
  // The device can write to all of these.
  bool AreRegistered(absl::Span<std::byte* const> blocks) const;

  // Queues copies of these blocks, by rising slots, into the device's pool; of staged ones, slots
  // next to each other in one copy.
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
  KvCopier(rt::Device& device, const KvLayout& layout, Stage first, Stage second);
  static absl::StatusOr<Stage> MakeStage(rt::Device& device, std::size_t bytes);

  bool IsRegistered(const std::byte* block) const;
  absl::Status LoadStaged(absl::Span<const DeviceBlocks::Load> loads, std::byte* pool,
                          rt::Stream& stream);

  rt::Device& device_;
  const KvLayout layout_;
  rt::Buffer registered_;
  Stage stages_[2];
  std::uint32_t next_stage_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_KV_COPIER_H_
