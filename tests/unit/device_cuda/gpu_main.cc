#include <gtest/gtest.h>

#include <cstdio>

#include "libs/base/bytes.h"
#include "libs/device_cuda/cuda_device.h"
#include "tests/support/tiny_model.h"

// The same tests on a GPU. Exit code 77: skipped, and why; what a worker would say there is
// checked.

namespace {

int SayWhyNot(const std::string& why) {
  const std::string file = cairn::TinyLlama(1);
  const absl::Status status =
      cairn::CudaDevice::Create(*cairn::GgufFile::Parse(cairn::AsBytes(file)), {}).status();
  const bool is_clear = status.code() == absl::StatusCode::kUnavailable &&
                        status.message().find(why) != absl::string_view::npos;
  std::printf("%s: %s\n",  // tidy: allow(print) a test program's report
              is_clear ? "skipped" : "FAILED: no clear error", status.ToString().c_str());
  return is_clear ? 77 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const cairn::rt::Result<std::unique_ptr<cairn::rt::Device>> device = cairn::rt::Device::Open({});
  return device.ok() ? RUN_ALL_TESTS() : SayWhyNot(device.status().message());
}
