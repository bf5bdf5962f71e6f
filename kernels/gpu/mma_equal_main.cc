#include "kernels/gpu/mma_equal_run.h"
#include "kernels/gpu/program.h"

// usage: kernels_mma_equal [--dots N] [--seconds S]

int main(int argc, char** argv) {
  cairn::gpu::EqualOptions options;
  double dots = static_cast<double>(options.dots);
  for (int i = 1; i < argc; ++i) {
    if (!cairn::gpu::ReadNumber(argc, argv, i, "--dots", dots) &&
        !cairn::gpu::ReadNumber(argc, argv, i, "--seconds", options.seconds)) {
      cairn::gpu::PrintLine("usage: kernels_mma_equal [--dots N] [--seconds S]");
      return 2;
    }
  }
  options.dots = static_cast<std::uint64_t>(dots);
  const std::unique_ptr<cairn::rt::Device> device = cairn::gpu::OpenOrSkip();
  if (device == nullptr) return cairn::gpu::kSkipped;
  cairn::rt::Result<cairn::gpu::EqualResult> result =
      cairn::gpu::RunMmaEqual(*device, options, cairn::gpu::PrintLine);
  if (!result.ok()) {
    cairn::gpu::PrintLine("failed: " + result.status().message());
    return 1;
  }
  if (!result->wrong.empty()) {
    cairn::gpu::PrintLine("failed: " + result->wrong);
    return 1;
  }
  cairn::gpu::PrintLine(std::to_string(result->wgmma_unequal) + " of " +
                        std::to_string(result->dots) + " sums of wgmma differ from mma.sync's");
  return 0;
}
