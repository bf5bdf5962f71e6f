#ifndef CAIRN_SERVICES_WORKER_WORKER_CONFIG_H_
#define CAIRN_SERVICES_WORKER_WORKER_CONFIG_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cairn/config/v1/worker.pb.h"
#include "libs/device_host/host_device.h"
#include "libs/engine/client_block_cache.h"
#include "libs/engine/engine.h"
#include "libs/http/http_server.h"
#include "libs/placement_rpc/plan_client.h"
#include "libs/rpc/rpc_security.h"

namespace cairn {

// A worker's configuration, checked, with every default in its place.
struct WorkerOptions {
  std::string model_file;
  std::string model_name;  // empty: the file's own
  HttpServer::Options http;
  HostDevice::Options device;
  std::uint64_t pool_bytes = 0;
  Engine::Options engine;
  absl::Duration drain_timeout = absl::Seconds(20);

  bool has_cache = false;
  std::string node_run_dir;
  RpcSecurity security;
  std::string node_grpc;
  std::string name_space;
  std::string salt;
  bool numerics_any = false;
  ClientBlockCache::Options cache;

  std::string placement_grpc;  // empty: nobody says where states are wanted
  RpcSecurity placement_security;
  PlanClient::Options plans;
};

// INVALID_ARGUMENT naming the field and its value.
absl::StatusOr<WorkerOptions> ToWorkerOptions(const config::v1::Worker& config);

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_WORKER_CONFIG_H_
