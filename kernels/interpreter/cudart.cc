#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/interpreter/launch.h"
#include "kernels/interpreter/memory.h"
#include "kernels/interpreter/modules.h"
#include "kernels/interpreter/streams.h"
#include "kernels/interpreter/warp.h"

// So much of the CUDA runtime as this repository calls, over the interpreter: a program that nvcc
// compiled is linked with this in cudart's place. One device; what streams are given is done
// when somebody waits for it. Threads: one at a time.

namespace cairn::interpreter {
namespace {

constexpr int kMultiprocessors = 2;
constexpr std::size_t kMemoryMax = std::size_t{16} << 30;
constexpr std::size_t kAlignment = 256;

struct Runtime {
  DeviceState device;
  Memory device_memory;  // what of `device.memory` is no host memory
  Modules modules;
  Streams streams;
  std::unordered_map<const void*, std::size_t> shared_max;  // by kernel, if it asked

  static Runtime& Get() {
    static Runtime* const runtime = new Runtime;  // tidy: allow(new) outlives every static object
    return *runtime;
  }
};

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t Tell(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}
void Print(const std::string& line) {
  std::fprintf(stderr, "interpreter: %s\n", line.c_str());  // tidy: allow(print) a GPU says nothing
}

cudaError_t Refuse(const std::string& why) {
  Print(why);
  return Tell(cudaErrorInvalidValue);
}
// What no thread may do that captures a stream.
cudaError_t CheckNoCapture() {
  return Tell(Runtime::Get().streams.is_capturing() ? cudaErrorStreamCaptureUnsupported
                                                    : cudaSuccess);
}

// In the stream's turn, or when the graph is launched that it captures.
cudaError_t Do(cudaStream_t stream, Call call) {
  if (stream == nullptr) return Refuse("the default stream, which orders nothing here");
  return Tell(Runtime::Get().streams.Give(stream, std::move(call)));
}

cudaError_t LaunchNow(const void* function, const Launch& launch) {
  Runtime& runtime = Runtime::Get();
  const Modules::Found found = runtime.modules.Find(function);
  const std::string error = found.kernel == nullptr
                                ? found.error
                                : Run(*found.program, *found.kernel, launch, runtime.device);
  if (error.empty()) return cudaSuccess;
  Print(error);
  return cudaErrorLaunchFailure;
}

cudaError_t LaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                         std::size_t shared_bytes, cudaStream_t stream) {
  Runtime& runtime = Runtime::Get();
  Launch launch;
  const Modules::Found found = runtime.modules.Find(function);
  if (found.kernel == nullptr) {
    Print(found.error);
    return Tell(cudaErrorInvalidDeviceFunction);
  }
  const auto asked = runtime.shared_max.find(function);
  const std::size_t allowed =
      asked == runtime.shared_max.end() ? kSharedBytesByDefault : asked->second;
  if (threads.y != 1 || threads.z != 1 || shared_bytes > allowed) {
    Print(found.kernel->name + ": " + std::to_string(shared_bytes) + " bytes of shared memory, " +
          std::to_string(allowed) + " allowed; or threads in y or z");
    return Tell(cudaErrorInvalidValue);
  }
  launch.parameters.resize(found.kernel->parameter_bytes);
  for (std::size_t i = 0; i < found.kernel->parameters.size(); ++i) {
    const Parameter& parameter = found.kernel->parameters[i];
    std::memcpy(launch.parameters.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  launch.blocks = {blocks.x, blocks.y, blocks.z};
  launch.threads = threads.x;
  launch.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  return Do(stream, [function, launch = std::move(launch)] { return LaunchNow(function, launch); });
}

cudaError_t Allocate(void** memory, std::size_t bytes, bool is_device) {
  Runtime& runtime = Runtime::Get();
  if (const cudaError_t error = CheckNoCapture(); error != cudaSuccess) return error;
  if (bytes == 0 || bytes > kMemoryMax) return Tell(cudaErrorMemoryAllocation);
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return Tell(cudaErrorMemoryAllocation);
  std::memset(*memory, 0xff, bytes);  // NaN, or -1: what nobody wrote
  runtime.device.memory.Add(*memory, bytes, true);
  if (is_device) runtime.device_memory.Add(*memory, bytes, true);
  return cudaSuccess;
}
cudaError_t Free(void* memory, bool is_device) {
  Runtime& runtime = Runtime::Get();
  if (memory == nullptr) return cudaSuccess;
  if (const cudaError_t error = CheckNoCapture(); error != cudaSuccess) return error;
  (void)runtime.streams.RunAll();  // as cudart's wait for the device
  if (runtime.device_memory.Remove(memory) != is_device) {
    runtime.streams.Lose();  // nobody looks at what a destructor's call returns
    return Refuse("the other kind of memory");
  }
  if (!runtime.device.memory.Remove(memory)) return Tell(cudaErrorInvalidValue);
  std::free(memory);
  return cudaSuccess;
}

}  // namespace
}  // namespace cairn::interpreter

using cairn::interpreter::Runtime;
using cairn::interpreter::Tell;

extern "C" {

// ---- What nvcc's start-up and launch code calls (crt/host_runtime.h) ----------------------------

// NOLINTBEGIN(bugprone-reserved-identifier)
void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(Runtime::Get().modules.Add(wrapper));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** module, const char* host_function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  Runtime::Get().modules.Name(host_function, reinterpret_cast<cairn::interpreter::Module*>(module),
                              name);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
  return Tell(cudaErrorNotSupported);  // <<<...>>> is not used here
}
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) { return 1; }
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return cairn::interpreter::LaunchKernel(kernel, blocks, threads, arguments, shared_bytes, stream);
}
// NOLINTEND(bugprone-reserved-identifier)
cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return cairn::interpreter::LaunchKernel(function, blocks, threads, arguments, shared_bytes,
                                          stream);
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  Runtime& runtime = Runtime::Get();
  if (runtime.modules.Find(function).kernel == nullptr) return Tell(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      static_cast<std::uint32_t>(value) > cairn::interpreter::kSharedBytesMax) {
    return Tell(cudaErrorInvalidValue);
  }
  runtime.shared_max[function] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

// ---- Errors and the device ----------------------------------------------------------------------

cudaError_t cudaGetLastError() {
  return std::exchange(cairn::interpreter::last_error, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorLaunchFailure      ? "cudaErrorLaunchFailure"
         : error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
                                              : "an error of the interpreter";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure ? "a kernel failed; the line above says how"
                                         : "see its name";
}
cudaError_t cudaSetDevice(int ordinal) {
  return ordinal == 0 ? cudaSuccess : Tell(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "PTX interpreter");
  properties->major = 9;
  properties->multiProcessorCount = cairn::interpreter::kMultiprocessors;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterReadOnlySupported:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = cairn::interpreter::kMultiprocessors;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      return cudaSuccess;
    case cudaDevAttrClockRate:
      *value = static_cast<int>(cairn::interpreter::kTicksPerNanosecond) * 1'000'000;  // kHz
      return cudaSuccess;
    default:
      return Tell(cudaErrorInvalidValue);
  }
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = cairn::interpreter::kMemoryMax;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = cairn::interpreter::CheckNoCapture(); error != cudaSuccess) {
    return error;
  }
  return Tell(Runtime::Get().streams.RunAll());
}

// ---- Memory -------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return cairn::interpreter::Allocate(memory, bytes, true);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return cairn::interpreter::Allocate(memory, bytes, false);
}
cudaError_t cudaFree(void* memory) { return cairn::interpreter::Free(memory, true); }
cudaError_t cudaFreeHost(void* memory) { return cairn::interpreter::Free(memory, false); }
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  Runtime& runtime = Runtime::Get();
  const bool is_writable = (flags & cudaHostRegisterReadOnly) == 0;
  return runtime.device.memory.Add(memory, bytes, is_writable)
             ? cudaSuccess
             : Tell(cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void* memory) {
  Runtime& runtime = Runtime::Get();
  return runtime.device.memory.Remove(memory) ? cudaSuccess
                                              : Tell(cudaErrorHostMemoryNotRegistered);
}
// Of memory that the device knows only: of other, cudart's call would wait.
cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  const Runtime& runtime = Runtime::Get();
  const auto to = reinterpret_cast<std::uint64_t>(target);
  const auto from = reinterpret_cast<std::uint64_t>(source);
  if (!runtime.device.memory.Allows(to, bytes, true) ||
      !runtime.device.memory.Allows(from, bytes, false)) {
    return cairn::interpreter::Refuse("a copy of memory that is not the device's, nor pinned");
  }
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault &&
      (runtime.device_memory.Allows(to, bytes, true) != to_device ||
       runtime.device_memory.Allows(from, bytes, false) != from_device)) {
    return cairn::interpreter::Refuse("a copy in another direction than it says");
  }
  return cairn::interpreter::Do(stream, [target, source, bytes] {
    std::memcpy(target, source, bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaMemsetAsync(void* target, int value, std::size_t bytes, cudaStream_t stream) {
  if (!Runtime::Get().device_memory.Allows(reinterpret_cast<std::uint64_t>(target), bytes, true)) {
    return cairn::interpreter::Refuse("a fill of what is not device memory");
  }
  return cairn::interpreter::Do(stream, [target, value, bytes] {
    std::memset(target, value, bytes);
    return cudaSuccess;
  });
}

// ---- Streams, events, graphs --------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = Runtime::Get().streams.Open();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return Tell(Runtime::Get().streams.Close(stream));
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream->captured != nullptr) return Tell(cudaErrorStreamCaptureUnsupported);
  return Tell(Runtime::Get().streams.RunTo(*stream->queue, stream->queue->given()));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = std::make_unique<CUevent_st>().release();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::unique_ptr<CUevent_st> owned(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (stream == nullptr || stream->captured != nullptr) {
    return cairn::interpreter::Refuse("an event of the default stream, or of a capture");
  }
  *event = {stream->queue, stream->queue->given()};
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->queue == nullptr) return cudaSuccess;
  return cairn::interpreter::Do(stream, [queue = event->queue, calls = event->calls] {
    return Runtime::Get().streams.RunTo(*queue, calls);
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->queue == nullptr) return cudaSuccess;
  return Tell(Runtime::Get().streams.RunTo(*event->queue, event->calls));
}
// Whoever asks again and again sees it come.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->queue == nullptr || event->queue->done >= event->calls) return cudaSuccess;
  const cudaError_t error = Runtime::Get().streams.RunTo(*event->queue, event->queue->done + 1);
  return Tell(error == cudaSuccess ? cudaErrorNotReady : error);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream->captured != nullptr) return Tell(cudaErrorIllegalState);
  Runtime::Get().streams.BeginCapture(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = Runtime::Get().streams.EndCapture(stream).release();  // the caller destroys it
  return *graph == nullptr ? Tell(cudaErrorIllegalState) : cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = std::make_unique<CUgraphExec_st>(CUgraphExec_st{*graph}).release();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::unique_ptr<CUgraph_st> owned(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  const std::unique_ptr<CUgraphExec_st> owned(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  for (const cairn::interpreter::Call& call : graph->graph.calls) {
    if (const cudaError_t error = cairn::interpreter::Do(stream, call); error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

}  // extern "C"
