#include "kernels/test/device_memory.h"
#include "kernels/test/smoke_run.h"

namespace cairn::test {
namespace {

SK_TEST(EveryNameOfSkDoesWhatItShould) {
  for (const std::uint64_t seed : Seeds(4)) {
    const std::unique_ptr<rt::Device> device = OpenDevice(seed);
    SK_EXPECT_EQ(RunSmoke(*device), "");
    AddSitesOf(*device);
  }
}

}  // namespace
}  // namespace cairn::test
