#ifndef CAIRN_TESTS_UNIT_PLACEMENT_RPC_SCRIPTED_PLACEMENT_H_
#define CAIRN_TESTS_UNIT_PLACEMENT_RPC_SCRIPTED_PLACEMENT_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/mutex.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/rpc_server.h"

namespace cairn {

// A placement service that answers what the test says, or nothing until its client gives up.
class ScriptedPlacement : public placement::v1::Placement::Service {
 public:
  explicit ScriptedPlacement(const std::string& listen = "127.0.0.1:0") {
    server_ = *RpcServer::Start(
        {.listen = listen, .security = {.is_dev_mode = true}, .services = {this}});
  }
  ~ScriptedPlacement() override { server_->Shutdown(absl::Seconds(1)); }

  std::shared_ptr<grpc::Channel> Channel() const { return ChannelTo(server_->address()); }
  static std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
    return *NewRpcChannel({.address = address, .security = {.is_dev_mode = true}});
  }

  enum class Mood { kAnswers, kRefuses, kHangs };
  void Set(Mood mood) {
    MutexLock lock(mutex_);
    mood_ = mood;
  }
  void SetPositions(std::vector<std::uint64_t> positions) {
    MutexLock lock(mutex_);
    positions_ = std::move(positions);
  }
  std::vector<placement::v1::PlanRequest> asked() const {
    MutexLock lock(mutex_);
    return asked_;
  }
  std::vector<placement::v1::Observation> observed() const {
    MutexLock lock(mutex_);
    return observed_;
  }
  int streams() const {
    MutexLock lock(mutex_);
    return streams_;
  }
  // Who waits in vain does so no longer.
  void LetGo() { is_let_go_ = true; }
  // Until somebody waits in vain.
  void AwaitHanging() {
    MutexLock lock(mutex_);
    while (hanging_ == 0) changed_.Wait(mutex_);
  }

 private:
  grpc::Status Behave(grpc::ServerContext* context) {
    Mood mood;
    {
      MutexLock lock(mutex_);
      mood = mood_;
      if (mood == Mood::kHangs) {
        ++hanging_;
        changed_.NotifyAll();
      }
    }
    if (mood == Mood::kRefuses) return {grpc::StatusCode::INVALID_ARGUMENT, "as bidden"};
    while (mood == Mood::kHangs && !context->IsCancelled() && !is_let_go_) {
      std::this_thread::yield();
    }
    return grpc::Status::OK;
  }
  grpc::Status Plan(grpc::ServerContext* context, const placement::v1::PlanRequest* request,
                    placement::v1::PlanResponse* response) override {
    {
      MutexLock lock(mutex_);
      asked_.push_back(*request);
      for (const std::uint64_t position : positions_) response->add_positions(position);
    }
    return Behave(context);
  }
  grpc::Status Observe(grpc::ServerContext* context,
                       grpc::ServerReader<placement::v1::ObserveRequest>* reader,
                       placement::v1::ObserveResponse* response) override {
    placement::v1::ObserveRequest request;
    std::uint64_t taken = 0;
    while (reader->Read(&request)) {
      MutexLock lock(mutex_);
      for (const auto& one : request.observations()) observed_.push_back(one);
      taken += static_cast<std::uint64_t>(request.observations_size());
    }
    response->set_taken(taken);
    grpc::Status status = Behave(context);
    MutexLock lock(mutex_);
    ++streams_;
    return status;
  }

  std::atomic<bool> is_let_go_{false};
  mutable Mutex mutex_;
  CondVar changed_;
  Mood mood_ CAIRN_GUARDED_BY(mutex_) = Mood::kAnswers;
  std::vector<std::uint64_t> positions_ CAIRN_GUARDED_BY(mutex_);
  std::vector<placement::v1::PlanRequest> asked_ CAIRN_GUARDED_BY(mutex_);
  std::vector<placement::v1::Observation> observed_ CAIRN_GUARDED_BY(mutex_);
  int streams_ CAIRN_GUARDED_BY(mutex_) = 0;
  int hanging_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<RpcServer> server_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_PLACEMENT_RPC_SCRIPTED_PLACEMENT_H_
