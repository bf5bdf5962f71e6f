#ifndef CAIRN_KERNELS_SK_RT_RUNTIME_H_
#define CAIRN_KERNELS_SK_RT_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/sk/target.h"

// A thin runtime: memory, streams, events, asynchronous copies, launches, graphs.
//
// One interface, two libraries, chosen when a program is linked: over cudart (cuda_runtime.cu), or
// over an emulated device (emu_runtime.cc). A source that launches kernels is compiled by nvcc for
// the first and by a plain C++ compiler for the second; one that does not launch sees no
// difference.
//
// The emulated device runs nothing until the host waits. Then it picks, at random by its seed,
// among all streams' next operations, those that events hold back left out, until what is waited
// for is done; other streams may get far ahead or not move at all. Forgotten waits and reused
// buffers show as wrong bytes, since copies read their sources when they run. New device memory is
// 0xff.

namespace cairn::rt {

// Status is "" for success, or what failed: the call, the reason, and the numbers.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(std::string message) : message_(std::move(message)) {}
  // There is no memory for it: the device works on, and something smaller may do.
  static Status OutOfMemory(std::string message) {
    Status status(std::move(message));
    status.is_out_of_memory_ = true;
    return status;
  }
  bool ok() const { return message_.empty(); }
  bool is_out_of_memory() const { return is_out_of_memory_; }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
  bool is_out_of_memory_ = false;
};

// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  T* operator->() { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

class Device;
namespace internal {
struct DeviceParts;
struct StreamParts;
struct EventParts;
struct GraphParts;
}  // namespace internal

// What a kernel is launched over. Blocks are one-dimensional.
struct LaunchConfig {
  std::uint32_t blocks_x = 1;
  std::uint32_t blocks_y = 1;
  std::uint32_t blocks_z = 1;
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;  // dynamic; above 48 KiB the launch asks the driver for it
  // For the emulator, of kernels that move registers between warpgroups: what ptxas reports.
  std::uint32_t registers_per_thread = 0;
};

// Memory that is given back when its owner goes; what is queued on the device finishes first.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  std::byte* bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(bytes_);
  }
  std::size_t size() const { return size_; }

 private:
  friend class Device;
  enum class Kind : std::uint8_t { kNone, kDevice, kPinned, kRegistered };
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  Kind kind_ = Kind::kNone;
  internal::DeviceParts* device_ = nullptr;
};

// An event is a point in a stream; it must not outlive its device.
class Event {
 public:
  explicit Event(std::unique_ptr<internal::EventParts> parts);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();
  // Waits, on the host, until what was recorded last has happened; at once if nothing was.
  Status Synchronize();
  // Whether it has happened. Emulated: moves the device on a little, so that polling ends.
  Result<bool> Query();

 private:
  friend class Stream;
  std::unique_ptr<internal::EventParts> parts_;
};

// A recorded sequence of operations of one stream, to be launched as one.
class Graph {
 public:
  explicit Graph(std::unique_ptr<internal::GraphParts> parts);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

 private:
  friend class Stream;
  std::unique_ptr<internal::GraphParts> parts_;
};

// A queue of operations, done in order. Errors of operations (a kernel's, in the emulator's words)
// come from the call that waits for them, and from every later one.
// Threads: one at a time for a device and all that belongs to it.
class Stream {
 public:
  explicit Stream(std::unique_ptr<internal::StreamParts> parts);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();  // finishes what is queued

  // Either side is device memory, or pinned or registered host memory: others are refused by the
  // emulator, since cudart would make the call synchronous. Both must stay as they are until done.
  Status CopyAsync(void* target, const void* source, std::size_t bytes);
  Status FillAsync(void* target, std::uint8_t value, std::size_t bytes);  // device memory
  Status Record(Event& event);
  // Later operations of this stream wait for what `event` has recorded by now.
  Status WaitFor(Event& event);
  Status Synchronize();

  // Operations between the two are not queued, but become a graph. No host waits in between.
  Status BeginCapture();
  Result<Graph> EndCapture();
  // Pointers and kernel arguments are those of the capture.
  Status Launch(Graph& graph);

  // Queues a kernel: see rt::Launch.
  Status LaunchCuda(const LaunchConfig& config, const void* kernel, void** arguments);
  Status LaunchEmulated(const LaunchConfig& config, std::function<void()> kernel);

 private:
  std::unique_ptr<internal::StreamParts> parts_;
};

// Device is one GPU, or the emulated one.
class Device {
 public:
  struct Options {
    int ordinal = 0;         // which GPU
    std::uint64_t seed = 1;  // of the emulated one, and of the kernels on it
    std::size_t memory_bytes = std::size_t{1} << 36;  // that the emulated one has
    std::string skip_site;  // mutations of the emulated kernels (emu::Options)
    std::string less_site;
    std::string up_site;
    std::string down_site;
  };
  struct SiteUse {
    std::string site;
    std::string operation;
    std::uint64_t count;
  };
  // Fails with a message where there is no GPU (or driver).
  static Result<std::unique_ptr<Device>> Open(const Options& options);
  ~Device();  // after its streams, events, graphs and buffers
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::string name() const;
  std::uint32_t multiprocessors() const;             // an emulated device has 2
  Result<Buffer> Allocate(std::size_t bytes);        // in device memory, 256-byte aligned
  Result<Buffer> AllocatePinned(std::size_t bytes);  // in host memory, for fast copies
  // Makes the pages of a range usable by copies and kernels. `read_only`: the mapping may be one
  // that cannot be written; not every driver can do that, so be ready for an error. The memory
  // stays its owner's, and must outlive the buffer.
  Result<Buffer> RegisterHost(void* bytes, std::size_t size, bool read_only);
  Result<Stream> OpenStream();
  Result<Event> OpenEvent();
  Status Synchronize();  // all streams
  // Sites of sk that the emulated device's kernels reached; none of a GPU.
  std::vector<SiteUse> Sites() const;

 private:
  explicit Device(std::unique_ptr<internal::DeviceParts> parts);
  std::unique_ptr<internal::DeviceParts> parts_;
};

// Launches `kernel(arguments...)`, each argument converted to its parameter's type and copied now.
template <class... Parameters, class... Arguments>
Status Launch(Stream& stream, const LaunchConfig& config, void (*kernel)(Parameters...),
              Arguments&&... arguments) {
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
#ifdef SK_TARGET_GPU
  return std::apply(
      [&](Parameters&... each) {
        void* pointers[] = {static_cast<void*>(&each)..., nullptr};
        return stream.LaunchCuda(config, reinterpret_cast<const void*>(kernel), pointers);
      },
      values);
#else
  return stream.LaunchEmulated(config, [kernel, values] { std::apply(kernel, values); });
#endif
}

}  // namespace cairn::rt

#endif  // CAIRN_KERNELS_SK_RT_RUNTIME_H_
