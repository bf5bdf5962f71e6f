#include "kernels/sk/emu/machine.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/sk/emu/block.h"

namespace cairn::sk::emu {

namespace {

// Stacks of machines that are gone, for the next ones: mapping 256 of them costs more than a run.
struct SpareFibers {
  std::size_t stack_bytes = 0;
  std::vector<std::unique_ptr<Fiber>> fibers;
};
thread_local SpareFibers spare_fibers;

}  // namespace

struct Machine::Parts {
  explicit Parts(const Options& options)
      : options(options), random(options.seed), sites(this->options) {
    if (spare_fibers.stack_bytes == options.stack_bytes) fibers.swap(spare_fibers.fibers);
  }
  ~Parts() {
    if (fibers.size() <= spare_fibers.fibers.size()) return;
    spare_fibers.stack_bytes = options.stack_bytes;
    spare_fibers.fibers = std::move(fibers);
  }

  const Options options;
  Random random;
  SiteTable sites;
  std::vector<std::unique_ptr<Fiber>> fibers;
};

Machine::Machine(const Options& options) : parts_(std::make_unique<Parts>(options)) {}
Machine::~Machine() = default;

std::string Machine::Run(const Grid& grid, const std::function<void()>& kernel) {
  if (grid.threads == 0 || grid.threads > 1024) {
    return "a block of " + std::to_string(grid.threads) + " threads: 1 to 1024 are possible";
  }
  if (grid.shared_bytes > kSharedBytesMax) {
    return std::to_string(grid.shared_bytes) + " bytes of shared memory: at most " +
           std::to_string(kSharedBytesMax) + " are possible";
  }
  if (grid.registers_per_thread > 255 ||
      grid.registers_per_thread * grid.threads > kRegistersPerBlock) {
    return std::to_string(grid.threads) + " threads of " +
           std::to_string(grid.registers_per_thread) +
           " registers: 255 each and 65536 in all are possible";
  }
  while (parts_->fibers.size() < grid.threads) {
    parts_->fibers.push_back(Fiber::Create(parts_->options.stack_bytes));
    if (parts_->fibers.back() == nullptr) {
      parts_->fibers.pop_back();
      return "no memory for the stack of another emulated thread";
    }
  }
  const std::uint64_t blocks = std::uint64_t{grid.blocks_x} * grid.blocks_y * grid.blocks_z;
  if (blocks == 0 || blocks > (1u << 24)) {
    return std::to_string(blocks) + " blocks: 1 to 2^24 can be emulated";
  }
  std::vector<std::uint32_t> order(blocks);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    order[i] = i;
    std::swap(order[i], order[parts_->random.Below(i + 1)]);
  }
  for (const std::uint32_t i : order) {
    const std::array<std::uint32_t, 3> index = {
        i % grid.blocks_x, i / grid.blocks_x % grid.blocks_y, i / grid.blocks_x / grid.blocks_y};
    Block block(grid, index, parts_->options.seed, parts_->sites, parts_->random);
    block.Run(kernel, parts_->fibers);
    if (!block.error.empty()) return block.error;
  }
  return "";
}

std::vector<SiteUse> Machine::Sites() const { return parts_->sites.Uses(); }

}  // namespace cairn::sk::emu
