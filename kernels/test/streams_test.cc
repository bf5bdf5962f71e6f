#include "kernels/test/device_memory.h"

// What orders streams, on whatever device this program has. (runtime_test.cc: what the emulated one
// does to who leaves it out.)

namespace cairn::test {
namespace {

constexpr std::size_t kBytes = 1 << 20;

}  // namespace

SK_TEST(AStreamWaitsForAnothersEvent) {
  const auto device = OpenDevice(1);
  rt::Stream first = std::move(*device->OpenStream());
  rt::Stream second = std::move(*device->OpenStream());
  rt::Event event = std::move(*device->OpenEvent());
  rt::Buffer bytes = std::move(*device->Allocate(kBytes));
  rt::Buffer host = std::move(*device->AllocatePinned(kBytes));
  for (const std::uint8_t value : {1, 2, 3}) {
    SK_EXPECT_EQ(first.FillAsync(bytes.bytes(), value, kBytes).message(), "");
    SK_EXPECT_EQ(first.Record(event).message(), "");
    SK_EXPECT_EQ(second.WaitFor(event).message(), "");
    SK_EXPECT_EQ(second.CopyAsync(host.bytes(), bytes.bytes(), kBytes).message(), "");
    SK_EXPECT_EQ(second.Synchronize().message(), "");
    SK_EXPECT_EQ(host.as<std::uint8_t>()[kBytes - 1], value);
  }
}

SK_TEST(WhatCameBeforeAnEventIsDoneWhenItIs) {
  const auto device = OpenDevice(2);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Event event = std::move(*device->OpenEvent());
  rt::Buffer host = std::move(*device->AllocatePinned(kBytes));
  rt::Buffer bytes = std::move(*device->Allocate(kBytes));
  SK_EXPECT(*event.Query());  // nothing was recorded
  for (const bool polls : {false, true}) {
    const std::uint8_t value = polls ? 8 : 7;
    SK_EXPECT_EQ(stream.FillAsync(bytes.bytes(), value, kBytes).message(), "");
    SK_EXPECT_EQ(stream.CopyAsync(host.bytes(), bytes.bytes(), kBytes).message(), "");
    SK_EXPECT_EQ(stream.Record(event).message(), "");
    if (polls) {
      while (!*event.Query()) {
      }
    } else {
      SK_EXPECT_EQ(event.Synchronize().message(), "");
    }
    SK_EXPECT_EQ(host.as<std::uint8_t>()[kBytes - 1], value);
  }
}

}  // namespace cairn::test
