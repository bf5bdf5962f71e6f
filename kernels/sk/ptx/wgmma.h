#ifndef CAIRN_KERNELS_SK_PTX_WGMMA_H_
#define CAIRN_KERNELS_SK_PTX_WGMMA_H_

#include "kernels/sk/wgmma.h"

// The one file with wgmma assembly. An instruction names each accumulator register of its thread,
// so each N is a specialisation; the macros below write the lists, and end with this file.

namespace cairn::sk {
namespace ptx {

// "%P0, ..., %P9" and "+f"(d[P0]), ...: ten registers that share all digits but the last.
#define SK_NAMES_10(p) \
  "%" #p "0,%" #p "1,%" #p "2,%" #p "3,%" #p "4,%" #p "5,%" #p "6,%" #p "7,%" #p "8,%" #p "9"
#define SK_REGS_10(p)                                                                       \
  "+f"(d[p##0]), "+f"(d[p##1]), "+f"(d[p##2]), "+f"(d[p##3]), "+f"(d[p##4]), "+f"(d[p##5]), \
      "+f"(d[p##6]), "+f"(d[p##7]), "+f"(d[p##8]), "+f"(d[p##9])
#define SK_NAMES_8_OF_0 "%0,%1,%2,%3,%4,%5,%6,%7"
#define SK_REGS_8_OF_0 \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define SK_NAMES_10_OF_0 SK_NAMES_8_OF_0 ",%8,%9"
#define SK_REGS_10_OF_0 SK_REGS_8_OF_0, "+f"(d[8]), "+f"(d[9])

// N / 2 registers.
#define SK_NAMES_8 "%0,%1,%2,%3"
#define SK_REGS_8 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define SK_NAMES_16 SK_NAMES_8_OF_0
#define SK_REGS_16 SK_REGS_8_OF_0
#define SK_NAMES_32 SK_NAMES_10_OF_0 ",%10,%11,%12,%13,%14,%15"
#define SK_REGS_32 \
  SK_REGS_10_OF_0, "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define SK_NAMES_64 SK_NAMES_10_OF_0 "," SK_NAMES_10(1) "," SK_NAMES_10(2) ",%30,%31"
#define SK_REGS_64 SK_REGS_10_OF_0, SK_REGS_10(1), SK_REGS_10(2), "+f"(d[30]), "+f"(d[31])
#define SK_NAMES_96 \
  SK_NAMES_10_OF_0  \
  "," SK_NAMES_10(1) "," SK_NAMES_10(2) "," SK_NAMES_10(3) ",%40,%41,%42,%43,%44,%45,%46,%47"
#define SK_REGS_96                                                                        \
  SK_REGS_10_OF_0, SK_REGS_10(1), SK_REGS_10(2), SK_REGS_10(3), "+f"(d[40]), "+f"(d[41]), \
      "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define SK_NAMES_60_OF_0                                                                     \
  SK_NAMES_10_OF_0 "," SK_NAMES_10(1) "," SK_NAMES_10(2) "," SK_NAMES_10(3) "," SK_NAMES_10( \
      4) "," SK_NAMES_10(5)
#define SK_REGS_60_OF_0 \
  SK_REGS_10_OF_0, SK_REGS_10(1), SK_REGS_10(2), SK_REGS_10(3), SK_REGS_10(4), SK_REGS_10(5)
#define SK_NAMES_128 SK_NAMES_60_OF_0 ",%60,%61,%62,%63"
#define SK_REGS_128 SK_REGS_60_OF_0, "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define SK_NAMES_90_OF_0 SK_NAMES_60_OF_0 "," SK_NAMES_10(6) "," SK_NAMES_10(7) "," SK_NAMES_10(8)
#define SK_REGS_90_OF_0 SK_REGS_60_OF_0, SK_REGS_10(6), SK_REGS_10(7), SK_REGS_10(8)
#define SK_NAMES_192 SK_NAMES_90_OF_0 ",%90,%91,%92,%93,%94,%95"
#define SK_REGS_192 \
  SK_REGS_90_OF_0, "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define SK_NAMES_256                                                       \
  SK_NAMES_90_OF_0 "," SK_NAMES_10(9) "," SK_NAMES_10(10) "," SK_NAMES_10( \
      11) ",%120,%121,%122,%123,%124,%125,%126,%127"
#define SK_REGS_256                                                                           \
  SK_REGS_90_OF_0, SK_REGS_10(9), SK_REGS_10(10), SK_REGS_10(11), "+f"(d[120]), "+f"(d[121]), \
      "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// One instruction. `p` to `p + 6` are the operand numbers after the accumulators.
// scale-d is a predicate; the inputs are not negated (1, 1); then the majors.
#define SK_WGMMA_SHARED(n, type, accumulators, names, pa, pb, pd, ta, tb)                 \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #pd                                   \
               ", 0;\n"                                                                   \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" names \
               "}, %" #pa ", %" #pb ", p, 1, 1, %" #ta ", %" #tb ";\n}"                   \
               : accumulators                                                             \
               : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(accumulate)),             \
                 "n"(static_cast<int>(kMajorA)), "n"(static_cast<int>(kMajorB)))
#define SK_WGMMA_REGISTER(n, type, accumulators, names, p0, p1, p2, p3, pb, pd, tb)        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #pd                                    \
               ", 0;\n"                                                                    \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" names  \
               "}, {%" #p0 ",%" #p1 ",%" #p2 ",%" #p3 "}, %" #pb ", p, 1, 1, %" #tb ";\n}" \
               : accumulators                                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits),                  \
                 "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(kMajorB)))

template <int kN>
struct WgmmaOf;  // an N that has no specialisation here cannot be compiled for the GPU

#define SK_WGMMA_OF(n, q0, q1, q2, q3, q4, q5, q6)                                           \
  template <>                                                                                \
  struct WgmmaOf<n> {                                                                        \
    template <InputType kType, Major kMajorA, Major kMajorB>                                 \
    SK_DEVICE static void Shared(float (&d)[n / 2], MatrixDescriptor a, MatrixDescriptor b,  \
                                 bool accumulate) {                                          \
      if constexpr (kType == InputType::kBf16) {                                             \
        SK_WGMMA_SHARED(n, "bf16", SK_REGS_##n, SK_NAMES_##n, q0, q1, q2, q3, q4);           \
      } else {                                                                               \
        SK_WGMMA_SHARED(n, "f16", SK_REGS_##n, SK_NAMES_##n, q0, q1, q2, q3, q4);            \
      }                                                                                      \
    }                                                                                        \
    template <InputType kType, Major kMajorB>                                                \
    SK_DEVICE static void Register(float (&d)[n / 2], const std::uint32_t (&a)[4],           \
                                   MatrixDescriptor b, bool accumulate) {                    \
      if constexpr (kType == InputType::kBf16) {                                             \
        SK_WGMMA_REGISTER(n, "bf16", SK_REGS_##n, SK_NAMES_##n, q0, q1, q2, q3, q4, q5, q6); \
      } else {                                                                               \
        SK_WGMMA_REGISTER(n, "f16", SK_REGS_##n, SK_NAMES_##n, q0, q1, q2, q3, q4, q5, q6);  \
      }                                                                                      \
    }                                                                                        \
  }

SK_WGMMA_OF(8, 4, 5, 6, 7, 8, 9, 10);
SK_WGMMA_OF(16, 8, 9, 10, 11, 12, 13, 14);
SK_WGMMA_OF(32, 16, 17, 18, 19, 20, 21, 22);
SK_WGMMA_OF(64, 32, 33, 34, 35, 36, 37, 38);
SK_WGMMA_OF(96, 48, 49, 50, 51, 52, 53, 54);
SK_WGMMA_OF(128, 64, 65, 66, 67, 68, 69, 70);
SK_WGMMA_OF(192, 96, 97, 98, 99, 100, 101, 102);
SK_WGMMA_OF(256, 128, 129, 130, 131, 132, 133, 134);

#undef SK_NAMES_8_OF_0
#undef SK_REGS_8_OF_0
#undef SK_NAMES_10_OF_0
#undef SK_REGS_10_OF_0
#undef SK_NAMES_60_OF_0
#undef SK_REGS_60_OF_0
#undef SK_NAMES_90_OF_0
#undef SK_REGS_90_OF_0
#undef SK_NAMES_8
#undef SK_REGS_8
#undef SK_NAMES_16
#undef SK_REGS_16
#undef SK_NAMES_32
#undef SK_REGS_32
#undef SK_NAMES_64
#undef SK_REGS_64
#undef SK_NAMES_96
#undef SK_REGS_96
#undef SK_NAMES_128
#undef SK_REGS_128
#undef SK_NAMES_192
#undef SK_REGS_192
#undef SK_NAMES_256
#undef SK_REGS_256
#undef SK_NAMES_10
#undef SK_REGS_10
#undef SK_WGMMA_OF
#undef SK_WGMMA_SHARED
#undef SK_WGMMA_REGISTER

}  // namespace ptx

template <int kN, InputType kType, Major kMajorA, Major kMajorB>
SK_DEVICE void Wgmma(float (&d)[kN / 2], MatrixDescriptor a, MatrixDescriptor b, bool accumulate,
                     Site) {
  ptx::WgmmaOf<kN>::template Shared<kType, kMajorA, kMajorB>(d, a, b, accumulate);
}
template <int kN, InputType kType, Major kMajorB>
SK_DEVICE void Wgmma(float (&d)[kN / 2], const std::uint32_t (&a)[4], MatrixDescriptor b,
                     bool accumulate, Site) {
  ptx::WgmmaOf<kN>::template Register<kType, kMajorB>(d, a, b, accumulate);
}

SK_DEVICE void WgmmaFence(Site) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
SK_DEVICE void WgmmaCommit(Site) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kGroups>
SK_DEVICE void WgmmaWait(Site) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_WGMMA_H_
