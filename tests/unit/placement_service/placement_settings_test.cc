#include "services/placement/placement_settings.h"

#include <gtest/gtest.h>

#include <functional>

namespace cairn {
namespace {

config::v1::Placement Good() {
  config::v1::Placement config;
  config.set_snapshot_dir("/var/lib/cairn/");
  config.mutable_security()->set_dev_mode_without_tls(true);
  return config;
}

TEST(PlacementSettingsTest, DefaultsAreFilledIn) {
  const auto settings = SettingsOf(Good());
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->snapshot_dir, "/var/lib/cairn");
  EXPECT_EQ(settings->grpc_listen, "127.0.0.1:0");
  EXPECT_EQ(settings->snapshot_interval, absl::Seconds(60));
  EXPECT_EQ(settings->planner.grid_tokens, planner::Planner::Options().grid_tokens);
}

TEST(PlacementSettingsTest, EveryMistakeBeginsWithItsField) {
  const struct {
    const char* field;
    std::function<void(config::v1::Placement&)> make;
  } mistakes[] = {
      {"snapshot_dir", [](auto& c) { c.clear_snapshot_dir(); }},
      {"snapshot_dir", [](auto& c) { c.set_snapshot_dir(std::string(5000, 'a')); }},
      {"grpc_listen", [](auto& c) { c.set_grpc_listen("0.0.0.0:1"); }},
      {"snapshot_interval", [](auto& c) { c.mutable_snapshot_interval()->set_nanos(1); }},
      {"snapshot_interval", [](auto& c) { c.mutable_snapshot_interval()->set_seconds(1 << 20); }},
      {"memory.families_max", [](auto& c) { c.mutable_memory()->set_families_max(1u << 31); }},
      {"memory.entries_max", [](auto& c) { c.mutable_memory()->set_entries_max(1); }},
      {"grid_tokens", [](auto& c) { c.set_grid_tokens(1u << 31); }},
      {"states_per_entry", [](auto& c) { c.set_states_per_entry(1u << 31); }},
  };
  for (const auto& mistake : mistakes) {
    config::v1::Placement config = Good();
    mistake.make(config);
    const absl::Status status = SettingsOf(config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.field;
    EXPECT_EQ(status.message().find(mistake.field), 0u) << status;
  }
}

}  // namespace
}  // namespace cairn
