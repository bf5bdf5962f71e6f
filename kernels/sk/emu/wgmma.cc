#include "kernels/sk/wgmma.h"

#include <cstring>

#include "kernels/sk/emu/block.h"
#include "kernels/sk/number_soft.h"

// wgmma: each warp's share of a product is an operation of its own, computed at a random time
// between issue and wait, from shared memory as the async proxy sees it.

namespace cairn::sk::emu {
namespace {

constexpr std::size_t kFencedRegistersMax = 16;  // register arrays remembered, the newest ones

// Reads bytes that may lie on a stack frame which has ended since: comparing is all that is done.
#if defined(__clang__) || defined(__GNUC__)
__attribute__((no_sanitize("address")))
#endif
void Read(const void* from, std::byte* to, std::uint32_t bytes) {
  const auto* source = static_cast<const volatile std::byte*>(from);
  for (std::uint32_t i = 0; i < bytes; ++i) to[i] = source[i];
}

bool AreEqual(const void* registers, const void* expected, std::uint32_t bytes) {
  std::byte now[256 / 2 * sizeof(float)];
  Read(registers, now, bytes);
  return std::memcmp(now, expected, bytes) == 0;
}

// ---- Descriptors --------------------------------------------------------------------------------

struct Operand {
  std::uint32_t start, leading, stride, base_offset;
  Swizzle swizzle;
};

Operand Decode(MatrixDescriptor descriptor) {
  const auto field = [&](int from, int width) {
    return static_cast<std::uint32_t>(descriptor.bits >> from & ((1u << width) - 1));
  };
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3),
          static_cast<Swizzle>(field(62, 2))};
}

// The window address of the 16-byte chunk that holds (row, k) of a tile whose rows are M or N.
std::uint32_t ChunkAddress(const Operand& operand, Major major, std::uint32_t row,
                           std::uint32_t k) {
  const std::uint32_t width = SwizzleChunks(operand.swizzle);
  const bool is_plain = operand.swizzle == Swizzle::kNone;
  std::uint32_t offset = 0;
  if (major == Major::kK) {
    offset =
        row % 8 * width * 16 + row / 8 * operand.stride + k / 8 * (is_plain ? operand.leading : 16);
  } else {
    const std::uint32_t chunk = row / 8;
    offset = is_plain ? chunk * operand.stride + k % 8 * 16 + k / 8 * operand.leading
                      : chunk % width * 16 + chunk / width * operand.leading + k % 8 * width * 16 +
                            k / 8 * operand.stride;
  }
  const std::uint32_t address = operand.start + offset;
  const std::uint32_t line = (address >> 7) - operand.base_offset;
  return address ^ ((line & (width - 1)) << 4);
}

// ---- The product --------------------------------------------------------------------------------

float ToFloat(InputType type, std::uint32_t bits) {
  return type == InputType::kBf16 ? soft::FromBf16(bits) : soft::FromF16(bits);
}

// `rows` rows of 16 values along k, from row `first` (a multiple of 8) of the tile on, as
// out[k][row]: chunk by chunk, which holds 8 values of k, or of M or N.
void LoadOperand(Block& block, const WgmmaCall& call, MatrixDescriptor descriptor, Major major,
                 std::uint32_t first, std::uint32_t rows, float* out, Site site) {
  const Operand operand = Decode(descriptor);
  const bool is_k = major == Major::kK;
  const std::uint32_t row_step = is_k ? 1 : 8, k_step = is_k ? 8 : 1;
  for (std::uint32_t row = 0; row < rows; row += row_step) {
    for (std::uint32_t k = 0; k < 16; k += k_step) {
      const std::uint32_t address = ChunkAddress(operand, major, first + row, k);
      std::uint16_t values[8];
      std::memcpy(values, block.AsyncAt(block.At(address, 16, 16, "Wgmma", site)), 16);
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint32_t place = is_k ? (k + i) * rows + row : k * rows + row + i;
        out[place] = ToFloat(call.type, values[i]);
      }
    }
  }
}

void LoadRegisters(const Product& product, float* a) {
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint32_t* registers = product.calls[lane].a_registers;  // as they are now
    std::uint32_t now[4];
    Read(registers, reinterpret_cast<std::byte*>(now), sizeof now);
    for (std::uint32_t i = 0; i < 8; ++i) {  // 16-bit value i of the lane
      const std::uint32_t row = lane / 4 + (i / 2 & 1) * 8;
      const std::uint32_t k = lane % 4 * 2 + i % 2 + i / 4 * 8;
      a[k * 16 + row] = ToFloat(product.calls[lane].type, now[i / 2] >> i % 2 * 16 & 0xffff);
    }
  }
}

Accumulator& AccumulatorOf(Warp& warp, const Product& product) {
  for (Accumulator& accumulator : warp.accumulators) {
    if (accumulator.registers[0] == product.calls[0].d) return accumulator;
  }
  __builtin_trap();  // a product's accumulator lives until its last product is waited for
}

void Compute(Block& block, Warp& warp, Product& product) {
  if (product.is_computed) return;
  product.is_computed = true;
  const WgmmaCall& call = product.calls[0];
  const std::uint32_t first_row = warp.index % 4 * 16;
  static thread_local float a[16 * 16], b[256 * 16], sum[16 * 256];
  if (call.a_registers != nullptr) {
    LoadRegisters(product, a);
  } else {
    LoadOperand(block, call, call.a, call.major_a, first_row, 16, a, product.site);
  }
  LoadOperand(block, call, call.b, call.major_b, 0, call.n, b, product.site);
  // Pairs (k, k + 8), then a tree over the pairs: not mma.sync's order.
  for (std::uint32_t m = 0; m < 16; ++m) {
    float pairs[8][256];
    for (std::uint32_t k = 0; k < 8; ++k) {
      const float low = a[k * 16 + m], high = a[(k + 8) * 16 + m];
      const float* b_low = b + k * call.n;
      const float* b_high = b + (k + 8) * call.n;
      for (std::uint32_t n = 0; n < call.n; ++n) pairs[k][n] = low * b_low[n] + high * b_high[n];
    }
    for (std::uint32_t n = 0; n < call.n; ++n) {
      const float even = (pairs[0][n] + pairs[4][n]) + (pairs[2][n] + pairs[6][n]);
      const float odd = (pairs[1][n] + pairs[5][n]) + (pairs[3][n] + pairs[7][n]);
      sum[m * call.n + n] = even + odd;
    }
  }
  Accumulator& accumulator = AccumulatorOf(warp, product);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    float* d = accumulator.values.data() + lane * accumulator.count;
    for (std::uint32_t i = 0; i < accumulator.count; ++i) {
      const std::uint32_t row = lane / 4 + (i / 2 & 1) * 8;
      const std::uint32_t column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      const float product_sum = sum[row * call.n + column];
      d[i] = call.accumulate ? d[i] + product_sum : product_sum;
    }
  }
}

// ---- Issue --------------------------------------------------------------------------------------

struct WgmmaArguments {
  const WgmmaCall* call;
};

bool IsSameOperation(const WgmmaCall& a, const WgmmaCall& b) {
  return a.a.bits == b.a.bits && a.b.bits == b.b.bits && a.n == b.n && a.type == b.type &&
         a.major_a == b.major_a && a.major_b == b.major_b && a.accumulate == b.accumulate &&
         (a.a_registers == nullptr) == (b.a_registers == nullptr);
}

// Fails if a register array that was known at the last fence has changed since; remembers it.
void CheckFenced(Block& block, Warp& warp, const Product& product, bool is_a, bool is_compared) {
  const auto registers = [&](std::uint32_t lane) -> const void* {
    return is_a ? static_cast<const void*>(product.calls[lane].a_registers) : product.calls[lane].d;
  };
  const std::uint32_t bytes = is_a ? 16 : product.calls[0].n / 2 * 4;
  for (const FencedRegisters& known : warp.fenced) {
    if (known.registers[0] != registers(0) || known.bytes != bytes) continue;
    if (known.value.empty() || !is_compared) return;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if (!AreEqual(registers(lane), known.value.data() + lane * bytes, bytes)) {
        block.Fail("Wgmma", product.site,
                   std::string(is_a ? "operand" : "accumulator") + " registers of lane " +
                       std::to_string(lane) + " were written after the last WgmmaFence");
      }
    }
    return;
  }
  if (warp.fenced.size() == kFencedRegistersMax) warp.fenced.erase(warp.fenced.begin());
  FencedRegisters known{{}, bytes, {}};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) known.registers[lane] = registers(lane);
  warp.fenced.push_back(std::move(known));
}

// Takes the accumulators out of the kernel's hands, unless an earlier product of the chain has.
void TakeAccumulator(Block& block, Warp& warp, const Product& product) {
  const std::uint32_t count = product.calls[0].n / 2;
  for (Accumulator& accumulator : warp.accumulators) {
    const bool is_same = accumulator.registers[0] == product.calls[0].d;
    if (is_same && accumulator.count == count) {
      ++accumulator.products;
      return;
    }
    const bool is_apart = product.calls[0].d + count <= accumulator.registers[0] ||
                          accumulator.registers[0] + accumulator.count <= product.calls[0].d;
    if (!is_apart) {
      block.Fail("Wgmma", product.site, "its accumulators are part of others that are under way");
    }
  }
  Accumulator taken{{}, count, std::vector<float>(std::size_t{count} * kWarpLanes), 1};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    float* registers = product.calls[lane].d;
    taken.registers[lane] = registers;
    std::memcpy(taken.values.data() + lane * count, registers, count * sizeof(float));
    std::memset(registers, 0xff, count * sizeof(float));
  }
  warp.accumulators.push_back(std::move(taken));
}

void RunIssue(Meeting& meeting) {
  Block& block = *Current().block;
  Warp& warp = *Current().warp;
  const auto call = [&](std::uint32_t lane) -> const WgmmaCall& {
    return *static_cast<WgmmaArguments*>(meeting.arguments[lane])->call;
  };
  Product product{{}, {}, warp.product_groups, false, meeting.sites[0]};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    product.calls[lane] = call(lane);
    if (!IsSameOperation(call(lane), call(0))) {
      block.Fail("Wgmma", product.site, "the lanes of a warp give different operands");
    }
    if (call(lane).a_registers != nullptr) {
      std::memcpy(product.a_registers[lane].data(), call(lane).a_registers, 16);
    }
  }
  if (!warp.is_wgmma_fenced) {
    block.Fail("Wgmma", product.site, "no WgmmaFence since the last WgmmaWait");
  }
  bool is_chained = false;
  for (const Accumulator& accumulator : warp.accumulators) {
    is_chained = is_chained || accumulator.registers[0] == call(0).d;
  }
  if (!is_chained) {
    CheckFenced(block, warp, product, /*is_a=*/false, call(0).accumulate);
  }
  if (call(0).a_registers != nullptr) CheckFenced(block, warp, product, /*is_a=*/true, true);
  TakeAccumulator(block, warp, product);

  // What must be the same in all warps of the group: everything but register addresses.
  std::uint64_t hash = call(0).a.bits * 0x9e3779b97f4a7c15u + call(0).b.bits;
  hash = hash * 31 + call(0).n * 16 + static_cast<std::uint64_t>(call(0).type) * 8 +
         static_cast<std::uint64_t>(call(0).major_a) * 4 +
         static_cast<std::uint64_t>(call(0).major_b) * 2 + (call(0).accumulate ? 1 : 0);
  warp.group_history = warp.group_history * 0x100000001b3u + hash;
  ++warp.group_operations;

  warp.products.push_back(product);
  if (block.random.OneIn(4)) {
    for (Product& each : warp.products) Compute(block, warp, each);
  }
}

// ---- Wait ---------------------------------------------------------------------------------------

void FinishProduct(Block& block, Warp& warp, Product& product, Site site) {
  Compute(block, warp, product);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint32_t* registers = product.calls[lane].a_registers;
    if (registers != nullptr && !AreEqual(registers, product.a_registers[lane].data(), 16)) {
      block.Fail("WgmmaWait", site,
                 "in lane " + std::to_string(lane) +
                     " operand registers were written before this wait, those of Wgmma at ",
                 product.site);
    }
  }
  Accumulator& accumulator = AccumulatorOf(warp, product);
  if (--accumulator.products > 0) return;
  static const std::vector<std::uint32_t> kPoisoned(128, kPoison);
  const std::uint32_t bytes = accumulator.count * sizeof(float);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if (!AreEqual(accumulator.registers[lane], kPoisoned.data(), bytes)) {
      block.Fail("WgmmaWait", site,
                 "in lane " + std::to_string(lane) +
                     " accumulators were written before this wait, those of Wgmma at ",
                 product.site);
    }
    std::memcpy(accumulator.registers[lane], accumulator.values.data() + lane * accumulator.count,
                bytes);
  }
  warp.accumulators.erase(warp.accumulators.begin() + (&accumulator - warp.accumulators.data()));
}

void RunWait(Meeting& meeting) {
  Block& block = *Current().block;
  Warp& warp = *Current().warp;
  const std::uint32_t groups = *static_cast<std::uint32_t*>(meeting.arguments[0]);
  const std::uint32_t end = warp.product_groups > groups ? warp.product_groups - groups : 0;
  std::size_t finished = 0;
  while (finished < warp.products.size() && warp.products[finished].group < end) {
    FinishProduct(block, warp, warp.products[finished++], meeting.sites[0]);
  }
  warp.products.erase(warp.products.begin(),
                      warp.products.begin() + static_cast<std::ptrdiff_t>(finished));
  warp.is_wgmma_fenced = false;
}

void RunFence(Meeting&) {
  Warp& warp = *Current().warp;
  warp.is_wgmma_fenced = true;
  for (FencedRegisters& known : warp.fenced) {
    known.value.resize(std::size_t{known.bytes} * kWarpLanes);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      Read(known.registers[lane], known.value.data() + lane * known.bytes, known.bytes);
    }
  }
}

}  // namespace

void IssueWgmma(const WgmmaCall& call, Site site) {
  Thread& self = Current();
  if (IsSkipped(self, site, "Wgmma")) return;
  const std::uint32_t group = self.index / kWarpgroupThreads * kWarpgroupThreads;
  if (group + kWarpgroupThreads > self.block->threads.size()) {
    self.block->Fail("Wgmma", site, "a warpgroup is 128 threads from a multiple of 128 on");
  }
  WgmmaArguments arguments{&call};
  self.block->Meet("Wgmma", kFullWarp, &arguments, RunIssue, site);
  self.block->MayGiveWay();
}

void WaitWgmma(std::uint32_t groups, Site site) {
  Thread& self = Current();
  std::uint32_t less = 0;
  if (IsSkipped(self, site, "WgmmaWait", less)) return;
  groups += less;
  self.block->Meet("WgmmaWait", kFullWarp, &groups, RunWait, site);
}

}  // namespace cairn::sk::emu

namespace cairn::sk {

void WgmmaFence(Site site) {
  emu::Thread& self = emu::Current();
  if (emu::IsSkipped(self, site, "WgmmaFence")) return;
  self.block->Meet("WgmmaFence", kFullWarp, nullptr, emu::RunFence, site);
}

void WgmmaCommit(Site site) {
  emu::Thread& self = emu::Current();
  if (emu::IsSkipped(self, site, "WgmmaCommit")) return;
  constexpr auto kRun = [](emu::Meeting&) { ++emu::Current().warp->product_groups; };
  self.block->Meet("WgmmaCommit", kFullWarp, nullptr, kRun, site);
}

}  // namespace cairn::sk
