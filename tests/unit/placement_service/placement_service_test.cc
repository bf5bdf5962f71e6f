#include "services/placement/placement_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/limits.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/rpc_server.h"
#include "libs/store_memory/memory_store.h"

namespace cairn {
namespace {

namespace pb = placement::v1;

class PlacementServiceTest : public ::testing::Test {
 protected:
  PlacementServiceTest() {
    host_ = *PlacementHost::Create({}, std::make_unique<MemoryStore>());
    service_ = std::make_unique<PlacementService>(
        *host_, PlacementService::Options{.is_dev_mode = true, .grid_tokens = 64});
    server_ = *RpcServer::Start({.listen = "127.0.0.1:0",
                                 .security = {.is_dev_mode = true},
                                 .services = {service_->service()}});
    stub_ = pb::Placement::NewStub(
        *NewRpcChannel({.address = server_->address(), .security = {.is_dev_mode = true}}));
  }

  struct Stream {
    grpc::ClientContext context;
    pb::ObserveResponse response;
    std::unique_ptr<grpc::ClientWriter<pb::ObserveRequest>> writer;
    grpc::Status Finish() {
      writer->WritesDone();
      return writer->Finish();
    }
  };
  std::unique_ptr<Stream> Open() {
    auto stream = std::make_unique<Stream>();
    SetDeadline(stream->context, absl::Seconds(60));
    stream->writer = stub_->Observe(&stream->context, &stream->response);
    return stream;
  }
  grpc::Status Plan() {
    grpc::ClientContext context;
    SetDeadline(context, absl::Seconds(60));
    pb::PlanRequest request;
    request.set_length(6400);
    request.set_budget(2);
    pb::PlanResponse response;
    const grpc::Status status = stub_->Plan(&context, request, &response);
    EXPECT_TRUE(!status.ok() || response.positions_size() > 0);
    return status;
  }
  // As many as the server lets be open.
  std::vector<std::unique_ptr<Stream>> TakeAllPlaces() {
    std::vector<std::unique_ptr<Stream>> held;
    for (int i = 0; i < limits::kObserveStreamsMax; ++i) {
      held.push_back(Open());
      held.back()->writer->WaitForInitialMetadata();  // its handler runs
    }
    return held;
  }

  std::unique_ptr<PlacementHost> host_;
  std::unique_ptr<PlacementService> service_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<pb::Placement::Stub> stub_;
};

TEST_F(PlacementServiceTest, StreamsThatAreKeptLeaveThreadsForPlans) {
  std::vector<std::unique_ptr<Stream>> held = TakeAllPlaces();
  EXPECT_EQ(Open()->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Plan().ok());
  EXPECT_TRUE(held.back()->Finish().ok());
  held.pop_back();
  EXPECT_TRUE(Open()->Finish().ok());  // the place is free again
  for (const auto& stream : held) EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(PlacementServiceTest, GarbageIsCountedAndTheRestOfTheStreamCounts) {
  const auto stream = Open();
  pb::ObserveRequest batch;
  pb::Observation& garbage = *batch.add_observations();
  garbage.set_entry_length(100);
  garbage.set_overlap_depth(200);
  garbage.set_request_length(300);
  garbage.set_request_entry_id(1);
  pb::Observation& sound = *batch.add_observations();
  sound.set_family(5);
  sound.set_entry_id(1);
  sound.set_entry_length(640);
  sound.set_overlap_depth(320);
  sound.set_request_length(1280);
  sound.set_request_entry_id(2);
  stream->writer->Write(batch);
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(stream->response.taken(), 1u);
  EXPECT_EQ(stream->response.refused(), 1u);
  EXPECT_NE(stream->response.first_refusal().find("overlap_depth"), std::string::npos);
}

}  // namespace
}  // namespace cairn
