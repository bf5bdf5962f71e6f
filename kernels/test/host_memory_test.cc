// Memory of the host that the device reads and writes where it is, as the product has it: sealed
// memfds, one mapped read-only, used from another thread than opened the device, in a graph.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "kernels/copy/fetch.h"
#include "kernels/copy/gather.h"
#include "kernels/test/device_memory.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1; older C libraries lack the name
#endif

namespace cairn::test {
namespace {

constexpr std::uint32_t kBlockBytes = 4096, kBlocks = 8;

// A memfd, mapped writable and, once it is sealed, read-only.
class SharedPages {
 public:
  SharedPages() {
    const int file = ::memfd_create("kernels-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    SK_EXPECT(file >= 0 && ::ftruncate(file, kBytes) == 0);
    writable_ = static_cast<std::byte*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0));
    SK_EXPECT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE), 0);
    readable_ = static_cast<std::byte*>(
        ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0));
    SK_EXPECT(writable_ != MAP_FAILED && readable_ != MAP_FAILED);
    ::close(file);
    for (std::size_t i = 0; i < kBytes; ++i) writable_[i] = static_cast<std::byte>(i * 37 >> 5);
  }
  ~SharedPages() {
    ::munmap(writable_, kBytes);
    ::munmap(readable_, kBytes);
  }
  static constexpr std::size_t kBytes = std::size_t{kBlockBytes} * kBlocks;
  std::byte* writable() const { return writable_; }
  std::byte* readable() const { return readable_; }

 private:
  std::byte* writable_;
  std::byte* readable_;
};

// Blocks 5, 0 and 3 of read-only pages into slots 1, 2 and 0: by a kernel, and by copies.
void ReadWhereItIs(TestDevice& device) {
  SharedPages pages;
  rt::Result<rt::Buffer> registered =
      device.RegisterHost(pages.readable(), SharedPages::kBytes, /*read_only=*/true);
  if (!registered.ok() && !AllSites().empty()) SK_EXPECT_EQ(registered.status().message(), "");
  if (!registered.ok()) return;  // a driver that cannot: the product stages such memory
  const std::uint32_t blocks[] = {5, 0, 3}, slots[] = {1, 2, 0};
  std::vector<std::uint8_t> expected(3 * kBlockBytes);
  std::vector<kernels::FetchItem> items;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::byte* from = pages.readable() + blocks[i] * kBlockBytes;
    std::memcpy(expected.data() + slots[i] * kBlockBytes, from, kBlockBytes);
    items.push_back({from, slots[i], 0});
  }
  rt::Buffer list = device.Make(items);
  rt::Buffer by_kernel = device.Make(std::vector<std::uint8_t>(3 * kBlockBytes, 0xff));
  rt::Buffer by_copies = device.Make(std::vector<std::uint8_t>(3 * kBlockBytes, 0xff));
  const kernels::FetchParams params{.pool = by_kernel.bytes(),
                                    .items = list.as<kernels::FetchItem>(),
                                    .count = 3,
                                    .block_bytes = kBlockBytes};
  // The first launch of this kernel may be one that is captured.
  SK_EXPECT_EQ(device.stream().BeginCapture().message(), "");
  SK_EXPECT_EQ(kernels::FetchBlocks(device.stream(), params).message(), "");
  rt::Graph graph = std::move(*device.stream().EndCapture());
  const std::vector<std::uint8_t> unwritten(3 * kBlockBytes, 0xff);
  SK_EXPECT(device.Read<std::uint8_t>(by_kernel) == unwritten);  // a capture runs nothing
  SK_EXPECT_EQ(device.stream().Launch(graph).message(), "");
  for (const kernels::FetchItem& item : items) {
    SK_EXPECT_EQ(
        device.stream()
            .CopyAsync(by_copies.bytes() + item.slot * kBlockBytes, item.source, kBlockBytes)
            .message(),
        "");
  }
  SK_EXPECT(device.Read<std::uint8_t>(by_kernel) == expected);
  SK_EXPECT(device.Read<std::uint8_t>(by_copies) == expected);
}

// A kernel writes blocks 2 and 6 of a pool of the device into host pages, and nothing else.
void WriteWhereItIs(TestDevice& device) {
  SharedPages pages;
  const std::vector<std::uint8_t> before(
      reinterpret_cast<std::uint8_t*>(pages.writable()),
      reinterpret_cast<std::uint8_t*>(pages.writable()) + SharedPages::kBytes);
  rt::Result<rt::Buffer> registered =
      device.RegisterHost(pages.writable(), SharedPages::kBytes, /*read_only=*/false);
  SK_EXPECT_EQ(registered.status().message(), "");
  std::vector<std::uint8_t> values(3 * kBlockBytes);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 11);
  rt::Buffer pool = device.Make(values);
  rt::Buffer slots = device.Make(std::vector<std::uint32_t>{2, 0});
  rt::Buffer words = device.Make(std::vector<std::uint32_t>{2, 0});
  const kernels::GatherParams params{.pool = pool.bytes(),
                                     .buffer = pages.writable() + 3 * kBlockBytes,
                                     .slots = slots.as<std::uint32_t>(),
                                     .count = words.as<std::uint32_t>(),
                                     .block_bytes = kBlockBytes,
                                     .pool_slots = 3,
                                     .refused = words.as<std::uint32_t>() + 1};
  SK_EXPECT_EQ(kernels::GatherBlocks(device.stream(), params).message(), "");
  SK_EXPECT_EQ(device.stream().Synchronize().message(), "");
  std::vector<std::uint8_t> expected = before;
  std::memcpy(expected.data() + 3 * kBlockBytes, values.data() + 2 * kBlockBytes, kBlockBytes);
  std::memcpy(expected.data() + 4 * kBlockBytes, values.data(), kBlockBytes);
  // Through the other mapping: these are the same pages.
  SK_EXPECT(std::memcmp(pages.readable(), expected.data(), expected.size()) == 0);
}

SK_TEST(PagesOfTheHostAreReadWhereTheyAreByAnotherThread) {
  TestDevice device(1);
  std::thread([&] { ReadWhereItIs(device); }).join();
  std::thread([&] { ReadWhereItIs(device); }).join();  // others, at the same addresses perhaps
}

SK_TEST(PagesOfTheHostAreWrittenWhereTheyAre) {
  TestDevice device(2);
  std::thread([&] { WriteWhereItIs(device); }).join();
  std::thread([&] { WriteWhereItIs(device); }).join();  // at the same addresses: given back
}

}  // namespace
}  // namespace cairn::test
