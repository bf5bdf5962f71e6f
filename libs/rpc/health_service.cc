#include "libs/rpc/health_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "grpc/health/v1/health.grpc.pb.h"

namespace cairn {

class HealthService::Impl final : public grpc::health::v1::Health::Service {
 public:
  grpc::Status Check(grpc::ServerContext*, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override {
    using Response = grpc::health::v1::HealthCheckResponse;
    const std::string& name = request->service();
    if (name.empty() || name == "liveness") {
      response->set_status(Response::SERVING);
    } else if (name == "readiness") {
      response->set_status(is_ready.load() ? Response::SERVING : Response::NOT_SERVING);
    } else {
      return grpc::Status(grpc::NOT_FOUND, "health of: liveness, readiness, or no name");
    }
    return grpc::Status::OK;
  }

  std::atomic<bool> is_ready{false};
};

HealthService::HealthService() : impl_(std::make_unique<Impl>()) {}
HealthService::~HealthService() = default;
void HealthService::SetReady(bool is_ready) { impl_->is_ready.store(is_ready); }
grpc::Service* HealthService::service() { return impl_.get(); }

}  // namespace cairn
