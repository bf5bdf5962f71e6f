#include "kernels/interpreter/launch.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "kernels/interpreter/warp.h"

namespace cairn::interpreter {
namespace {

// Where the dynamic shared memory begins: behind what the system keeps of it on a GPU.
constexpr std::uint32_t kSharedBase = 1024;
constexpr std::uint32_t kSliceMax = 400;  // instructions of a warp before another one's turn
// So often may a whole round of the warps change nothing: an mbarrier that is asked again.
constexpr std::uint32_t kIdleRoundsMax = 16;
// More than any kernel needs here: a loop without an end.
constexpr std::uint64_t kRoundsMax = 200'000;

class BlockRun {
 public:
  BlockRun(const Program& program, const Kernel& kernel, const Launch& launch, DeviceState& device)
      : program_(program), kernel_(kernel), launch_(launch), random_(device.seed++) {
    state_.memory = &device.memory;
    state_.threads = launch.threads;
    state_.ticks = &device.ticks;
    // No more aligned than it asks for.
    state_.shared_begin = kSharedBase + program.shared_align % kSharedBase;
    state_.shared.assign(state_.shared_begin + launch.shared_bytes, std::byte{0xff});
    const std::uint32_t warps = (launch.threads + kLanes - 1) / kLanes;
    warps_.reserve(warps);
    for (std::uint32_t w = 0; w < warps; ++w) {
      warps_.emplace_back(kernel, state_, w, std::min(kLanes, launch.threads - w * kLanes));
    }
  }

  std::string Run(const std::array<std::uint32_t, 3>& block) {
    if (std::string error = Preset(block); !error.empty()) return error;
    std::vector<std::size_t> order(warps_.size());
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t rounds = 0;
    for (std::uint32_t idle = 0; idle < kIdleRoundsMax; ++idle) {
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::size_t w : order) {
        if (warps_[w].Run(1 + static_cast<std::uint32_t>(random_() % kSliceMax))) idle = 0;
        const std::uint64_t met = std::exchange(state_.barriers_met, 0);
        for (Warp& warp : warps_) warp.Wake(met);
        if (!state_.fault.empty()) return state_.fault + " (block " + Name(block) + ")";
      }
      if (std::all_of(warps_.begin(), warps_.end(), [](const Warp& w) { return w.has_left(); })) {
        return RegistersLeft();
      }
      if (++rounds == kRoundsMax) return kernel_.name + ": block " + Name(block) + " does not end";
    }
    std::string report = kernel_.name + ": block " + Name(block) + " cannot go on:";
    for (const Warp& warp : warps_) report += "\n  " + warp.Describe();
    return report;
  }

 private:
  static std::string Name(const std::array<std::uint32_t, 3>& block) {
    return std::to_string(block[0]) + "," + std::to_string(block[1]) + "," +
           std::to_string(block[2]);
  }

  // Do the warps' registers, as setmaxnreg left them, fit into what the block
  // was given?
  std::string RegistersLeft() const {
    std::uint64_t used = 0;
    for (const Warp& warp : warps_) used += warp.registers();
    if (used <= std::uint64_t{kernel_.registers_first} * warps_.size()) return "";
    return kernel_.name + ": setmaxnreg claims more registers than the block was given";
  }

  // Registers that never change.
  std::string Preset(const std::array<std::uint32_t, 3>& block) {
    for (const auto& [reg, value] : kernel_.numbers) PresetAll(reg, value);
    for (const auto& [reg, name] : kernel_.names) {
      const std::uint64_t address = AddressOf(name);
      if (address == 0) return kernel_.name + ": nothing is called " + name;
      PresetAll(reg, address);
    }
    for (const auto& [reg, name] : kernel_.specials) {
      if (name == "%tid.x" || name == "%laneid") {
        for (Warp& warp : warps_) {
          const std::uint32_t first = name == "%tid.x" ? warp.number() * kLanes : 0;
          for (std::uint32_t lane = 0; lane < kLanes; ++lane) warp.Preset(reg, lane, first + lane);
        }
        continue;
      }
      const std::string_view axes = "xyz";
      const std::size_t axis = axes.find(name.back());
      if (name.starts_with("%ctaid.") && axis < 3) {
        PresetAll(reg, block[axis]);
      } else if (name.starts_with("%nctaid.") && axis < 3) {
        PresetAll(reg, launch_.blocks[axis]);
      } else if (name.starts_with("%ntid.") && axis < 3) {
        PresetAll(reg, axis == 0 ? launch_.threads : 1);
      } else if (name != "%clock64" && name != "%globaltimer") {  // LookAtClock does these
        return kernel_.name + ": " + name + " is not known to the interpreter";
      }
    }
    return "";
  }
  void PresetAll(std::int32_t reg, std::uint64_t value) {
    for (Warp& warp : warps_) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) warp.Preset(reg, lane, value);
    }
  }
  // 0: no such name.
  std::uint64_t AddressOf(const std::string& name) const {
    for (const Parameter& parameter : kernel_.parameters) {
      if (parameter.name != name) continue;
      return reinterpret_cast<std::uint64_t>(launch_.parameters.data()) + parameter.offset;
    }
    if (program_.shared.contains(name)) return state_.shared_begin;
    const auto found = program_.constants.find(name);
    if (found == program_.constants.end()) return 0;
    return reinterpret_cast<std::uint64_t>(found->second.data());
  }

  const Program& program_;
  const Kernel& kernel_;
  const Launch& launch_;
  std::mt19937_64 random_;
  BlockState state_;
  std::vector<Warp> warps_;
};

// What the driver refuses, too.
std::string Check(const Kernel& kernel, const Launch& launch) {
  const std::uint32_t threads_max = std::min(kernel.threads_max, kThreadsMax);
  if (launch.threads == 0 || launch.threads > threads_max) {
    return kernel.name + ": " + std::to_string(launch.threads) + " threads, where " +
           std::to_string(threads_max) + " are allowed";
  }
  if (launch.shared_bytes > kSharedBytesMax) {
    return kernel.name + ": " + std::to_string(launch.shared_bytes) + " bytes of shared memory";
  }
  if (launch.blocks[0] == 0 || launch.blocks[0] > 0x7fffffff) return kernel.name + ": blocks in x";
  for (const std::size_t axis : {1, 2}) {
    if (launch.blocks[axis] == 0 || launch.blocks[axis] > 65535) {
      return kernel.name + ": " + std::to_string(launch.blocks[axis]) + " blocks in y or z";
    }
  }
  return "";
}

}  // namespace

std::string Run(const Program& program, const Kernel& kernel, const Launch& launch,
                DeviceState& device) {
  if (std::string error = Check(kernel, launch); !error.empty()) return error;
  Memory& memory = device.memory;
  memory.Add(launch.parameters.data(), launch.parameters.size(), false);
  for (const auto& [name, bytes] : program.constants) memory.Add(bytes.data(), bytes.size(), false);
  std::string error;
  std::array<std::uint32_t, 3> block;
  for (block[2] = 0; block[2] < launch.blocks[2]; ++block[2]) {
    for (block[1] = 0; block[1] < launch.blocks[1]; ++block[1]) {
      for (block[0] = 0; block[0] < launch.blocks[0] && error.empty(); ++block[0]) {
        error = BlockRun(program, kernel, launch, device).Run(block);
      }
    }
  }
  for (const auto& [name, bytes] : program.constants) memory.Remove(bytes.data());
  memory.Remove(launch.parameters.data());
  return error;
}

}  // namespace cairn::interpreter
