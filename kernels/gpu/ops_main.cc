#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/program.h"
#include "kernels/test/harness.h"

// usage: test_kernels_ops_gpu [--one-seed] [PART OF A TEST'S NAME...]
// The tests of the ops' launchers (kernels/test) over the CUDA runtime. Exit code 77: no GPU.
//   --one-seed  one run of each test that wants several: for the sanitizer, which is slow

int main(int argc, char** argv) {
  std::vector<std::string> filters;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--one-seed") {
      cairn::test::RunSettings().seeds = 1;
    } else if (argv[i][0] == '-') {
      cairn::gpu::PrintLine("usage: test_kernels_ops_gpu [--one-seed] [PART OF A TEST'S NAME...]");
      return 2;
    } else {
      filters.emplace_back(argv[i]);
    }
  }
  if (cairn::gpu::OpenOrSkip() == nullptr) return cairn::gpu::kSkipped;
  return cairn::test::RunTests(filters) == 0 ? 0 : 1;
}
