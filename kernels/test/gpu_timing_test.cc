#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/timing.h"
#include "kernels/test/harness.h"

// Every row of tools/gpu-check's timing once, on the emulated device.

namespace cairn::test {
namespace {

std::vector<std::string> TimeTiny(double seconds, std::string* wrong) {
  rt::Result<std::unique_ptr<rt::Device>> device = rt::Device::Open({.seed = 2});
  SK_EXPECT(device.ok());
  std::vector<std::string> lines;
  gpu::Bench::Options options{.seconds = seconds, .batch_seconds = 0, .batches = 2};
  options.print = [&](const std::string& line) { lines.push_back(line); };
  rt::Result<std::unique_ptr<gpu::Bench>> bench = gpu::Bench::Open(**device, options);
  SK_EXPECT(bench.ok());
  *wrong = gpu::TimeAll(**bench, gpu::Sizes::Tiny(), "-");
  return lines;
}

SK_TEST(EveryRowIsTimedOnTheEmulatedDevice) {
  std::string wrong;
  const std::vector<std::string> lines = TimeTiny(1000, &wrong);
  SK_EXPECT_EQ(wrong, "");
  const char* const rows[] = {"\"read, streaming\"",
                              "\"copy, own kernel\"",
                              "\"copy, cudaMemcpyAsync\"",
                              "\"wgmma m64n256k16, bare loop\"",
                              "\"mma.sync m16n8k16, bare loop\"",
                              "\"matmul, cuBLAS\", \"left_out\": \"cuBLAS is not wanted\"",
                              "\"decode B=2 x 100, 4/2 heads, D=64\", \"name\": \"plain",
                              "\"unrotated (in registers)\"",
                              "\"rotate, then plain\"",
                              "\"same\": \"rotate, then plain = unrotated (in registers)\"",
                              "\"attention alone (keys rotated before)\"",
                              "\"rotate, then attention\"",
                              "\"gemm 3 x 128 x 64\"",
                              "\"gemm 70 x 128 x 64\", \"name\": \"Multiply (mma.sync)\"",
                              "\"gemm 70 x 128 x 64\", \"name\": \"MultiplyPacked (wgmma)\"",
                              "\"3 rows\", \"name\": \"norm, 64 wide\"",
                              "\"SwiGLU, 96 wide\"",
                              "\"embed, 64 wide\"",
                              "\"sample, of 300\"",
                              "\"StoreKv, a layer\"",
                              "\"TakeKv, all layers to blocks of the host\"",
                              "\"TakeKv, all layers to rows of the host\"",
                              "\"import of rotated keys, grid of 8\"",
                              "\"export of rotated keys, grid of 8\"",
                              "\"import of rotated keys, grid of 4\"",
                              "\"40 rows\", \"name\": \"norm, 64 wide\"",
                              "\"40 rows\", \"name\": \"export of rotated keys, grid of 4\"",
                              "\"checksum\"",
                              "\"device pool, 32 KiB in blocks of 4 KiB\", \"name\": \"gather",
                              "\"host pool, 32 KiB in blocks of 4 KiB\", \"name\": \"scatter",
                              "\"4 KiB host to device\"",
                              "\"64 KiB device to host\""};
  std::size_t at = 0;
  for (const char* row : rows) {  // in this order
    while (at < lines.size() && lines[at].find(row) == std::string::npos) ++at;
    if (at == lines.size()) Fail(__FILE__, __LINE__, std::string("no row ") + row);
  }
  for (const std::string& line : lines) {
    if (line.find("\"us\"") == std::string::npos) continue;
    SK_EXPECT_CONTAINS(line, "\"sm_mhz\": 2000");
    const bool has_bound =
        line.find("\"ceiling\"") == std::string::npos && line.find("host") == std::string::npos;
    if (has_bound) SK_EXPECT_CONTAINS(line, "\"bound_us\": ");
  }
}

SK_TEST(RowsWithoutTimeAreLeftOutAndNamed) {
  std::string wrong;
  const std::vector<std::string> lines = TimeTiny(-1, &wrong);
  SK_EXPECT_EQ(wrong, "");
  int left_out = 0;
  for (const std::string& line : lines) {
    SK_EXPECT(line.find("\"us\"") == std::string::npos);
    left_out += line.find("\"left_out\": \"no time left\"") != std::string::npos ? 1 : 0;
  }
  SK_EXPECT(left_out >= 20);
}

}  // namespace
}  // namespace cairn::test
