#ifndef CAIRN_LIBS_RPC_HEALTH_SERVICE_H_
#define CAIRN_LIBS_RPC_HEALTH_SERVICE_H_

#include <memory>

namespace grpc {
class Service;
}

namespace cairn {

// HealthService answers grpc.health.v1.Health/Check: "" and "liveness" serve, "readiness" as it is
// told, NOT_FOUND for other names. Threads: any.
class HealthService {
 public:
  HealthService();
  ~HealthService();
  HealthService(const HealthService&) = delete;
  HealthService& operator=(const HealthService&) = delete;

  void SetReady(bool is_ready);  // false at first
  grpc::Service* service();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_HEALTH_SERVICE_H_
