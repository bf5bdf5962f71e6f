#include "kernels/test/bulk_pipeline.h"

// One kernel for each line that cmake/ptxas_gate.sh must not let pass: SK_GATE_C7508 and so on. The
// seeded bugs of the bug suite, seen by ptxas, which repairs the last two in silence.

namespace cairn::test {

#ifdef SK_GATE_C7508
SK_KERNEL void UnboundedRegisters(std::uint32_t* out) {  // SK_KERNEL_REGISTERS is missing
  sk::ReleaseRegisters<40>();
  out[sk::ThreadIndex()] = 1;
}
#endif
#ifdef SK_GATE_C7517
template __global__ void BulkPipeline<BulkBug::kNoWgmmaWait>(BulkPipelineParams);
#endif
#ifdef SK_GATE_C7519
template __global__ void BulkPipeline<BulkBug::kNoWgmmaFence>(BulkPipelineParams);
#endif

}  // namespace cairn::test
