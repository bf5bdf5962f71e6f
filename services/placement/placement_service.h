#ifndef CAIRN_SERVICES_PLACEMENT_PLACEMENT_SERVICE_H_
#define CAIRN_SERVICES_PLACEMENT_PLACEMENT_SERVICE_H_

#include <memory>

#include "services/placement/placement_host.h"

namespace grpc {
class Service;
}

namespace cairn {

// PlacementService answers cairn.placement.v1.Placement for a host.
//
// Authorisation: with mTLS every call needs a certificate that our CA signed. Snapshot leaves an
//                audit line with the caller's name.
// Threads:       gRPC's.
class PlacementService {
 public:
  struct Options {
    bool is_dev_mode = false;
    std::uint32_t grid_tokens = 0;
  };
  PlacementService(PlacementHost& host, const Options& options);
  ~PlacementService();  // after the server has shut down
  PlacementService(const PlacementService&) = delete;
  PlacementService& operator=(const PlacementService&) = delete;

  grpc::Service* service();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_PLACEMENT_SERVICE_H_
