#ifndef CAIRN_SERVICES_NODE_ADMIN_SERVICE_H_
#define CAIRN_SERVICES_NODE_ADMIN_SERVICE_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "libs/node/admin.h"
#include "services/node/counters.h"

namespace grpc {
class Service;
}

namespace cairn {

// AdminService answers cairn.node.v1.NodeAdmin for a node: it checks who calls and how much is
// asked, and passes on.
//
// Authorisation: with mTLS every verb needs a certificate that our CA signed. Verbs that change
//                something (Verify, Evict, OpenSession) leave one audit line with the caller's
//                name.
// Threads:       gRPC's, each of which waits for the node's answer (libs/rpc says why): at most
//                limits::kRpcThreadsMax. Attach and Detach from any one.
class AdminService {
 public:
  struct Options {
    bool is_dev_mode = false;
    // What the node's adapters have counted. Called on the node's transport loop.
    absl::AnyInvocable<AdapterStats() const> adapters;
  };
  explicit AdminService(Options options);
  ~AdminService();  // after the server has shut down
  AdminService(const AdminService&) = delete;
  AdminService& operator=(const AdminService&) = delete;

  // Until Attach, and after Detach, every verb is answered UNAVAILABLE. When Detach returns, no
  // call touches `admin` any more; what was passed on before is answered when its `done` is called,
  // or UNAVAILABLE when it is destroyed.
  void Attach(NodeAdmin& admin);
  void Detach();

  grpc::Service* service();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_ADMIN_SERVICE_H_
