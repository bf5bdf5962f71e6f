#include <cstring>

#include "kernels/gpu/program.h"
#include "kernels/gpu/timing.h"

// usage: kernels_timing [--seconds S] [--cublas PATH]    PATH "-": without cuBLAS

int main(int argc, char** argv) {
  using cairn::gpu::PrintLine;
  cairn::gpu::Bench::Options options;
  std::string cublas;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--cublas") == 0 && i + 1 < argc) {
      cublas = argv[++i];
    } else if (!cairn::gpu::ReadNumber(argc, argv, i, "--seconds", options.seconds)) {
      PrintLine("usage: kernels_timing [--seconds S] [--cublas PATH]");
      return 2;
    }
  }
  options.print = PrintLine;
  const std::unique_ptr<cairn::rt::Device> device = cairn::gpu::OpenOrSkip();
  if (device == nullptr) return cairn::gpu::kSkipped;
  cairn::rt::Result<std::unique_ptr<cairn::gpu::Bench>> bench =
      cairn::gpu::Bench::Open(*device, options);
  if (!bench.ok()) {
    PrintLine("failed: " + bench.status().message());
    return 1;
  }
  const cairn::gpu::DeviceFacts& facts = (*bench)->facts();
  cairn::gpu::JsonLine line;
  line.Add("row", "device").Add("name", facts.name).Add("sms", facts.multiprocessors);
  line.Add("l2_bytes", facts.l2_bytes).Add("free_bytes", facts.memory_bytes);
  line.Add("max_mhz", facts.max_mhz).Add("driver", facts.driver).Add("runtime", facts.runtime);
  PrintLine(line.text());
  const std::string wrong = cairn::gpu::TimeAll(**bench, cairn::gpu::Sizes::Real(), cublas);
  if (wrong.empty()) return 0;
  PrintLine("failed: " + wrong);
  return 1;
}
