#include "services/placement/placement_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/planner/limits.h"
#include "libs/rpc/rpc_server.h"
#include "libs/rpc/status_convert.h"
#include "services/placement/placement_convert.h"

namespace cairn {
namespace {

namespace pb = placement::v1;

constexpr std::size_t kFamiliesDefault = 100;

// Adds what a batch came to.
template <class Response>
void Tally(const PlacementHost::Told& told, Response& response) {
  if (response.refused() == 0) response.set_first_refusal(told.first_refusal);
  response.set_taken(response.taken() + told.taken);
  response.set_refused(response.refused() + told.refused);
}

// One of the places that streams have. A stream holds its thread for as long as its client likes.
class StreamPlace {
 public:
  explicit StreamPlace(std::atomic<int>& taken)
      : taken_(taken), is_free_(taken.fetch_add(1) < limits::kObserveStreamsMax) {}
  ~StreamPlace() { taken_.fetch_sub(1); }
  StreamPlace(const StreamPlace&) = delete;
  StreamPlace& operator=(const StreamPlace&) = delete;
  bool is_free() const { return is_free_; }

 private:
  std::atomic<int>& taken_;
  const bool is_free_;
};

}  // namespace

class PlacementService::Impl final : public pb::Placement::Service {
 public:
  Impl(PlacementHost& host, const Options& options)
      : host_(host), options_(options), started_(std::chrono::steady_clock::now()) {}

  grpc::Status Observe(grpc::ServerContext* context, grpc::ServerReader<pb::ObserveRequest>* reader,
                       pb::ObserveResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      const StreamPlace place(streams_);
      if (!place.is_free()) {
        return absl::ResourceExhaustedError(
            absl::StrCat("more than ", limits::kObserveStreamsMax, " streams of observations"));
      }
      reader->SendInitialMetadata();  // "go on": a client need not send before it knows
      pb::ObserveRequest batch;
      std::vector<planner::Observation> observations;
      while (reader->Read(&batch)) {
        observations.clear();
        for (const pb::Observation& observation : batch.observations()) {
          observations.push_back(ObservationOf(observation));
        }
        Tally(host_.Observe(observations), *response);
      }
      host_.Settle();  // whoever has the answer finds it learnt
      return absl::OkStatus();
    });
  }

  grpc::Status Exposed(grpc::ServerContext* context, const pb::ExposedRequest* request,
                       pb::ExposedResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      std::vector<planner::Exposure> exposures;
      for (const pb::ExposedEntry& entry : request->entries()) {
        exposures.push_back(
            {.family = request->family(), .entry = entry.entry_id(), .length = entry.length()});
      }
      Tally(host_.Expose(exposures), *response);
      host_.Settle();
      return absl::OkStatus();
    });
  }

  grpc::Status Plan(grpc::ServerContext* context, const pb::PlanRequest* request,
                    pb::PlanResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      const absl::StatusOr<planner::PlanAnswer> answer = host_.Plan(QuestionOf(*request));
      if (answer.ok()) Fill(*answer, response);
      return answer.status();
    });
  }

  grpc::Status Explain(grpc::ServerContext* context, const pb::ExplainRequest* request,
                       pb::ExplainResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      const absl::StatusOr<planner::Explanation> explained =
          host_.Explain(QuestionOf(request->plan()));
      if (explained.ok()) Fill(*explained, response);
      return explained.status();
    });
  }

  grpc::Status ListFamilies(grpc::ServerContext* context, const pb::ListFamiliesRequest* request,
                            pb::ListFamiliesResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      if (request->limit() > planner::limits::kFamiliesListedMax) {
        return absl::InvalidArgumentError(
            absl::StrCat("limit: at most ", planner::limits::kFamiliesListedMax));
      }
      const std::size_t limit = request->limit() == 0 ? kFamiliesDefault : request->limit();
      for (const planner::FamilyReport& family : host_.Families(limit)) {
        Fill(family, response->add_families());
      }
      return absl::OkStatus();
    });
  }

  grpc::Status Snapshot(grpc::ServerContext* context, const pb::SnapshotRequest*,
                        pb::SnapshotResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      const RpcPeer peer = PeerOf(*context);
      LogEvent(LogLevel::kInfo, "admin_called")
          .With("verb", "Snapshot")
          .With("peer", peer.is_verified ? peer.name : "unverified")
          .With("address", peer.address);
      const absl::StatusOr<PlacementHost::Written> written = host_.Snapshot();
      if (!written.ok()) return written.status();
      response->set_generation(written->generation);
      response->set_bytes(written->bytes);
      return absl::OkStatus();
    });
  }

  grpc::Status Status(grpc::ServerContext* context, const pb::StatusRequest*,
                      pb::StatusResponse* response) override {
    return Serve(*context, [&]() -> absl::Status {
      const PlacementHost::Report report = host_.Status();
      const auto uptime = std::chrono::steady_clock::now() - started_;
      response->mutable_uptime()->set_seconds(
          std::chrono::duration_cast<std::chrono::seconds>(uptime).count());
      response->set_is_dev_mode(options_.is_dev_mode);
      response->set_grid_tokens(options_.grid_tokens);
      response->set_generation(report.generation);
      response->set_restored_generation(report.restored_generation);
      response->set_damage(report.damage);
      for (const auto& [name, value] : CountersOf(report)) {
        (*response->mutable_counters())[name] = value;
      }
      return absl::OkStatus();
    });
  }

 private:
  template <class Answer>
  grpc::Status Serve(const grpc::ServerContext& context, Answer answer) {
    if (!options_.is_dev_mode && !PeerOf(context).is_verified) {
      return ToGrpcStatus(absl::PermissionDeniedError("a verified client certificate is required"));
    }
    return ToGrpcStatus(answer());
  }

  PlacementHost& host_;
  const Options options_;
  const std::chrono::steady_clock::time_point started_;
  std::atomic<int> streams_{0};
};

PlacementService::PlacementService(PlacementHost& host, const Options& options)
    : impl_(std::make_unique<Impl>(host, options)) {}
PlacementService::~PlacementService() = default;
grpc::Service* PlacementService::service() { return impl_.get(); }

}  // namespace cairn
