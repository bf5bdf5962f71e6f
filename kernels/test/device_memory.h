#ifndef CAIRN_KERNELS_TEST_DEVICE_MEMORY_H_
#define CAIRN_KERNELS_TEST_DEVICE_MEMORY_H_

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/sk/rt/runtime.h"
#include "kernels/test/harness.h"

// A device, a stream, and vectors that go there and back: what tests of launchers need.

namespace cairn::test {

inline std::unique_ptr<rt::Device> OpenDevice(std::uint64_t seed) {
  rt::Result<std::unique_ptr<rt::Device>> device =
      rt::Device::Open(OptionsOf<rt::Device::Options>(seed));
  SK_EXPECT(device.ok());
  return std::move(*device);
}
// What the device's kernels reached counts among the program's sites.
inline void AddSitesOf(const rt::Device& device) {
  for (const rt::Device::SiteUse& use : device.Sites()) {
    AddSites({{use.site, use.operation, use.count}});
  }
}

class TestDevice {
 public:
  explicit TestDevice(std::uint64_t seed)
      : device_(OpenDevice(seed)),
        stream_(std::make_unique<rt::Stream>(std::move(*device_->OpenStream()))) {}
  ~TestDevice() {
    SK_EXPECT_EQ(stream_->Synchronize().message(), "");
    AddSitesOf(*device_);
  }
  rt::Stream& stream() { return *stream_; }
  rt::Result<rt::Buffer> RegisterHost(void* bytes, std::size_t size, bool read_only) {
    return device_->RegisterHost(bytes, size, read_only);
  }

  // Device memory of exactly this size: accesses beyond end in AddressSanitizer's red zone.
  template <class T>
  rt::Buffer Make(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    rt::Buffer buffer = std::move(*device_->Allocate(bytes == 0 ? 1 : bytes));
    rt::Buffer host = std::move(*device_->AllocatePinned(buffer.size()));
    if (bytes > 0) std::memcpy(host.bytes(), values.data(), bytes);
    SK_EXPECT_EQ(stream_->CopyAsync(buffer.bytes(), host.bytes(), buffer.size()).message(), "");
    SK_EXPECT_EQ(stream_->Synchronize().message(), "");
    return buffer;
  }
  template <class T>
  std::vector<T> Read(const rt::Buffer& buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    rt::Buffer host = std::move(*device_->AllocatePinned(buffer.size()));
    SK_EXPECT_EQ(stream_->CopyAsync(host.bytes(), buffer.bytes(), buffer.size()).message(), "");
    SK_EXPECT_EQ(stream_->Synchronize().message(), "");
    std::memcpy(values.data(), host.bytes(), buffer.size());
    return values;
  }

 private:
  std::unique_ptr<rt::Device> device_;
  std::unique_ptr<rt::Stream> stream_;
};

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_DEVICE_MEMORY_H_
