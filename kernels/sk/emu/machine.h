#ifndef CAIRN_KERNELS_SK_EMU_MACHINE_H_
#define CAIRN_KERNELS_SK_EMU_MACHINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/sk/target.h"

// The SIMT emulator: runs a kernel that was compiled by a plain C++ compiler, on one OS thread.

namespace cairn::sk::emu {

struct Options {
  // Decides every choice that hardware leaves open: which warp and lane goes on, when a copy
  // arrives, in which order. The same seed and program give the same run.
  std::uint64_t seed = 1;
  // Mutations, for tests of tests. A site is written "folder/file.h:12" (any tail of the path will
  // do). At skip_site operations do nothing; at less_site a wait waits for one group or one
  // participant less, or for the phase before.
  std::string skip_site;
  std::string less_site;
  // Where Index gives the next number, or the one before.
  std::string up_site;
  std::string down_site;
  std::size_t stack_bytes = 64 * 1024;  // of each emulated thread
};

struct Grid {
  std::uint32_t blocks_x = 1;
  std::uint32_t blocks_y = 1;
  std::uint32_t blocks_z = 1;
  std::uint32_t threads = 0;       // of a block: 1 to 1024
  std::uint32_t shared_bytes = 0;  // dynamic shared memory of a block: at most kSharedBytesMax
  // As ptxas reports it; needed by kernels that move registers between warpgroups only.
  std::uint32_t registers_per_thread = 0;
};

inline constexpr std::uint32_t kSharedBytesMax = 227 * 1024;  // sm_90, with 1 KB of the driver's
inline constexpr std::uint32_t kRegistersPerBlock = 64 * 1024;
// Where SharedMemory() begins in the shared window (below it is the driver's kilobyte).
inline constexpr std::uint32_t kSharedBase = 1024;

// An operation of sk at a site, and how often it was reached.
struct SiteUse {
  std::string site;       // "kernels/attention/decode.h:12"
  std::string operation;  // "SyncBlock"
  std::uint64_t count = 0;
};

// Machine runs grids, block after block in random order, and finds what hardware would not forgive.
//
// Errors: Run returns "" or one text that names block, thread, operation, site and seed. A kernel
//         that failed is abandoned where it stood: destructors on its threads' stacks do not run,
//         global memory holds what was written so far.
// Threads: one OS thread at a time. Stacks are kept for the next run.
class Machine {
 public:
  explicit Machine(const Options& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // `kernel` is called once for every thread of every block.
  [[nodiscard]] std::string Run(const Grid& grid, const std::function<void()>& kernel);

  // Every site reached so far, in order of path and line.
  std::vector<SiteUse> Sites() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn::sk::emu

#endif  // CAIRN_KERNELS_SK_EMU_MACHINE_H_
