#ifndef CAIRN_KERNELS_TEST_SMOKE_RUN_H_
#define CAIRN_KERNELS_TEST_SMOKE_RUN_H_

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/sk/rt/runtime.h"
#include "kernels/test/smoke.h"

// Runs the smoke kernels on a device, emulated or not.

namespace cairn::test {

template <int kN>
rt::Status LaunchProducts(rt::Stream& stream, const SmokeParams& params) {
  return rt::Launch(
      stream,
      {.threads = 256, .shared_bytes = kSmokeProductBytes, .registers_per_thread = kSmokeRegisters},
      SmokeProducts<kN>, params);
}

inline rt::Status LaunchSmoke(rt::Stream& stream, const SmokeParams& params) {
  const rt::LaunchConfig one_warp{.threads = 32, .shared_bytes = 2048 + 16};
  rt::Status statuses[] = {
      rt::Launch(stream,
                 {.blocks_x = 2, .blocks_y = 3, .blocks_z = 4, .threads = 64, .shared_bytes = 1024},
                 SmokeThreads, params),
      rt::Launch(stream, one_warp, SmokeCopies, params),
      rt::Launch(stream, one_warp, SmokeMatrices, params),
      LaunchProducts<8>(stream, params),
      LaunchProducts<16>(stream, params),
      LaunchProducts<32>(stream, params),
      LaunchProducts<64>(stream, params),
      LaunchProducts<96>(stream, params),
      LaunchProducts<128>(stream, params),
      LaunchProducts<192>(stream, params),
      LaunchProducts<256>(stream, params),
  };
  for (rt::Status& status : statuses) {
    if (!status.ok()) return std::move(status);
  }
  return rt::Status();
}

// "" if every check of the smoke kernels held on this device, else what did not.
inline std::string RunSmoke(rt::Device& device) {
  constexpr std::size_t kBytes = 1024 * 4;
  rt::Result<rt::Stream> stream = device.OpenStream();
  rt::Result<rt::Buffer> host = device.AllocatePinned(kBytes);
  rt::Result<rt::Buffer> words = device.Allocate(kBytes);
  rt::Result<rt::Buffer> scratch = device.Allocate(kBytes);
  rt::Result<rt::Buffer> failures = device.Allocate(kSmokeChecks * 4);
  if (!stream.ok()) return stream.status().message();
  if (!host.ok() || !words.ok() || !scratch.ok() || !failures.ok()) return "no memory";
  auto* numbers = host->as<std::uint32_t>();
  for (const rt::Status& status :
       {stream->FillAsync(words->bytes(), 0x5a, kBytes),
        stream->CopyAsync(host->bytes(), words->bytes(), kBytes), stream->Synchronize()}) {
    if (!status.ok()) return status.message();
  }
  if (std::count(numbers, numbers + 1024, 0x5a5a5a5au) != 1024) return "FillAsync: another value";
  std::iota(numbers, numbers + 1024, 0u);
  const SmokeParams params{failures->as<std::uint32_t>(), words->as<std::uint32_t>(),
                           scratch->as<std::uint32_t>()};
  rt::Status statuses[] = {stream->CopyAsync(words->bytes(), host->bytes(), kBytes),
                           stream->FillAsync(scratch->bytes(), 0, kBytes),
                           stream->FillAsync(failures->bytes(), 0, kSmokeChecks * 4),
                           LaunchSmoke(*stream, params),
                           stream->Synchronize(),
                           stream->CopyAsync(host->bytes(), failures->bytes(), kSmokeChecks * 4),
                           stream->Synchronize()};
  for (const rt::Status& status : statuses) {
    if (!status.ok()) return status.message();
  }
  std::string found;
  for (std::uint32_t i = 0; i < kSmokeChecks; ++i) {
    if (numbers[i] != 0)
      found += "check " + std::to_string(i) + ": " + std::to_string(numbers[i]) + " times; ";
  }
  return found;
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_SMOKE_RUN_H_
