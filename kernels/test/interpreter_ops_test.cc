#include <bit>
#include <cmath>
#include <limits>

#include "kernels/interpreter/formats.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/interpreter_world.h"

// What single instructions make: the corners of PTX's definitions.

namespace cairn::test {
namespace {

struct Case {
  const char* opcode;
  const char* to;
  const char* from;
  std::uint64_t result;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::uint64_t result = Compute(c.opcode, c.to, c.from);
    if (result == c.result) continue;
    Fail(__FILE__, __LINE__, std::string(c.opcode) + " of " + c.from + ": " + Show(result));
  }
}

}  // namespace

SK_TEST(WholeNumbersWrapShiftAndDivideAsPtxSays) {
  Check({{"add.s32", "r", "0xffffffff, 2", 1},
         {"sub.s32", "r", "1, 2", 0xffffffff},
         {"neg.s32", "r", "1", 0xffffffff},
         {"mul.lo.s32", "r", "0x10000, 0x10001", 0x10000},
         {"mul.wide.u32", "rd", "0xffffffff, 0xffffffff", 0xfffffffe00000001},
         {"mul.wide.s32", "rd", "-1, 5", 0xfffffffffffffffb},
         {"mul.wide.u16", "r", "0xffff, 0xffff", 0xfffe0001},
         {"mul.hi.u64", "rd", "0x8000000000000000, 6", 3},
         {"mul.hi.u32", "r", "0x80000000, 6", 3},
         {"mad.lo.s32", "r", "3, 5, 7", 22},
         {"div.u32", "r", "7, 2", 3},
         {"div.u32", "r", "7, 0", 0xffffffff},
         {"rem.u64", "rd", "7, 4", 3},
         {"shl.b32", "r", "1, 31", 0x80000000},
         {"shl.b32", "r", "1, 32", 0},
         {"shl.b64", "rd", "1, 63", 0x8000000000000000},
         {"shr.u32", "r", "0x80000000, 32", 0},
         {"shr.s32", "r", "0x80000000, 40", 0xffffffff},
         {"shr.s32", "r", "0x80000000, 4", 0xf8000000},
         {"shr.u64", "rd", "0x8000000000000000, 63", 1},
         {"bfi.b32", "r", "0x5, 0xffffffff, 4, 3", 0xffffffdf},
         {"bfi.b32", "r", "0xff, 0, 28, 8", 0xf0000000},
         {"bfi.b64", "rd", "0xabcd, 0x1, 32, 32", 0xabcd00000001},
         {"prmt.b32", "r", "0x33221100, 0x77665544, 0x7410", 0x77441100},
         {"prmt.b32", "r", "0x33228100, 0, 0x9999", 0xffffffff},
         {"not.b32", "r", "0xf0", 0xffffff0f},
         {"min.s32", "r", "-1, 1", 0xffffffff},
         {"min.u32", "r", "-1, 1", 1},
         {"cvt.u16.u32", "rs", "0x12345", 0x2345},
         {"cvt.s64.s32", "rd", "-2", 0xfffffffffffffffe},
         {"cvt.u32.u64", "r", "0x123456789", 0x23456789},
         {"setp.lt.s32", "p", "-1, 1", 1},
         {"setp.lt.u32", "p", "-1, 1", 0},
         {"setp.ge.u64", "p", "-1, 1", 1},
         {"setp.eq.s16", "p", "0xffff, -1", 1}});
}

SK_TEST(FloatsCompareAndRoundAsPtxSays) {
  constexpr const char* kNan = "0f7fc00000, 0f3f800000";
  Check({{"setp.ne.f32", "p", kNan, 0},   // ordered
         {"setp.neu.f32", "p", kNan, 1},  // or not
         {"setp.gtu.f32", "p", kNan, 1},
         {"setp.lt.f32", "p", kNan, 0},
         {"setp.eq.f32", "p", "0f80000000, 0f00000000", 1},
         {"max.f32", "f", kNan, 0x3f800000},
         {"max.f32", "f", "0f80000000, 0f00000000", 0},
         {"neg.f32", "f", "0f00000000", 0x80000000},
         {"ex2.approx.ftz.f32", "f", "0fff800000", 0},
         {"ex2.approx.ftz.f32", "f", "0f00000000", 0x3f800000},
         {"ex2.approx.ftz.f32", "f", "0fc3000000", 0},  // 2^-128 is none of the normal ones
         {"rcp.rn.f32", "f", "0f40400000", 0x3eaaaaab},
         {"div.rn.f32", "f", "0f3f800000, 0f00000000", 0x7f800000},
         {"sqrt.rn.f32", "f", "0f40000000", 0x3fb504f3},
         // (2^12 + 1)^2 - 2^24 = 2^13 + 1: rounded once.
         {"fma.rn.f32", "f", "0f45800800, 0f45800800, 0fcb800000", 0x46000400},
         {"cvt.rn.f32.u32", "f", "0x1000001", 0x4b800000},
         {"cvt.rn.f32.u32", "f", "0x1000003", 0x4b800002},
         {"cvt.rn.f32.s32", "f", "-3", 0xc0400000},
         // The first source is the upper half; ties go to the even one.
         {"cvt.rn.bf16x2.f32", "r", "0f3f800000, 0f3f808000", 0x3f803f80},
         {"cvt.rn.bf16x2.f32", "r", "0f3f818000, 0f7f7fffff", 0x3f827f80},
         {"cvt.rn.f16x2.f32", "r", "0f477fefff, 0f477ff000", 0x7bff7c00},
         {"cvt.rn.f16x2.f32", "r", "0f33800000, 0f33000000", 0x00010000},
         {"cvt.rn.satfinite.e4m3x2.f32", "rs", "0f44000000, 0fbf800000", 0x7eb8},
         {"cvt.rn.f16x2.e4m3x2", "r", "0x7e01", 0x5f001800}});
}

// Two ways to the same formats: by their definition here, by their bits in sk.
SK_TEST(SmallFormatsAreThoseOfSk) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto f16 = static_cast<float>(interpreter::F16::Value(bits));
    const auto bf16 = static_cast<float>(interpreter::Bf16::Value(bits));
    SK_EXPECT(f16 == sk::soft::FromF16(bits) || std::isnan(f16));
    SK_EXPECT(bf16 == sk::soft::FromBf16(bits) || std::isnan(bf16));
    SK_EXPECT_EQ(std::isnan(f16), std::isnan(sk::soft::FromF16(bits)));
  }
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    const std::uint32_t bits = i * 21467u + i / 7;  // over all exponents
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    SK_EXPECT_EQ(interpreter::F16::Nearest(value), std::uint32_t{sk::soft::RoundF16(value)});
    SK_EXPECT_EQ(interpreter::Bf16::Nearest(value), std::uint32_t{sk::soft::RoundBf16(value)});
    SK_EXPECT_EQ(interpreter::E4m3::Nearest(value), std::uint32_t{sk::soft::RoundE4m3(value)});
  }
}

SK_TEST(HalvesAreJoinedAndParted) {
  PtxKernel kernel(R"(
    mov.b32 {%rs1, %rs2}, 0x12345678;
    mov.b32 %r1, {%rs2, %rs1};
    mov.b64 %rd2, {%r1, 7};
    mov.b64 {%r2, %r3}, %rd2;
    mov.b64 %rd3, {%r3, %r2};
    st.global.u64 [%rd1], %rd3;)");
  SK_EXPECT_EQ(kernel.Run(1)[0], 0x5678123400000007u);
  SK_EXPECT_EQ(kernel.error(), "");
}

SK_TEST(VectorsAndConstantsAreReadInOrder) {
  PtxKernel kernel(R"(
    mov.u64 %rd2, table;
    ld.const.u64 %rd3, [%rd2+8];
    ld.global.v2.u32 {%r1, %r2}, [%rd1];
    st.shared.v4.u32 [arena+16], {%r1, %r2, 5, 6};
    ld.shared.u32 %r3, [arena+20];
    ld.shared.u16 %rs1, [arena+24];
    mov.u32 %r8, arena;
    atom.shared.add.u32 %r4, [%r8+28], 10;
    ld.shared.u32 %r5, [arena+28];
    st.global.v2.u32 [%rd0], {%r3, %r5};
    cvt.u64.u32 %rd4, %r4;
    add.s64 %rd3, %rd3, %rd4;
    st.global.u64 [%rd0+8], %rd3;)",
                   ".const .align 8 .b8 table[24] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2};");
  const std::vector<std::uint64_t> out = kernel.Run(1, {0x0000000900000008, 0});
  SK_EXPECT_EQ(kernel.error(), "");
  SK_EXPECT_EQ(out[0], 0x0000001000000009u);
  SK_EXPECT_EQ(out[1], 0x0201u + 6);
}

}  // namespace cairn::test
