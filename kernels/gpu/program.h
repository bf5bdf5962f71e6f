#ifndef CAIRN_KERNELS_GPU_PROGRAM_H_
#define CAIRN_KERNELS_GPU_PROGRAM_H_

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/sk/rt/runtime.h"

// What the programs of tools/gpu-check have in common. Each prints one JSON object a row, one a
// line, other lines for people, and ends with 0 (all is well), 1 (something is wrong: the last line
// says what), 2 (not understood) or 77 (skipped: the last line says why).

namespace cairn::gpu {

inline constexpr int kSkipped = 77;

inline void PrintLine(const std::string& line) {
  std::printf("%s\n", line.c_str());  // tidy: allow(print) a program's output
  std::fflush(stdout);
}

// The device, or null after the word why there is none.
inline std::unique_ptr<rt::Device> OpenOrSkip() {
  rt::Result<std::unique_ptr<rt::Device>> device = rt::Device::Open({});
  if (device.ok()) return std::move(*device);
  PrintLine("skipped: no GPU: " + device.status().message());
  return nullptr;
}

// "--name 12.5" at argv[i]: reads the number and moves i on. False if it is not that.
inline bool ReadNumber(int argc, char** argv, int& i, std::string_view name, double& value) {
  if (argv[i] != name || i + 1 >= argc) return false;
  char* end = nullptr;
  const double read = std::strtod(argv[i + 1], &end);
  if (end == argv[i + 1] || *end != 0 || !(read > 0) || read > 1e9) return false;
  value = read;
  ++i;
  return true;
}

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_PROGRAM_H_
