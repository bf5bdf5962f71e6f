#ifndef CAIRN_KERNELS_INTERPRETER_LAUNCH_H_
#define CAIRN_KERNELS_INTERPRETER_LAUNCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/interpreter/memory.h"
#include "kernels/interpreter/program.h"

namespace cairn::interpreter {

// What a Hopper SM has, and what a kernel gets of it unless it asks (CUDA programming guide,
// "Compute Capabilities").
inline constexpr std::uint32_t kSharedBytesMax = 227 * 1024;
inline constexpr std::uint32_t kSharedBytesByDefault = 48 * 1024;
inline constexpr std::uint32_t kThreadsMax = 1024;

struct Launch {
  std::array<std::uint32_t, 3> blocks = {1, 1, 1};
  std::uint32_t threads = 1;
  std::uint32_t shared_bytes = 0;
  std::vector<std::byte> parameters;  // as the kernel's PTX lays them out
};

// What launches share.
struct DeviceState {
  Memory memory;            // what kernels may touch, besides parameters, constants, shared memory
  std::uint64_t ticks = 0;  // how many instructions of warps were done
  std::uint64_t seed = 1;   // of the next block's schedule
};

// Runs all blocks, one after the other, to their end. "" or what went wrong, with the line of the
// PTX; then memory is as it was left.
std::string Run(const Program& program, const Kernel& kernel, const Launch& launch,
                DeviceState& device);

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_LAUNCH_H_
