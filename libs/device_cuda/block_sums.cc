#include "libs/device_cuda/block_sums.h"

#include <cstring>

#include "kernels/copy/checksum.h"
#include "libs/base/status_macros.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

constexpr std::size_t kListHead = 16;  // bytes: the count

}  // namespace

absl::Status BlockSums::Sum(const rt::Buffer& pool, absl::Span<const std::uint32_t> slots,
                            rt::Stream& stream, absl::Span<Checksum> sums) {
  if (slots.empty()) return absl::OkStatus();
  const auto count = static_cast<std::uint32_t>(slots.size());
  const auto block_bytes = static_cast<std::uint32_t>(block_bytes_);
  constexpr char kPurpose[] = "checksums of blocks";
  const std::size_t sum_bytes = slots.size() * sizeof(std::uint64_t);
  CAIRN_RETURN_IF_ERROR(Grow(device_, CudaMemory::kPinned, kPurpose,
                             kListHead + slots.size() * sizeof(std::uint32_t), &list_));
  CAIRN_RETURN_IF_ERROR(Grow(device_, CudaMemory::kDevice, kPurpose,
                             sum_bytes * kernels::Pieces(block_bytes), &pieces_));
  CAIRN_RETURN_IF_ERROR(Grow(device_, CudaMemory::kDevice, kPurpose, sum_bytes, &sums_));
  CAIRN_RETURN_IF_ERROR(Grow(device_, CudaMemory::kPinned, kPurpose, sum_bytes, &host_sums_));
  std::memcpy(list_.bytes(), &count, sizeof count);
  std::memcpy(list_.bytes() + kListHead, slots.data(), slots.size() * sizeof(std::uint32_t));
  CAIRN_RETURN_IF_ERROR(ToStatus(kernels::ChecksumBlocks(
      stream, {.pool = pool.bytes(),
               .slots = reinterpret_cast<const std::uint32_t*>(list_.bytes() + kListHead),
               .count = list_.as<std::uint32_t>(),
               .count_max = count,
               .pool_slots = static_cast<std::uint32_t>(pool.size() / block_bytes_),
               .block_bytes = block_bytes,
               .sums = pieces_.as<std::uint64_t>(),
               .checksums = sums_.as<std::uint64_t>()})));
  CAIRN_RETURN_IF_ERROR(ToStatus(stream.CopyAsync(host_sums_.bytes(), sums_.bytes(), sum_bytes)));
  CAIRN_RETURN_IF_ERROR(ToStatus(stream.Synchronize()));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    sums[i] = Checksum(host_sums_.as<std::uint64_t>()[i]);
  }
  blocks_ += slots.size();
  return absl::OkStatus();
}

}  // namespace cairn
