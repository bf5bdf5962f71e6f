#include "kernels/sk/rt/runtime.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/sk/sk.h"
#include "kernels/test/device_memory.h"

// The emulated device: what it runs, when, and which mistakes of a host program it shows.

namespace cairn::test {
namespace {

struct AddParams {
  std::uint32_t* words;
  std::uint32_t count;
  std::uint32_t value;
};
SK_KERNEL void AddWords(AddParams params) {
  const std::uint32_t i = sk::BlockIndexX() * sk::ThreadCount() + sk::ThreadIndex();
  if (i < params.count) params.words[i] += params.value;
}

constexpr std::uint32_t kWords = 100;
constexpr rt::LaunchConfig kConfig{.blocks_x = 4, .threads = 32};

#define SK_EXPECT_OK(call) SK_EXPECT_EQ((call).message(), "")

SK_TEST(AStreamRunsItsOperationsInOrder) {
  for (const std::uint64_t seed : Seeds(4)) {
    const auto device = OpenDevice(seed);
    rt::Stream stream = std::move(*device->OpenStream());
    rt::Buffer host = std::move(*device->AllocatePinned(kWords * 4));
    rt::Buffer words = std::move(*device->Allocate(kWords * 4));
    SK_EXPECT_EQ(words.as<std::uint32_t>()[0], 0xffffffffu);  // fresh memory is poison
    std::iota(host.as<std::uint32_t>(), host.as<std::uint32_t>() + kWords, 0u);
    SK_EXPECT_OK(stream.CopyAsync(words.bytes(), host.bytes(), kWords * 4));
    SK_EXPECT_OK(
        rt::Launch(stream, kConfig, AddWords, AddParams{words.as<std::uint32_t>(), kWords, 7}));
    SK_EXPECT_OK(stream.CopyAsync(host.bytes(), words.bytes(), kWords * 4));
    SK_EXPECT_EQ(host.as<std::uint32_t>()[5], 5u);  // nothing has run yet
    SK_EXPECT_OK(stream.Synchronize());
    for (std::uint32_t i = 0; i < kWords; ++i) SK_EXPECT_EQ(host.as<std::uint32_t>()[i], i + 7);
  }
}

// Two streams that one event ties together, or (the bug) does not.
std::uint32_t RunTwoStreams(std::uint64_t seed, bool waits) {
  const auto device = OpenDevice(seed);
  rt::Stream first = std::move(*device->OpenStream());
  rt::Stream second = std::move(*device->OpenStream());
  rt::Event event = std::move(*device->OpenEvent());
  rt::Buffer words = std::move(*device->Allocate(kWords * 4));
  rt::Buffer host = std::move(*device->AllocatePinned(kWords * 4));
  SK_EXPECT_OK(first.FillAsync(words.bytes(), 0, kWords * 4));
  SK_EXPECT_OK(
      rt::Launch(first, kConfig, AddWords, AddParams{words.as<std::uint32_t>(), kWords, 3}));
  SK_EXPECT_OK(first.Record(event));
  if (waits) SK_EXPECT_OK(second.WaitFor(event));
  SK_EXPECT_OK(second.CopyAsync(host.bytes(), words.bytes(), kWords * 4));
  SK_EXPECT_OK(second.Synchronize());
  return host.as<std::uint32_t>()[kWords - 1];
}

SK_TEST(AnEventOrdersTwoStreamsAndItsAbsenceShows) {
  int wrong = 0;
  for (const std::uint64_t seed : Seeds(16)) {
    SK_EXPECT_EQ(RunTwoStreams(seed, true), 3u);
    wrong += RunTwoStreams(seed, false) != 3 ? 1 : 0;
  }
  SK_EXPECT(wrong > 0);
}

SK_TEST(ASourceThatIsReusedBeforeTheWaitShows) {
  const auto device = OpenDevice(1);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Buffer host = std::move(*device->AllocatePinned(4));
  rt::Buffer word = std::move(*device->Allocate(4));
  *host.as<std::uint32_t>() = 1;
  SK_EXPECT_OK(stream.CopyAsync(word.bytes(), host.bytes(), 4));
  *host.as<std::uint32_t>() = 2;
  SK_EXPECT_OK(stream.Synchronize());
  SK_EXPECT_EQ(*word.as<std::uint32_t>(), 2u);
}

SK_TEST(AnEventMayBePolled) {
  const auto device = OpenDevice(2);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Event event = std::move(*device->OpenEvent());
  rt::Buffer word = std::move(*device->Allocate(4));
  SK_EXPECT(*event.Query());  // nothing recorded
  SK_EXPECT_OK(stream.FillAsync(word.bytes(), 9, 4));
  SK_EXPECT_OK(stream.Record(event));
  SK_EXPECT(!*event.Query());
  while (!*event.Query()) {
  }
  SK_EXPECT_EQ(*word.as<std::uint32_t>(), 0x09090909u);
  SK_EXPECT_OK(event.Synchronize());
}

SK_TEST(AGraphRepeatsWhatWasCaptured) {
  const auto device = OpenDevice(3);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Buffer words = std::move(*device->Allocate(kWords * 4));
  SK_EXPECT_OK(stream.BeginCapture());
  SK_EXPECT(!stream.BeginCapture().ok());
  SK_EXPECT_OK(
      rt::Launch(stream, kConfig, AddWords, AddParams{words.as<std::uint32_t>(), kWords, 5}));
  SK_EXPECT_OK(
      rt::Launch(stream, kConfig, AddWords, AddParams{words.as<std::uint32_t>(), kWords, 6}));
  SK_EXPECT(!stream.Synchronize().ok());
  rt::Graph graph = std::move(*stream.EndCapture());
  SK_EXPECT_OK(stream.FillAsync(words.bytes(), 0, kWords * 4));
  for (int i = 0; i < 3; ++i) SK_EXPECT_OK(stream.Launch(graph));
  SK_EXPECT_OK(stream.Synchronize());
  for (std::uint32_t i = 0; i < kWords; ++i) SK_EXPECT_EQ(words.as<std::uint32_t>()[i], 33u);
  SK_EXPECT(!stream.EndCapture().ok());
}

SK_TEST(CopiesTakeKnownMemoryOnly) {
  const auto device = OpenDevice(4);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Buffer words = std::move(*device->Allocate(64));
  std::vector<std::byte> pageable(64);
  SK_EXPECT_CONTAINS(stream.CopyAsync(words.bytes(), pageable.data(), 64).message(),
                     "pinned or registered");
  SK_EXPECT(!stream.CopyAsync(words.bytes(), words.bytes() + 32, 64).ok());  // past its end
  {
    rt::Buffer registered = std::move(*device->RegisterHost(pageable.data(), 64, true));
    SK_EXPECT_OK(stream.CopyAsync(words.bytes(), pageable.data(), 64));
    SK_EXPECT(!device->RegisterHost(pageable.data() + 16, 16, true).ok());
  }
  SK_EXPECT_EQ(words.bytes()[63], std::byte{0});  // giving memory back waits for the device
  SK_EXPECT(!stream.CopyAsync(words.bytes(), pageable.data(), 64).ok());
  SK_EXPECT_CONTAINS(stream.FillAsync(pageable.data(), 0, 64).message(), "not device memory");
  SK_EXPECT_CONTAINS(stream.FillAsync(words.bytes() + 1, 0, 64).message(), "not device memory");
  SK_EXPECT(!device->Allocate(0).ok());
}

SK_TEST(AKernelsErrorComesFromTheCallThatWaits) {
  const auto device = OpenDevice(5);
  rt::Stream stream = std::move(*device->OpenStream());
  const rt::Buffer words = std::move(*device->Allocate(16));
  SK_EXPECT_OK(stream.FillAsync(words.bytes(), 0, 16));
  SK_EXPECT_OK(rt::Launch(
      stream, {.threads = 32, .shared_bytes = 16},
      +[](int) {
        if (sk::ThreadIndex() == 3) sk::SyncWarp(1);
      },
      0));
  SK_EXPECT_CONTAINS(stream.Synchronize().message(), "does not name the lane that calls");
  SK_EXPECT(!device->Synchronize().ok());
  SK_EXPECT_CONTAINS(stream.FillAsync(words.bytes(), 0, 16).message(), "does not name the lane");
}

SK_TEST(WaitingForAnEventThatIsNotRecordedIsNoWait) {
  const auto device = OpenDevice(6);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Event event = std::move(*device->OpenEvent());
  SK_EXPECT_OK(stream.WaitFor(event));
  SK_EXPECT_OK(stream.Synchronize());
}

}  // namespace
}  // namespace cairn::test
