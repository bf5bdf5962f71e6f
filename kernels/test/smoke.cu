#include <cstdio>
#include <string>

#include "kernels/test/smoke_run.h"

// The smoke kernels on a real GPU. Exit code 0: all held; 77: skipped, and why; 1: what did not
// hold.

int main() {
  cairn::rt::Result<std::unique_ptr<cairn::rt::Device>> device = cairn::rt::Device::Open({});
  if (!device.ok()) {
    std::printf("skipped: no GPU: %s\n",  // tidy: allow(print) a test program's report
                device.status().message().c_str());
    return 77;
  }
  const std::string found = cairn::test::RunSmoke(**device);
  std::printf("%s: %s\n", (*device)->name().c_str(),  // tidy: allow(print) a test program's report
              found.empty() ? "every name of sk does what it should" : found.c_str());
  return found.empty() ? 0 : 1;
}
