#include "kernels/attention/prefill_wgmma.h"

#include "kernels/attention/prefill_wgmma_kernel.h"

namespace cairn::kernels {
namespace {

template <class Element, std::uint32_t kDim>
rt::Status LaunchRows(rt::Stream& stream, const PrefillParams& params) {
  using Memory = WgmmaMemory<kDim>;
  return rt::Launch(stream,
                    {.blocks_x = params.query_tiles_max,
                     .blocks_y = params.rows.q_heads,
                     .threads = Memory::kThreads,
                     .shared_bytes = Memory::kBytes,
                     .registers_per_thread = Memory::kRegisters},
                    PrefillRowsWgmma<Element, kDim>, params);
}

template <class Element>
rt::Status LaunchFor(rt::Stream& stream, const PrefillParams& params) {
  const std::uint32_t dim = params.rows.keys.head_dim;
  if (dim == 64) return LaunchRows<Element, 64>(stream, params);
  if (dim == 128) return LaunchRows<Element, 128>(stream, params);
  return LaunchRows<Element, 256>(stream, params);
}

}  // namespace

std::string ValidateForWgmma(const PrefillParams& params) {
  return Validate(params, "prefill by wgmma");
}

rt::Status AttendPrefillWgmma(rt::Stream& stream, const PrefillParams& params) {
  if (std::string wrong = ValidateForWgmma(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.rows.keys.element == ElementType::kF16;
  return is_f16 ? LaunchFor<F16>(stream, params) : LaunchFor<Bf16>(stream, params);
}

}  // namespace cairn::kernels
