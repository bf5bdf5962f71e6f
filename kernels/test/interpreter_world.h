#ifndef CAIRN_KERNELS_TEST_INTERPRETER_WORLD_H_
#define CAIRN_KERNELS_TEST_INTERPRETER_WORLD_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/interpreter/launch.h"
#include "kernels/test/harness.h"

namespace cairn::test {

// A kernel written as PTX, and the one buffer that it works on. In its body, %rd0 is the buffer,
// %r0 the thread, %rd1 the buffer's place for that thread (8 bytes each), and `arena` the shared
// memory.
class PtxKernel {
 public:
  explicit PtxKernel(std::string_view body, std::string_view before = "") {
    text_ = ".version 9.0\n.target sm_90a\n.address_size 64\n";
    text_ += before;
    text_ +=
        "\n.extern .shared .align 1024 .b8 arena[];\n"
        ".visible .entry Test(\n.param .u64 Test_param_0\n)\n.maxntid 256, 1, 1\n{\n"
        ".reg .pred %p<20>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<60>;\n.reg .f32 %f<60>;\n.reg .b64 "
        "%rd<60>;\nld.param.u64 %rd0, [Test_param_0];\nmov.u32 %r0, %tid.x;\n"
        "mul.wide.u32 %rd1, %r0, 8;\nadd.s64 %rd1, %rd1, %rd0;\n";
    text_ += body;
    text_ += "\nret;\n}\n";
    error_ = interpreter::Parse(text_, program_);
  }

  // The threads' places afterwards; `error` is what Run says.
  std::vector<std::uint64_t> Run(std::uint32_t threads, std::vector<std::uint64_t> buffer = {},
                                 std::uint64_t seed = 1) {
    if (!error_.empty()) return {};
    if (buffer.size() < threads) buffer.resize(threads);
    interpreter::DeviceState device;
    device.seed = seed;
    device.memory.Add(buffer.data(), buffer.size() * 8, true);
    interpreter::Launch launch;
    launch.threads = threads;
    launch.shared_bytes = shared_bytes;
    launch.parameters.resize(8);
    const auto address = reinterpret_cast<std::uint64_t>(buffer.data());
    std::memcpy(launch.parameters.data(), &address, 8);
    error_ = interpreter::Run(program_, program_.kernels.at("Test"), launch, device);
    return buffer;
  }

  const std::string& error() const { return error_; }
  std::uint32_t shared_bytes = 4096;

 private:
  std::string text_;
  interpreter::Program program_;
  std::string error_;
};

// What one thread's `opcode d, sources...` makes, of registers of the named sorts ("rd", "r", "f",
// "rs", "p"); numbers are given as they stand in PTX.
inline std::uint64_t Compute(std::string_view opcode, std::string_view to, std::string_view from) {
  std::string text(opcode);
  text += " %" + std::string(to) + "5, " + std::string(from) + ";\n";
  if (to == "p") text += "selp.b64 %rd2, 1, 0, %p5;\n";
  if (to == "r") text += "cvt.u64.u32 %rd2, %r5;\n";
  if (to == "rs") text += "cvt.u64.u16 %rd2, %rs5;\n";
  if (to == "f") text += "mov.b32 %r6, %f5;\ncvt.u64.u32 %rd2, %r6;\n";
  if (to == "rd") text += "mov.u64 %rd2, %rd5;\n";
  PtxKernel kernel(text + "st.global.u64 [%rd1], %rd2;");
  const std::vector<std::uint64_t> out = kernel.Run(1);
  SK_EXPECT_EQ(kernel.error(), "");
  return out.empty() ? 0 : out[0];
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_INTERPRETER_WORLD_H_
