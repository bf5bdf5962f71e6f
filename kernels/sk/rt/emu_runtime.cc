#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "kernels/sk/emu/machine.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/rt/runtime.h"

// The emulated device: streams are queues of closures, and only a wait of the host runs them.

namespace cairn::rt {
namespace internal {

struct EventPoints {
  std::uint64_t recorded = 0;  // how often Record was called
  std::uint64_t reached = 0;   // how many of these points the device has passed
};

struct EventParts {
  explicit EventParts(DeviceParts* device) : device(device) {}
  DeviceParts* device;
  // Shared with queued operations, which may outlive the event.
  std::shared_ptr<EventPoints> points = std::make_shared<EventPoints>();
};

struct Operation {
  std::function<std::string()> run;  // "" or an error; empty: nothing to do but to be ordered
  std::shared_ptr<const EventPoints> awaited;  // may run once awaited->reached >= awaited_count
  std::uint64_t awaited_count = 0;
  std::shared_ptr<EventPoints> recorded;  // then reached counts up
};

struct StreamParts {
  explicit StreamParts(DeviceParts* device) : device(device) {}
  DeviceParts* device;
  std::deque<Operation> queue;
  bool is_capturing = false;
  std::vector<Operation> captured;
};

struct GraphParts {
  std::vector<Operation> operations;
};

struct DeviceParts {
  explicit DeviceParts(const Device::Options& options)
      : memory_bytes(options.memory_bytes),
        random(options.seed),
        machine({.seed = options.seed,
                 .skip_site = options.skip_site,
                 .less_site = options.less_site,
                 .up_site = options.up_site,
                 .down_site = options.down_site}) {}

  // Runs random ready operations until `is_done`. An error, once there, stays.
  template <class IsDone>
  Status RunUntil(const char* call, IsDone is_done) {
    while (error.empty() && !is_done()) {
      if (!RunOne()) error = "no stream can go on: each waits for an event that is never recorded";
    }
    return error.empty() ? Status() : Status(std::string(call) + ": " + error);
  }

  // One ready operation of a random stream; false if there is none.
  bool RunOne() {
    std::vector<StreamParts*> ready;
    for (StreamParts* stream : streams) {
      if (stream->queue.empty()) continue;
      const Operation& next = stream->queue.front();
      if (next.awaited == nullptr || next.awaited->reached >= next.awaited_count) {
        ready.push_back(stream);
      }
    }
    if (ready.empty()) return false;
    // A stream is often run in a row, so that it gets far ahead of others.
    StreamParts* chosen = ready[random.Below(static_cast<std::uint32_t>(ready.size()))];
    for (StreamParts* stream : ready) {
      if (stream == favourite && !random.OneIn(4)) chosen = stream;
    }
    favourite = chosen;
    const Operation operation = std::move(chosen->queue.front());
    chosen->queue.pop_front();
    if (operation.run) error = operation.run();
    if (operation.recorded != nullptr) ++operation.recorded->reached;
    return true;
  }

  bool IsIdle() const {
    for (const StreamParts* stream : streams) {
      if (!stream->queue.empty()) return false;
    }
    return true;
  }

  // Whether a copy may touch these bytes asynchronously.
  bool IsKnown(const void* bytes, std::size_t size) const {
    const auto* begin = static_cast<const std::byte*>(bytes);
    for (const auto& [start, length] : ranges) {
      if (begin >= start && size <= length && begin <= start + (length - size)) return true;
    }
    return false;
  }

  const std::size_t memory_bytes;
  std::size_t allocated = 0;  // of it
  sk::emu::Random random;
  sk::emu::Machine machine;
  std::vector<StreamParts*> streams;
  const StreamParts* favourite = nullptr;
  std::vector<std::pair<const std::byte*, std::size_t>> ranges;
  std::string error;
};

}  // namespace internal

using internal::DeviceParts;
using internal::EventParts;
using internal::EventPoints;
using internal::GraphParts;
using internal::Operation;
using internal::StreamParts;

namespace {

Status Enqueue(StreamParts& stream, Operation operation) {
  if (!stream.device->error.empty()) return Status(stream.device->error);
  if (stream.is_capturing) {
    stream.captured.push_back(std::move(operation));
  } else {
    stream.queue.push_back(std::move(operation));
  }
  return Status();
}

}  // namespace

// ---- Device -------------------------------------------------------------------------------------

Device::Device(std::unique_ptr<DeviceParts> parts) : parts_(std::move(parts)) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::Open(const Options& options) {
  return std::unique_ptr<Device>(new Device(
      std::make_unique<DeviceParts>(options)));  // tidy: allow(new) a private constructor
}

std::string Device::name() const { return "emulated Hopper"; }
std::uint32_t Device::multiprocessors() const { return 2; }

Result<Buffer> Device::Allocate(std::size_t bytes) {
  if (bytes > parts_->memory_bytes - parts_->allocated) {
    return Status::OutOfMemory("Allocate: " + std::to_string(bytes) + " bytes, " +
                               std::to_string(parts_->allocated) + " are taken");
  }
  Result<Buffer> buffer = AllocatePinned(bytes);
  if (!buffer.ok()) return buffer;
  buffer->kind_ = Buffer::Kind::kDevice;
  parts_->allocated += bytes;
  return buffer;
}

Result<Buffer> Device::AllocatePinned(std::size_t bytes) {
  if (bytes == 0) return Status("Allocate: 0 bytes");
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) {
    return Status::OutOfMemory("Allocate: no memory for " + std::to_string(bytes) + " bytes");
  }
  std::memset(memory, 0xff, bytes);
  Buffer buffer;
  buffer.bytes_ = static_cast<std::byte*>(memory);
  buffer.size_ = bytes;
  buffer.kind_ = Buffer::Kind::kPinned;
  buffer.device_ = parts_.get();
  parts_->ranges.emplace_back(buffer.bytes_, bytes);
  return buffer;
}

Result<Buffer> Device::RegisterHost(void* bytes, std::size_t size, bool /*read_only*/) {
  if (bytes == nullptr || size == 0) return Status("RegisterHost: an empty range");
  const auto* begin = static_cast<const std::byte*>(bytes);
  for (const auto& [start, length] : parts_->ranges) {
    if (begin < start + length && start < begin + size) {
      return Status("RegisterHost: a part of the range is registered already");
    }
  }
  Buffer buffer;
  buffer.bytes_ = static_cast<std::byte*>(bytes);
  buffer.size_ = size;
  buffer.kind_ = Buffer::Kind::kRegistered;
  buffer.device_ = parts_.get();
  parts_->ranges.emplace_back(begin, size);
  return buffer;
}

Result<Stream> Device::OpenStream() {
  Stream stream(std::make_unique<StreamParts>(parts_.get()));
  return stream;
}

Result<Event> Device::OpenEvent() { return Event(std::make_unique<EventParts>(parts_.get())); }

Status Device::Synchronize() {
  return parts_->RunUntil("Synchronize", [this] { return parts_->IsIdle(); });
}

std::vector<Device::SiteUse> Device::Sites() const {
  std::vector<SiteUse> uses;
  for (const sk::emu::SiteUse& use : parts_->machine.Sites()) {
    uses.push_back({use.site, use.operation, use.count});
  }
  return uses;
}

// ---- Buffer -------------------------------------------------------------------------------------

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(kind_, other.kind_);
  std::swap(device_, other.device_);
  return *this;
}

Buffer::~Buffer() {
  if (kind_ == Kind::kNone) return;
  // As cudaFree and cudaHostUnregister do. An error of the device is told to who waits next.
  while (device_->error.empty() && device_->RunOne()) {
  }
  std::erase_if(device_->ranges, [this](const auto& range) { return range.first == bytes_; });
  if (kind_ == Kind::kDevice) device_->allocated -= size_;
  if (kind_ != Kind::kRegistered) std::free(bytes_);
}

// ---- Event --------------------------------------------------------------------------------------

Event::Event(std::unique_ptr<EventParts> parts) : parts_(std::move(parts)) {}
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;
Event::~Event() = default;

Status Event::Synchronize() {
  const EventPoints& points = *parts_->points;
  return parts_->device->RunUntil("Event::Synchronize",
                                  [&] { return points.reached >= points.recorded; });
}

Result<bool> Event::Query() {
  const EventPoints& points = *parts_->points;
  DeviceParts& device = *parts_->device;
  if (points.reached < points.recorded && device.error.empty()) device.RunOne();
  if (!device.error.empty()) return Status("Event::Query: " + device.error);
  return points.reached >= points.recorded;
}

// ---- Graph --------------------------------------------------------------------------------------

Graph::Graph(std::unique_ptr<GraphParts> parts) : parts_(std::move(parts)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

// ---- Stream -------------------------------------------------------------------------------------

Stream::Stream(std::unique_ptr<StreamParts> parts) : parts_(std::move(parts)) {
  parts_->device->streams.push_back(parts_.get());
}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() {
  if (parts_ == nullptr) return;
  while (parts_->device->error.empty() && !parts_->queue.empty() && parts_->device->RunOne()) {
  }
  std::erase(parts_->device->streams, parts_.get());
  if (parts_->device->favourite == parts_.get()) parts_->device->favourite = nullptr;
}

Status Stream::CopyAsync(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return Status();
  if (!parts_->device->IsKnown(target, bytes) || !parts_->device->IsKnown(source, bytes)) {
    return Status("CopyAsync: " + std::to_string(bytes) +
                  " bytes that are not wholly in one device, pinned or registered buffer");
  }
  return Enqueue(*parts_, {.run = [=] {
    std::memmove(target, source, bytes);
    return std::string();
  }});
}

Status Stream::FillAsync(void* target, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return Status();
  if (!parts_->device->IsKnown(target, bytes)) return Status("FillAsync: not device memory");
  return Enqueue(*parts_, {.run = [=] {
    std::memset(target, value, bytes);
    return std::string();
  }});
}

Status Stream::Record(Event& event) {
  if (parts_->is_capturing) return Status("Record: not while a graph is captured");
  ++event.parts_->points->recorded;
  return Enqueue(*parts_, {.run = {}, .recorded = event.parts_->points});
}

Status Stream::WaitFor(Event& event) {
  if (parts_->is_capturing) return Status("WaitFor: not while a graph is captured");
  return Enqueue(*parts_, {.run = {},
                           .awaited = event.parts_->points,
                           .awaited_count = event.parts_->points->recorded});
}

Status Stream::Synchronize() {
  if (parts_->is_capturing) return Status("Synchronize: not while a graph is captured");
  return parts_->device->RunUntil("Synchronize", [this] { return parts_->queue.empty(); });
}

Status Stream::BeginCapture() {
  if (parts_->is_capturing) return Status("BeginCapture: a capture is under way");
  parts_->is_capturing = true;
  parts_->captured.clear();
  return Status();
}

Result<Graph> Stream::EndCapture() {
  if (!parts_->is_capturing) return Status("EndCapture: no capture is under way");
  parts_->is_capturing = false;
  return Graph(std::make_unique<GraphParts>(GraphParts{std::move(parts_->captured)}));
}

Status Stream::Launch(Graph& graph) {
  for (const Operation& operation : graph.parts_->operations) {
    if (Status status = Enqueue(*parts_, operation); !status.ok()) return status;
  }
  return Status();
}

Status Stream::LaunchCuda(const LaunchConfig&, const void*, void**) {
  return Status("LaunchCuda: this program is linked with the emulated device");
}

Status Stream::LaunchEmulated(const LaunchConfig& config, std::function<void()> kernel) {
  DeviceParts* device = parts_->device;
  const sk::emu::Grid grid{.blocks_x = config.blocks_x,
                           .blocks_y = config.blocks_y,
                           .blocks_z = config.blocks_z,
                           .threads = config.threads,
                           .shared_bytes = config.shared_bytes,
                           .registers_per_thread = config.registers_per_thread};
  return Enqueue(*parts_, {.run = [device, grid, kernel = std::move(kernel)] {
    return device->machine.Run(grid, kernel);
  }});
}

}  // namespace cairn::rt
