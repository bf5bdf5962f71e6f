#include "kernels/test/bulk_pipeline.h"
#include "kernels/test/copy_pipeline.h"
#include "kernels/test/proxy_chain.h"

// The right kernels of the bug suite, compiled for the GPU: what the emulator calls right must pass
// ptxas without complaint.

namespace cairn::test {

template __global__ void BulkPipeline<BulkBug::kNone>(BulkPipelineParams);
template __global__ void CopyPipeline<CopyBug::kNone>(CopyPipelineParams);
template __global__ void ProxyChain<ProxyBug::kNone, false>(ProxyChainParams);
template __global__ void ProxyChain<ProxyBug::kNone, true>(ProxyChainParams);

}  // namespace cairn::test
