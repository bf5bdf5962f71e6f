#include <cuda_runtime.h>

#include <string>
#include <unordered_map>
#include <utility>

#include "kernels/sk/rt/runtime.h"

// The runtime over cudart. Links with the static cudart and starts on machines without a GPU, where
// Open says so.

namespace cairn::rt {
namespace internal {

struct DeviceParts {
  int ordinal = 0;
  std::string name;
  std::uint32_t multiprocessors = 0;
  bool reaches_host_pointers = false;  // of registered memory, as they are
  bool registers_read_only = false;
};
struct StreamParts {
  int ordinal = 0;
  cudaStream_t stream = nullptr;
  // By kernel: the dynamic shared memory that it was allowed. Asked of the driver once.
  std::unordered_map<const void*, std::uint32_t> shared_bytes;
  ~StreamParts() {
    if (stream == nullptr) return;
    (void)cudaStreamSynchronize(stream);
    (void)cudaStreamDestroy(stream);
  }
};
struct EventParts {
  cudaEvent_t event = nullptr;
  ~EventParts() {
    if (event != nullptr) (void)cudaEventDestroy(event);
  }
};
struct GraphParts {
  cudaGraphExec_t graph = nullptr;
  ~GraphParts() {
    if (graph != nullptr) (void)cudaGraphExecDestroy(graph);
  }
};

}  // namespace internal

using internal::DeviceParts;
using internal::EventParts;
using internal::GraphParts;
using internal::StreamParts;

namespace {

// Also takes the error from cudart's own memory, so that the next call does not report it again.
Status ToStatus(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return Status();
  (void)cudaGetLastError();
  std::string message =
      std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")";
  if (error == cudaErrorMemoryAllocation) return Status::OutOfMemory(std::move(message));
  return Status(std::move(message));
}

constexpr std::uint32_t kSharedBytesByDefault = 48 * 1024;

// Which device is current is a thread's own; calls may come from another than opened it.
Status MakeCurrent(int ordinal) { return ToStatus(cudaSetDevice(ordinal), "cudaSetDevice"); }

// 0 where the driver does not know it.
int AttributeOf(cudaDeviceAttr attribute, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, attribute, ordinal) != cudaSuccess) (void)cudaGetLastError();
  return value;
}

// The whole of an SM's memory as shared memory: else how many blocks fit is the driver's guess.
Status AllowShared(const void* kernel, std::uint32_t bytes) {
  Status status = ToStatus(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(bytes)),
                           "cudaFuncSetAttribute");
  if (!status.ok()) return status;
  return ToStatus(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                       cudaSharedmemCarveoutMaxShared),
                  "cudaFuncSetAttribute");
}

}  // namespace

// ---- Device -------------------------------------------------------------------------------------

Device::Device(std::unique_ptr<DeviceParts> parts) : parts_(std::move(parts)) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::Open(const Options& options) {
  if (Status status = ToStatus(cudaSetDevice(options.ordinal), "cudaSetDevice"); !status.ok()) {
    return status;
  }
  cudaDeviceProp properties;
  if (Status status = ToStatus(cudaGetDeviceProperties(&properties, options.ordinal),
                               "cudaGetDeviceProperties");
      !status.ok()) {
    return status;
  }
  if (properties.major != 9) {
    return Status(std::string(properties.name) + " has compute capability " +
                  std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                  "; the kernels are built for 9.0 (Hopper)");
  }
  auto parts = std::make_unique<DeviceParts>();
  parts->ordinal = options.ordinal;
  parts->name = properties.name;
  parts->multiprocessors = static_cast<std::uint32_t>(properties.multiProcessorCount);
  parts->reaches_host_pointers =
      AttributeOf(cudaDevAttrCanUseHostPointerForRegisteredMem, options.ordinal) != 0;
  parts->registers_read_only =
      AttributeOf(cudaDevAttrHostRegisterReadOnlySupported, options.ordinal) != 0;
  return std::unique_ptr<Device>(
      new Device(std::move(parts)));  // tidy: allow(new) a private constructor
}

std::string Device::name() const { return parts_->name; }
std::uint32_t Device::multiprocessors() const { return parts_->multiprocessors; }

Result<Buffer> Device::Allocate(std::size_t bytes) {
  if (bytes == 0) return Status("Allocate: 0 bytes");
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  void* memory = nullptr;
  if (Status status = ToStatus(cudaMalloc(&memory, bytes), "cudaMalloc"); !status.ok()) {
    return status;
  }
  Buffer buffer;
  buffer.bytes_ = static_cast<std::byte*>(memory);
  buffer.size_ = bytes;
  buffer.kind_ = Buffer::Kind::kDevice;
  return buffer;
}

Result<Buffer> Device::AllocatePinned(std::size_t bytes) {
  if (bytes == 0) return Status("AllocatePinned: 0 bytes");
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  void* memory = nullptr;
  if (Status status = ToStatus(cudaMallocHost(&memory, bytes), "cudaMallocHost"); !status.ok()) {
    return status;
  }
  Buffer buffer;
  buffer.bytes_ = static_cast<std::byte*>(memory);
  buffer.size_ = bytes;
  buffer.kind_ = Buffer::Kind::kPinned;
  return buffer;
}

Result<Buffer> Device::RegisterHost(void* bytes, std::size_t size, bool read_only) {
  if (bytes == nullptr || size == 0) return Status("RegisterHost: an empty range");
  if (!parts_->reaches_host_pointers) {
    return Status("RegisterHost: kernels of this device cannot use the host's pointers");
  }
  if (read_only && !parts_->registers_read_only) {
    return Status("RegisterHost: this driver registers no memory that is mapped read-only");
  }
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  const unsigned flags = cudaHostRegisterMapped | (read_only ? cudaHostRegisterReadOnly : 0);
  if (Status status = ToStatus(cudaHostRegister(bytes, size, flags), "cudaHostRegister");
      !status.ok()) {
    return status;
  }
  Buffer buffer;
  buffer.bytes_ = static_cast<std::byte*>(bytes);
  buffer.size_ = size;
  buffer.kind_ = Buffer::Kind::kRegistered;
  return buffer;
}

Result<Stream> Device::OpenStream() {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  auto parts = std::make_unique<StreamParts>();
  parts->ordinal = parts_->ordinal;
  if (Status status = ToStatus(cudaStreamCreateWithFlags(&parts->stream, cudaStreamNonBlocking),
                               "cudaStreamCreateWithFlags");
      !status.ok()) {
    return status;
  }
  return Stream(std::move(parts));
}

Result<Event> Device::OpenEvent() {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  auto parts = std::make_unique<EventParts>();
  if (Status status = ToStatus(cudaEventCreateWithFlags(&parts->event, cudaEventDisableTiming),
                               "cudaEventCreateWithFlags");
      !status.ok()) {
    return status;
  }
  return Event(std::move(parts));
}

Status Device::Synchronize() {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  return ToStatus(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

std::vector<Device::SiteUse> Device::Sites() const { return {}; }

// ---- Buffer -------------------------------------------------------------------------------------

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(kind_, other.kind_);
  std::swap(device_, other.device_);
  return *this;
}

Buffer::~Buffer() {
  if (kind_ == Kind::kDevice) (void)cudaFree(bytes_);
  if (kind_ == Kind::kPinned) (void)cudaFreeHost(bytes_);
  if (kind_ == Kind::kRegistered) (void)cudaHostUnregister(bytes_);
}

// ---- Event and Graph ----------------------------------------------------------------------------

Event::Event(std::unique_ptr<EventParts> parts) : parts_(std::move(parts)) {}
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;
Event::~Event() = default;

Status Event::Synchronize() {
  return ToStatus(cudaEventSynchronize(parts_->event), "cudaEventSynchronize");
}

Result<bool> Event::Query() {
  const cudaError_t error = cudaEventQuery(parts_->event);
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  if (Status status = ToStatus(error, "cudaEventQuery"); !status.ok()) return status;
  return true;
}

Graph::Graph(std::unique_ptr<GraphParts> parts) : parts_(std::move(parts)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

// ---- Stream -------------------------------------------------------------------------------------

Stream::Stream(std::unique_ptr<StreamParts> parts) : parts_(std::move(parts)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Status Stream::CopyAsync(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return Status();
  return ToStatus(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, parts_->stream),
                  "cudaMemcpyAsync");
}

Status Stream::FillAsync(void* target, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return Status();
  return ToStatus(cudaMemsetAsync(target, value, bytes, parts_->stream), "cudaMemsetAsync");
}

Status Stream::Record(Event& event) {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  return ToStatus(cudaEventRecord(event.parts_->event, parts_->stream), "cudaEventRecord");
}

Status Stream::WaitFor(Event& event) {
  return ToStatus(cudaStreamWaitEvent(parts_->stream, event.parts_->event, 0),
                  "cudaStreamWaitEvent");
}

Status Stream::Synchronize() {
  return ToStatus(cudaStreamSynchronize(parts_->stream), "cudaStreamSynchronize");
}

Status Stream::BeginCapture() {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  return ToStatus(cudaStreamBeginCapture(parts_->stream, cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture");
}

Result<Graph> Stream::EndCapture() {
  cudaGraph_t captured = nullptr;
  if (Status status =
          ToStatus(cudaStreamEndCapture(parts_->stream, &captured), "cudaStreamEndCapture");
      !status.ok()) {
    return status;
  }
  auto parts = std::make_unique<GraphParts>();
  const cudaError_t error = cudaGraphInstantiate(&parts->graph, captured, 0);
  (void)cudaGraphDestroy(captured);
  if (Status status = ToStatus(error, "cudaGraphInstantiate"); !status.ok()) return status;
  return Graph(std::move(parts));
}

Status Stream::Launch(Graph& graph) {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  return ToStatus(cudaGraphLaunch(graph.parts_->graph, parts_->stream), "cudaGraphLaunch");
}

Status Stream::LaunchCuda(const LaunchConfig& config, const void* kernel, void** arguments) {
  if (Status status = MakeCurrent(parts_->ordinal); !status.ok()) return status;
  if (config.shared_bytes > kSharedBytesByDefault) {
    std::uint32_t& allowed = parts_->shared_bytes[kernel];
    if (allowed < config.shared_bytes) {
      if (Status status = AllowShared(kernel, config.shared_bytes); !status.ok()) return status;
      allowed = config.shared_bytes;
    }
  }
  return ToStatus(
      cudaLaunchKernel(kernel, dim3(config.blocks_x, config.blocks_y, config.blocks_z),
                       dim3(config.threads), arguments, config.shared_bytes, parts_->stream),
      "cudaLaunchKernel");
}

Status Stream::LaunchEmulated(const LaunchConfig&, std::function<void()>) {
  return Status("LaunchEmulated: this program is linked with cudart");
}

}  // namespace cairn::rt
