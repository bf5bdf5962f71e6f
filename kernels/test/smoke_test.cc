#include "kernels/test/harness.h"
#include "kernels/test/smoke_run.h"

namespace cairn::test {
namespace {

SK_TEST(EveryNameOfSkDoesWhatItShould) {
  for (const std::uint64_t seed : Seeds(4)) {
    rt::Device::Options options;
    options.seed = seed;
    options.skip_site = RunSettings().skip_site;
    options.less_site = RunSettings().less_site;
    options.up_site = RunSettings().up_site;
    options.down_site = RunSettings().down_site;
    rt::Result<std::unique_ptr<rt::Device>> device = rt::Device::Open(options);
    SK_EXPECT(device.ok());
    SK_EXPECT_EQ(RunSmoke(**device), "");
    for (const rt::Device::SiteUse& use : (*device)->Sites()) {
      AddSites({{use.site, use.operation, use.count}});
    }
  }
}

}  // namespace
}  // namespace cairn::test
