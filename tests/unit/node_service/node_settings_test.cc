#include "services/node/node_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libs/base/units.h"
#include "libs/config/yaml_config.h"

namespace cairn {
namespace {

using ::testing::StartsWith;

constexpr char kLeast[] =
    "run_dir: r\nsecurity: {dev_mode_without_tls: true}\narena: {bytes: 1GiB}\n";

absl::StatusOr<NodeSettings> SettingsFrom(const std::string& yaml) {
  config::v1::Node config;
  const absl::Status parsed = ParseYamlConfig(yaml, "n.yaml", &config);
  EXPECT_TRUE(parsed.ok()) << parsed;
  return SettingsOf(config);
}

TEST(NodeSettingsTest, WhatIsLeftOutHasItsDefault) {
  const auto settings = SettingsFrom(kLeast);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->grpc_listen, "127.0.0.1:0");
  EXPECT_EQ(settings->drain_timeout, absl::Seconds(10));
  EXPECT_EQ(settings->placement_timeout, absl::Seconds(2));
  EXPECT_EQ(settings->copy_threads, 2);
  EXPECT_TRUE(settings->security.is_dev_mode);
  EXPECT_EQ(settings->options.segment_bytes, kGiB);
  EXPECT_EQ(settings->options.shards, 1U);
  EXPECT_EQ(settings->options.sessions_max, 256U);
  EXPECT_EQ(settings->options.hello_pending_max, 16U);
  EXPECT_EQ(settings->options.pin_age_max, absl::Seconds(60));
  EXPECT_EQ(settings->options.pins_per_session_max, 65536U);
  EXPECT_EQ(settings->options.pool_bytes_max, 64 * kGiB);
  EXPECT_FALSE(settings->options.serves_other_users);
}

TEST(NodeSettingsTest, WhatIsGivenArrives) {
  const auto settings = SettingsFrom(
      "run_dir: r\nsecurity: {dev_mode_without_tls: true}\ngrpc_listen: 127.0.0.1:7001\n"
      "arena: {bytes: 2GiB, segment_bytes: 512MiB, shards: 4, copy_threads: 8}\n"
      "sessions: {sessions_max: 9, hello_pending_max: 8, pool_bytes_max: 1GiB}\n"
      "pins: {age_max: 7s, per_session_max: 6}\npeers: {listen: '127.0.0.1:0'}\n"
      "drain_timeout: 0s\nplacement: {grpc: '127.0.0.1:7002', timeout: 3s}\n");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->placement_grpc, "127.0.0.1:7002");
  EXPECT_EQ(settings->placement_timeout, absl::Seconds(3));
  EXPECT_EQ(settings->grpc_listen, "127.0.0.1:7001");
  EXPECT_EQ(settings->copy_threads, 8);
  EXPECT_EQ(settings->drain_timeout, absl::ZeroDuration());
  EXPECT_EQ(settings->options.arena_bytes, 2 * kGiB);
  EXPECT_EQ(settings->options.segment_bytes, 512 * kMiB);
  EXPECT_EQ(settings->options.shards, 4U);
  EXPECT_EQ(settings->options.sessions_max, 9U);
  EXPECT_EQ(settings->options.hello_pending_max, 8U);
  EXPECT_EQ(settings->options.pool_bytes_max, kGiB);
  EXPECT_EQ(settings->options.pin_age_max, absl::Seconds(7));
  EXPECT_EQ(settings->options.pins_per_session_max, 6U);
  EXPECT_EQ(settings->options.remote_listen, "127.0.0.1:0");
}

TEST(NodeSettingsTest, EveryMistakeNamesItsField) {
  const std::string dev = "security: {dev_mode_without_tls: true}\n";
  const std::string start = "run_dir: r\n" + dev;
  const struct {
    std::string yaml;
    const char* message;
  } cases[] = {
      {dev + "arena: {bytes: 1GiB}\n", "run_dir: required"},
      {start, "arena.bytes: required"},
      {"run_dir: r\narena: {bytes: 1GiB}\n", "security: required"},
      {"run_dir: r\narena: {bytes: 1GiB}\nsecurity: {dev_mode_without_tls: true, tls: {ca_file: "
       "a}}\n",
       "security: tls and dev_mode_without_tls exclude each other"},
      {"run_dir: r\narena: {bytes: 1GiB}\nsecurity: {tls: {ca_file: no/such.pem}}\n",
       "security.tls.ca_file: cannot read no/such.pem"},
      {start + "arena: {bytes: 1000MiB}\n", "arena.bytes: a multiple of segment_bytes"},
      {start + "arena: {bytes: 1GiB, segment_bytes: 5}\n", "arena.segment_bytes: "},
      {start + "arena: {bytes: 1GiB, shards: 2}\n", "arena.shards: "},
      {start + "arena: {bytes: 1GiB, copy_threads: 65}\n", "arena.copy_threads: from 1 to 64"},
      {kLeast + std::string("sessions: {sessions_max: 5000}\n"), "sessions.sessions_max: "},
      {kLeast + std::string("sessions: {hello_pending_max: 65}\n"), "sessions.hello_pending_max: "},
      {kLeast + std::string("sessions: {pool_bytes_max: 2000GiB}\n"), "sessions.pool_bytes_max: "},
      {kLeast + std::string("sessions: {serve_other_users: true}\n"),
       "sessions.serve_other_users: needs security.tls"},
      {kLeast + std::string("pins: {age_max: 0s}\n"), "pins.age_max: "},
      {kLeast + std::string("pins: {per_session_max: 4000000000}\n"), "pins.per_session_max: "},
      {kLeast + std::string("grpc_listen: localhost:1\n"),
       "grpc_listen: \"localhost:1\" is no num"},
      {kLeast + std::string("grpc_listen: 127.0.0.1\n"), "grpc_listen: "},
      {kLeast + std::string("grpc_listen: 127.0.0.1:65536\n"), "grpc_listen: "},
      {kLeast + std::string("grpc_listen: 0.0.0.0:0\n"), "grpc_listen: 0.0.0.0:0 is not loopback"},
      {kLeast + std::string("grpc_listen: '[::]:0'\n"), "grpc_listen: [::]:0 is not loopback"},
      {kLeast + std::string("peers: {listen: 10.0.0.1:5}\n"),
       "peers.listen: 10.0.0.1:5 is not loop"},
      {kLeast + std::string("drain_timeout: 2h\n"), "drain_timeout: at most 1h"},
      {kLeast + std::string("placement: {grpc: 'placement:7001'}\n"), "placement.grpc: "},
      {kLeast + std::string("placement: {grpc: '10.0.0.1:7001'}\n"),
       "placement.grpc: 10.0.0.1:7001 is not loopback"},
      {kLeast + std::string("placement: {grpc: '127.0.0.1:1', security: {tls: {ca_file: no}}}\n"),
       "placement.security.tls.ca_file: cannot read no"},
      {kLeast + std::string("placement: {overlap_blocks_max: 5}\n"),
       "placement.overlap_blocks_max: from 1024 to 67108864, not 5"},
      {kLeast + std::string("placement: {overlap_blocks_max: 5000}\n"), "placement.grpc: required"},
      {kLeast + std::string("placement: {grpc: '127.0.0.1:1', timeout: 0s}\n"),
       "placement.timeout: from 1ms to 10m, not 0"},
      {kLeast + std::string("placement: {grpc: '127.0.0.1:1', timeout: 11m}\n"),
       "placement.timeout: from 1ms to 10m, not 11m"},
      {kLeast + std::string("placement: {grpc: '127.0.0.1:0'}\n"),
       "placement.grpc: 127.0.0.1:0 has port 0"},
  };
  for (const auto& mistake : cases) {
    const auto settings = SettingsFrom(mistake.yaml);
    EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument) << mistake.message;
    EXPECT_THAT(std::string(settings.status().message()), StartsWith(mistake.message));
  }
}

}  // namespace
}  // namespace cairn
