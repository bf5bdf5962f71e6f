#include "services/node/admin_service.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cairn/node/v1/admin.grpc.pb.h"
#include "libs/base/log.h"
#include "libs/base/mutex.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_server.h"
#include "libs/rpc/status_convert.h"
#include "services/node/admin_convert.h"

namespace cairn {
namespace {

constexpr std::size_t kListLimitDefault = 100;
constexpr absl::Duration kTtlDefault = absl::Hours(1);

// Where a thread of gRPC waits for what a loop of the node answers.
template <class T>
class Answer {
 public:
  void Set(absl::StatusOr<T> result) {
    MutexLock lock(mutex_);
    if (result_.has_value()) return;
    result_ = std::move(result);
    is_there_.NotifyOne();
  }
  absl::StatusOr<T> Wait() {
    MutexLock lock(mutex_);
    while (!result_.has_value()) is_there_.Wait(mutex_);
    return *std::move(result_);
  }

 private:
  Mutex mutex_;
  CondVar is_there_;
  std::optional<absl::StatusOr<T>> result_ CAIRN_GUARDED_BY(mutex_);
};

// A `done` for the node. Destroyed uncalled, it answers too: no call waits for a node that is gone.
template <class T>
class Done {
 public:
  explicit Done(std::shared_ptr<Answer<T>> answer) : answer_(std::move(answer)) {}
  Done(Done&& other) noexcept = default;
  Done& operator=(Done&&) = delete;
  ~Done() {
    if (answer_ != nullptr) answer_->Set(absl::UnavailableError("the node has stopped"));
  }
  void operator()(absl::StatusOr<T> result) { answer_->Set(std::move(result)); }

 private:
  std::shared_ptr<Answer<T>> answer_;
};

// "3 keys of root 12ab...", for people.
std::string Summary(const EntryChoice& what) {
  std::string out = what.is_all ? "all" : absl::StrCat(what.keys.size(), " keys");
  if (what.root.root.has_value()) absl::StrAppend(&out, " of root ", what.root.root->ToHex());
  if (what.root.claim.has_value())
    absl::StrAppend(&out, " of model ", what.root.claim->identity.model);
  return out;
}

}  // namespace

class AdminService::Impl final : public node::v1::NodeAdmin::Service {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  void SetAdmin(cairn::NodeAdmin* admin) {
    MutexLock lock(mutex_);
    admin_ = admin;
  }

  grpc::Status OpenSession(grpc::ServerContext* context,
                           const node::v1::OpenSessionRequest* request,
                           node::v1::OpenSessionResponse* response) override {
    return Serve<SessionToken>(*context, response, [&](cairn::NodeAdmin& admin, auto done) {
      if (!request->has_claim()) return absl::InvalidArgumentError("claim: required");
      const absl::Duration ttl = request->has_ttl() ? absl::Seconds(request->ttl().seconds()) +
                                                          absl::Nanoseconds(request->ttl().nanos())
                                                    : kTtlDefault;
      RootClaim claim = ClaimOf(request->claim());
      Audit(*context, "OpenSession",
            absl::StrCat("namespace ", claim.name_space, ", model ", claim.identity.model));
      admin.OpenSession(std::move(claim), ttl, std::move(done));
      return absl::OkStatus();
    });
  }

  grpc::Status Status(grpc::ServerContext* context, const node::v1::StatusRequest*,
                      node::v1::StatusResponse* response) override {
    return Serve<ProcessStatus>(*context, response, [&](cairn::NodeAdmin& admin, auto done) {
      admin.Status([this, done = std::move(done)](absl::StatusOr<NodeStatus> status) mutable {
        if (!status.ok()) return done(status.status());
        done(ProcessStatus{*std::move(status), options_.adapters()});
      });
      return absl::OkStatus();
    });
  }

  grpc::Status List(grpc::ServerContext* context, const node::v1::ListRequest* request,
                    node::v1::ListResponse* response) override {
    return Serve<EntryList>(
        *context, response, [&](cairn::NodeAdmin& admin, auto done) -> absl::Status {
          CAIRN_ASSIGN_OR_RETURN(RootChoice root, RootChoiceOf(request->root()));
          if (request->limit() > limits::kListEntriesMax) {
            return absl::InvalidArgumentError(
                absl::StrCat("limit: at most ", limits::kListEntriesMax));
          }
          const std::size_t limit = request->limit() == 0 ? kListLimitDefault : request->limit();
          admin.List(std::move(root), request->cursor(), limit, std::move(done));
          return absl::OkStatus();
        });
  }

  grpc::Status Describe(grpc::ServerContext* context, const node::v1::DescribeRequest* request,
                        node::v1::DescribeResponse* response) override {
    return Serve<std::vector<NamedEntry>>(
        *context, response, [&](cairn::NodeAdmin& admin, auto done) -> absl::Status {
          CAIRN_ASSIGN_OR_RETURN(const Key key, KeyOf(request->key(), "key"));
          CAIRN_ASSIGN_OR_RETURN(RootChoice root, RootChoiceOf(request->root()));
          admin.Describe(key, std::move(root), std::move(done));
          return absl::OkStatus();
        });
  }

  grpc::Status Verify(grpc::ServerContext* context, const node::v1::VerifyRequest* request,
                      node::v1::VerifyResponse* response) override {
    return Serve<VerifyReport>(
        *context, response, [&](cairn::NodeAdmin& admin, auto done) -> absl::Status {
          CAIRN_ASSIGN_OR_RETURN(EntryChoice what, EntryChoiceOf(request->what()));
          Audit(*context, "Verify", Summary(what));
          admin.Verify(std::move(what), std::move(done));
          return absl::OkStatus();
        });
  }

  grpc::Status Evict(grpc::ServerContext* context, const node::v1::EvictRequest* request,
                     node::v1::EvictResponse* response) override {
    return Serve<EvictReport>(
        *context, response, [&](cairn::NodeAdmin& admin, auto done) -> absl::Status {
          CAIRN_ASSIGN_OR_RETURN(EntryChoice what, EntryChoiceOf(request->what()));
          Audit(*context, "Evict", Summary(what));
          admin.Evict(std::move(what), std::move(done));
          return absl::OkStatus();
        });
  }

  grpc::Status Explain(grpc::ServerContext* context, const node::v1::ExplainRequest* request,
                       node::v1::ExplainResponse* response) override {
    return Serve<Explanation>(
        *context, response, [&](cairn::NodeAdmin& admin, auto done) -> absl::Status {
          CAIRN_ASSIGN_OR_RETURN(RootChoice root, RootChoiceOf(request->root()));
          CAIRN_ASSIGN_OR_RETURN(std::vector<Key> keys, KeysOf(request->keys()));
          admin.Explain(std::move(root), std::move(keys), std::move(done));
          return absl::OkStatus();
        });
  }

 private:
  // Checks the caller, has `pass` decode the request and pass it on with the `done` that it gets,
  // and waits for the answer. `pass` returns why it did not pass it on.
  template <class T, class Response, class Pass>
  grpc::Status Serve(const grpc::ServerContext& context, Response* response, Pass pass) {
    if (!options_.is_dev_mode && !PeerOf(context).is_verified) {
      return ToGrpcStatus(absl::PermissionDeniedError("a verified client certificate is required"));
    }
    const auto answer = std::make_shared<Answer<T>>();
    {
      MutexLock lock(mutex_);  // while passing on only: Detach waits for that, and for no answer
      if (admin_ == nullptr) {
        return ToGrpcStatus(absl::UnavailableError("the node is starting or stopping"));
      }
      const absl::Status passed = pass(*admin_, AdminDone<T>(Done<T>(answer)));
      if (!passed.ok()) return ToGrpcStatus(passed);
    }
    const absl::StatusOr<T> result = answer->Wait();
    if (result.ok()) Fill(*result, response);
    return ToGrpcStatus(result.status());
  }

  static void Audit(const grpc::ServerContext& context, absl::string_view verb,
                    absl::string_view what) {
    const RpcPeer peer = PeerOf(context);
    LogEvent(LogLevel::kInfo, "admin_called")
        .With("verb", verb)
        .With("peer", peer.is_verified ? peer.name : "unverified")
        .With("address", peer.address)
        .With("what", what);
  }

  const Options options_;
  Mutex mutex_;
  cairn::NodeAdmin* admin_ CAIRN_GUARDED_BY(mutex_) = nullptr;
};

AdminService::AdminService(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
AdminService::~AdminService() = default;
void AdminService::Attach(NodeAdmin& admin) { impl_->SetAdmin(&admin); }
void AdminService::Detach() { impl_->SetAdmin(nullptr); }
grpc::Service* AdminService::service() { return impl_.get(); }

}  // namespace cairn
