#include "kernels/test/interpreter_world.h"

// Lanes that part and meet, warps that wait for each other, and what is refused.

namespace cairn::test {
namespace {

std::vector<std::uint64_t> Sequence(std::uint32_t count, std::uint64_t (*value)(std::uint64_t)) {
  std::vector<std::uint64_t> out(count);
  for (std::uint32_t i = 0; i < count; ++i) out[i] = value(i);
  return out;
}
void ExpectAll(PtxKernel& kernel, std::uint32_t threads, std::uint64_t (*value)(std::uint64_t)) {
  for (const std::uint64_t seed : Seeds(4)) {
    const std::vector<std::uint64_t> out = kernel.Run(threads, {}, seed);
    SK_EXPECT_EQ(kernel.error(), "");
    SK_EXPECT(out == Sequence(threads, value));
  }
}
constexpr const char* kStore = "cvt.u64.u32 %rd2, %r5;\nst.global.u64 [%rd1], %rd2;";

std::string ErrorOf(const std::string& body, std::uint32_t threads = 1) {
  PtxKernel kernel(body);
  kernel.Run(threads);
  return kernel.error();
}

}  // namespace

SK_TEST(LanesPartAndMeet) {
  // Loops of different lengths, then a shuffle of all.
  PtxKernel kernel(R"(
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
  Again:
    setp.ge.u32 %p1, %r6, %r0;
    @%p1 bra Done;
    add.s32 %r5, %r5, %r6;
    add.s32 %r6, %r6, 1;
    bra.uni Again;
  Done:
    bar.warp.sync -1;
    shfl.sync.bfly.b32 %r7|%p2, %r5, 1, 31, -1;
    mov.u32 %r5, %r7;)" +
                   std::string(kStore));
  ExpectAll(kernel, 32, [](std::uint64_t i) { return (i ^ 1) * ((i ^ 1) - 1) / 2; });
}

SK_TEST(GuardsAreOfALane) {
  PtxKernel kernel(R"(
    mov.u32 %r5, 1;
    setp.lt.u32 %p1, %r0, 10;
    @%p1 mov.u32 %r5, 2;
    @!%p1 add.s32 %r5, %r5, 5;)" +
                   std::string(kStore) + R"(
    @%p1 ret;
    st.global.u64 [%rd1], 9;)");
  ExpectAll(kernel, 40, [](std::uint64_t i) { return i < 10 ? std::uint64_t{2} : 9; });
}

SK_TEST(ShufflesStayInTheirSegments) {
  const std::string tail = "\n@!%p2 add.s32 %r5, %r5, 1000;\n" + std::string(kStore);
  PtxKernel up("shfl.sync.up.b32 %r5|%p2, %r0, 3, 0, -1;" + tail);
  ExpectAll(up, 32, [](std::uint64_t i) { return i < 3 ? i + 1000 : i - 3; });
  PtxKernel down("shfl.sync.down.b32 %r5|%p2, %r0, 1, 0x181f, -1;" + tail);  // eight lanes each
  ExpectAll(down, 32, [](std::uint64_t i) { return i % 8 == 7 ? i + 1000 : i + 1; });
  PtxKernel index("shfl.sync.idx.b32 %r5|%p2, %r0, 5, 0x181f, -1;" + tail);
  ExpectAll(index, 32, [](std::uint64_t i) { return i / 8 * 8 + 5; });
  PtxKernel narrow("shfl.sync.idx.b32 %r5|%p2, %r0, 20, 15, -1;" + tail);  // beyond lane 15
  ExpectAll(narrow, 32, [](std::uint64_t i) { return i + 1000; });
}

SK_TEST(MasksMayBeOfSomeLanes) {
  // Each eight lanes by themselves, at one instruction.
  PtxKernel kernel(R"(
    and.b32 %r1, %r0, 24;
    shl.b32 %r2, 255, %r1;
    redux.sync.add.u32 %r5, %r0, %r2;
    setp.gt.u32 %p1, %r0, 3;
    vote.sync.ballot.b32 %r6, %p1, %r2;
    elect.sync %r7|%p2, %r2;
    mad.lo.s32 %r5, %r7, 1000, %r5;
    @%p2 add.s32 %r5, %r5, %r6;)" +
                   std::string(kStore));
  ExpectAll(kernel, 32, [](std::uint64_t i) {
    const std::uint64_t first = i / 8 * 8, votes = first == 0 ? 0xf0 : std::uint64_t{0xff} << first;
    return (first * 8 + 28 + first * 1000 + (i == first ? votes : 0)) & 0xffffffff;
  });
}

SK_TEST(BarriersOrderWarps) {
  PtxKernel kernel(R"(
    mov.u32 %r1, arena;
    shl.b32 %r2, %r0, 2;
    add.s32 %r2, %r2, %r1;
    st.shared.u32 [%r2], %r0;
    bar.sync 0;
    sub.s32 %r3, 255, %r0;
    shl.b32 %r3, %r3, 2;
    add.s32 %r3, %r3, %r1;
    ld.shared.u32 %r5, [%r3];)" +
                   std::string(kStore));
  ExpectAll(kernel, 256, [](std::uint64_t i) { return 255 - i; });
}

SK_TEST(WhoArrivesOnlyGoesOn) {
  // The first warp writes for the second: it never waits.
  PtxKernel kernel(R"(
    mov.u32 %r5, 7;
    setp.ge.u32 %p1, %r0, 32;
    @%p1 bra Waits;
    st.shared.u32 [arena], 42;
    barrier.cta.arrive 3, 64;
    bra.uni Out;
  Waits:
    barrier.cta.sync 3, 64;
    ld.shared.u32 %r5, [arena];
  Out:)" + std::string(kStore));
  ExpectAll(kernel, 64, [](std::uint64_t i) { return i < 32 ? std::uint64_t{7} : 42; });
}

SK_TEST(MbarriersTurnWhenAllHaveComeAndAllBytesToo) {
  PtxKernel kernel(R"(
    mov.u32 %r1, arena;
    setp.ne.s32 %p1, %r0, 0;
    @%p1 bra Ready;
    mbarrier.init.shared::cta.b64 [%r1], 2;
  Ready:
    bar.sync 0;
    setp.eq.s32 %p2, %r0, 33;
    @%p2 mbarrier.arrive.shared::cta.b64 _, [%r1];
    @%p1 bra Waits;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
    add.s32 %r2, %r1, 64;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 16, [%r1];
  Waits:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0;
    @!%p3 bra Waits;
    ld.shared.u32 %r5, [arena+64];
    bar.sync 0;)" + std::string(kStore));
  for (const std::uint64_t seed : Seeds(8)) {
    const std::vector<std::uint64_t> out = kernel.Run(64, {77}, seed);
    SK_EXPECT_EQ(kernel.error(), "");
    SK_EXPECT(out == std::vector<std::uint64_t>(64, 77));
  }
}

SK_TEST(CopiesFillWithZeros) {
  PtxKernel kernel(R"(
    cp.async.cg.shared.global [arena], [%rd0], 16, 8;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.v2.u32 {%r1, %r2}, [arena+8];
    ld.shared.u32 %r3, [arena];
    or.b32 %r5, %r1, %r2;
    or.b32 %r5, %r5, %r3;)" +
                   std::string(kStore));
  SK_EXPECT_EQ(kernel.Run(1, {0x5, ~std::uint64_t{0}})[0], 5u);
  SK_EXPECT_EQ(kernel.error(), "");
}

SK_TEST(WhatIsOutsideIsNotTouched) {
  SK_EXPECT_CONTAINS(ErrorOf("st.global.u32 [%rd0+8], 1;"), "writes 4 bytes at");
  SK_EXPECT_CONTAINS(ErrorOf("ld.global.u64 %rd2, [%rd0+-8];"), "reads 8 bytes at");
  SK_EXPECT_CONTAINS(ErrorOf("ld.global.u64 %rd2, [%rd0+4];"), "reads 8 bytes at");
  SK_EXPECT_CONTAINS(ErrorOf("mov.u64 %rd2, Test_param_0;\nst.global.u64 [%rd2], 1;"), "writes 8");
  SK_EXPECT_CONTAINS(ErrorOf("ld.shared.u32 %r1, [arena+4096];"), "where it has 5120");
  SK_EXPECT_CONTAINS(ErrorOf("ld.shared.u32 %r1, [arena+2];"), "4 bytes of shared memory");
  SK_EXPECT_CONTAINS(ErrorOf("cp.async.cg.shared.global [arena], [%rd0], 8;"), "a size that");
  SK_EXPECT_CONTAINS(ErrorOf("cp.async.ca.shared.global [arena], [%rd0], 8, 9;"), "a size that");
}

SK_TEST(MistakesAreNamedWithTheirLine) {
  SK_EXPECT_CONTAINS(ErrorOf("frob.u32 %r1, %r2;"),
                     "line 20 of its PTX, warp 0: this instruction "
                     "is not known to the interpreter: frob.u32");
  SK_EXPECT_CONTAINS(ErrorOf("add.s32 %r1, %r2;"), "not known");
  SK_EXPECT_CONTAINS(ErrorOf("bra Nowhere;"), "no label \"Nowhere\"");
  SK_EXPECT_CONTAINS(ErrorOf("mov.u32 %r1, missing;"), "nothing is called missing");
  SK_EXPECT_CONTAINS(ErrorOf("mov.u32 %r1, %smid;"), "%smid is not known");
  SK_EXPECT_CONTAINS(ErrorOf(".local .b8 stack[8];"), "is not known");
  SK_EXPECT_CONTAINS(ErrorOf("ret;", 257), "257 threads, where 256 are allowed");
  SK_EXPECT_CONTAINS(ErrorOf("bar.warp.sync 2;", 32), "a member mask");
  SK_EXPECT_CONTAINS(ErrorOf("mbarrier.arrive.shared::cta.b64 _, [arena];"),
                     "no mbarrier is there");
  SK_EXPECT_CONTAINS(ErrorOf("barrier.cta.sync 1, 33;", 64), "barrier 1 for 33 threads");
  SK_EXPECT_CONTAINS(ErrorOf("mbarrier.init.shared::cta.b64 [arena], 1;\n"
                             "mbarrier.arrive.shared::cta.b64 _, [arena];\n"
                             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [arena], 16;\n"
                             "mbarrier.arrive.shared::cta.b64 _, [arena];"),
                     "one arrival too many");
  PtxKernel wide("ret;");
  wide.shared_bytes = 228 * 1024;
  wide.Run(1);
  SK_EXPECT_CONTAINS(wide.error(), "bytes of shared memory");
  SK_EXPECT_CONTAINS(PtxKernel("ret;", ".const .align 8 .b8 t[1] = {1, 2};").error(),
                     "a constant's");
  SK_EXPECT_CONTAINS(PtxKernel("ret;", ".global .u32 g;").error(), "line 4: \".global\" is not");
}

SK_TEST(WhatIsNoPtxIsRefused) {
  const auto refused = [](const std::string& text, const char* why) {
    interpreter::Program program;
    SK_EXPECT_CONTAINS(interpreter::Parse(text, program), why);
  };
  refused(".visible .entry k()\n{\n;\n}", "line 3: an instruction is missing");
  refused(".visible .entry k()\n{\n@%p1 ;\n}", "an instruction is missing");
  refused(".visible .entry k()\n{\n. %r1;\n}", "is not known");
  refused(".visible .entry k()\n{\nadd.s32 %r1, , 2;\n}", "an operand is missing");
  refused(".visible .entry k()\n{\nld.global.u32 %r1, [%rd1+x];\n}", "an offset that is no number");
  refused(".visible .entry k()\n{\n}", "k has no instructions");
  refused(".visible .entry k()\n{\n.reg .b32 %r<99999999>;\nret;\n}", "too many registers");
  refused(".visible .entry k(.param .align 8 .b8 p[9999999])\n{\nret;\n}", "a parameter's size");
  refused(".visible .entry k(", "is missing");
  refused(".visible .entry k()\n{\nret", "is missing");
}

// Whatever becomes of a text, it is read or refused with its line, and what can be read runs to an
// end.
SK_TEST(ATextWithMistakesIsRefusedOrRuns) {
  const std::string body =
      "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra Out;\nshl.b32 %r5, %r0, 3;\nmov.u32 %r8, arena;\n"
      "add.s32 %r8, %r8, %r5;\nst.shared.v2.u32 [%r8+8], {%r5, %r0};\nbar.warp.sync 255;\n"
      "shfl.sync.bfly.b32 %r6|%p2, %r5, 1, 31, 255;\nsetp.eq.s32 %p3, %r0, 0;\n@%p3 "
      "mbarrier.init.shared::cta.b64 [arena], 1;\n"
      "Out:\nbar.sync 0;\n" +
      std::string(kStore);
  constexpr std::string_view kSigns = "{}[];,.:%0-f@!| _\n";
  std::uint64_t state = RunSettings().first_seed;
  const auto draw = [&state](std::size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % below;
  };
  SK_EXPECT_EQ(ErrorOf(body, 32), "");
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string text = body;
    for (std::size_t i = draw(2) + 1; i > 0; --i) {
      const std::size_t at = draw(text.size());
      if (draw(4) == 0) text.erase(at, draw(12) + 1);
      if (draw(4) == 0) text.insert(at, text.substr(draw(text.size()), draw(20)));
      if (draw(2) == 0 && at < text.size()) text[at] = kSigns[draw(kSigns.size())];
    }
    PtxKernel kernel(text);
    kernel.Run(32);
    refused += !kernel.error().empty();
  }
  SK_EXPECT(refused > 100 && refused < 400);
}

SK_TEST(WhoLeavesMustHaveWaited) {
  const std::string copy = "cp.async.cg.shared.global [arena], [%rd0], 16, 8;\n";
  const std::string store =
      "mov.u32 %r8, arena;\nadd.s64 %rd2, %rd0, 0;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r8], 16;\n";
  const auto error_of = [](const std::string& body) {
    PtxKernel kernel(body);
    kernel.Run(1, {1, 2});
    return kernel.error();
  };
  constexpr const char* kLeft = "leaves work that nobody waited for: ret";
  SK_EXPECT_CONTAINS(error_of(copy), kLeft);
  SK_EXPECT_CONTAINS(error_of(copy + "cp.async.wait_group 0;"), kLeft);  // not committed
  SK_EXPECT_CONTAINS(error_of(copy + "cp.async.commit_group;\ncp.async.wait_group 1;"), kLeft);
  SK_EXPECT_CONTAINS(error_of(copy + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"),
                     kLeft);
  SK_EXPECT_EQ(error_of(copy + "cp.async.commit_group;\ncp.async.wait_group 0;"), "");
  SK_EXPECT_EQ(error_of(copy + "cp.async.commit_group;\ncp.async.commit_group;\n"
                               "cp.async.wait_group 1;"),
               "");  // the last group is empty
  SK_EXPECT_CONTAINS(error_of(store + "cp.async.bulk.commit_group;"), kLeft);
  SK_EXPECT_EQ(error_of(store + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;"),
               "");
}

SK_TEST(WhatPtxForbidsIsRefused) {
  SK_EXPECT_CONTAINS(ErrorOf("ld.shared.u32 %r1, [arena+-4];"), "4 bytes of shared memory at 1020");
  SK_EXPECT_CONTAINS(ErrorOf("cp.async.ca.shared.global [arena], [%rd0+2], 8, 2;"), "not aligned");
  SK_EXPECT_CONTAINS(ErrorOf("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [arena], {%r0};", 32),
                     "not known");
  SK_EXPECT_CONTAINS(ErrorOf("setmaxnreg.inc.sync.aligned.u32 64;", 32), "without .maxnreg");
  SK_EXPECT_CONTAINS(ErrorOf("setmaxnreg.inc.sync.aligned.u32 60;", 32), "a count of registers");
  const std::string init = "mbarrier.init.shared::cta.b64 [arena], 1;\n";
  SK_EXPECT_CONTAINS(ErrorOf(init + init), "which nobody invalidated");
  SK_EXPECT_EQ(ErrorOf(init + "mbarrier.inval.shared::cta.b64 [arena];\n" + init), "");
  SK_EXPECT_CONTAINS(ErrorOf("mbarrier.inval.shared::cta.b64 [arena];"), "no mbarrier is there");
  SK_EXPECT_CONTAINS(ErrorOf(init + "mbarrier.try_wait.parity.shared::cta.b64 %p1, [arena], 2;"),
                     "a parity");
  SK_EXPECT_CONTAINS(
      ErrorOf(init + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [arena], 1048576;"),
      "more bytes than");
  SK_EXPECT_CONTAINS(ErrorOf(R"(
    setp.gt.u32 %p2, %r0, 2;
    @%p2 bra Out;
    setp.eq.s32 %p1, %r0, 0;
    selp.u32 %r1, 3, 7, %p1;
    redux.sync.add.u32 %r5, %r0, %r1;
  Out:)",
                             32),
                     "different masks");
  SK_EXPECT_CONTAINS(ErrorOf(R"(
    cvt.u64.u32 %rd2, %r0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, %p1,
      1, 1, 0, 0;)",
                             128),
                     "lanes disagree");
}

SK_TEST(WhoCanNotGoOnIsReported) {
  SK_EXPECT_CONTAINS(ErrorOf("Again:\nbra.uni Again;"), "does not end");
  const std::string parted = R"(
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra Here;
    bar.sync 0;
    bra.uni Out;
  Here:
    bar.sync 0;
  Out:)";
  SK_EXPECT_CONTAINS(ErrorOf(parted, 32),
                     "cannot go on");  // bar.sync is of a whole warp
  const std::string never = R"(
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra Out;
    bar.sync 0;
  Out:)";
  SK_EXPECT_CONTAINS(ErrorOf(never, 64), "cannot go on");
  SK_EXPECT_CONTAINS(ErrorOf(never, 64), "warp 1: lane 0 barrier at line 23 bar.sync 0");
  const std::string asks = R"(
    mbarrier.init.shared::cta.b64 [arena], 1;
  Again:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [arena], 0;
    @!%p1 bra Again;)";
  SK_EXPECT_CONTAINS(ErrorOf(asks), "cannot go on");
}

}  // namespace cairn::test
