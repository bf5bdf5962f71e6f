#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/sk/emu/machine.h"
#include "kernels/test/copy_pipeline.h"
#include "kernels/test/harness.h"
#include "kernels/test/random_matrix.h"

// usage: test_kernels_bounds global|shared
// Kernels that leave their memory, for AddressSanitizer to stop: a copy whose source ends too soon,
// and a plain load behind the arena.

int main(int argc, char** argv) {
  using namespace cairn;  // tidy: allow(using-namespace) a program of one function
  const std::string_view which = argc > 1 ? argv[1] : "";
  sk::emu::Machine machine({});
  std::string error;
  if (which == "global") {
    const test::Matrix a = test::RandomMatrix(64, 64, 1), b = test::RandomMatrix(64, 64, 2);
    std::vector<float> c(64 * 64);
    const test::CopyPipelineParams params{a.bits.data(), b.bits.data(), c.data(), 64};
    error = machine.Run({.threads = test::kCopyThreads, .shared_bytes = test::kCopySharedBytes},
                        [&] { test::CopyPipeline<test::CopyBug::kOutOfBounds>(params); });
  } else if (which == "shared") {
    std::vector<std::uint32_t> out(64);
    error = machine.Run({.threads = 64, .shared_bytes = 63 * 4}, [&] {
      const auto* words = reinterpret_cast<const std::uint32_t*>(sk::SharedMemory());
      out[sk::ThreadIndex()] = words[sk::ThreadIndex()];
    });
  }
  test::Print("not stopped: " + error);
  return 1;
}
