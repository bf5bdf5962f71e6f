// One call of cairn.placement.v1.Placement, for placement_test.py:
//   e2e_placement_call ADDRESS METHOD [CA CERTIFICATE KEY]
// Standard input is the request as JSON (Observe: one ObserveRequest a line), standard output the
// response. A refused call is exit code 1, with its message on standard error.
#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/status_convert.h"

namespace {

namespace pb = cairn::placement::v1;
using Stub = pb::Placement::Stub;

absl::Status Parse(const std::string& json, google::protobuf::Message* message) {
  if (json.empty()) return absl::OkStatus();
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, message);
  return parsed.ok() ? absl::OkStatus() : absl::InvalidArgumentError(parsed.ToString());
}

void Print(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return;
  std::cout << json << "\n";
}

template <class Request, class Response>
absl::Status Call(Stub& stub,
                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*)) {
  Request request;
  CAIRN_RETURN_IF_ERROR(Parse(std::string(std::istreambuf_iterator<char>(std::cin), {}), &request));
  grpc::ClientContext context;
  cairn::SetDeadline(context, absl::Seconds(60));
  Response response;
  CAIRN_RETURN_IF_ERROR(cairn::FromGrpcStatus((stub.*method)(&context, request, &response)));
  Print(response);
  return absl::OkStatus();
}

// Says "sent" after each line, so that a test knows how far the stream has come.
absl::Status Observe(Stub& stub) {
  grpc::ClientContext context;
  cairn::SetDeadline(context, absl::Seconds(60));
  pb::ObserveResponse response;
  const auto writer = stub.Observe(&context, &response);
  std::string line;
  while (std::getline(std::cin, line)) {
    pb::ObserveRequest batch;
    CAIRN_RETURN_IF_ERROR(Parse(line, &batch));
    if (!writer->Write(batch)) break;
    std::cout << "sent" << std::endl;
  }
  writer->WritesDone();
  CAIRN_RETURN_IF_ERROR(cairn::FromGrpcStatus(writer->Finish()));
  Print(response);
  return absl::OkStatus();
}

absl::Status Run(const std::string& address, const std::string& method, char** tls) {
  cairn::RpcSecurity security{.is_dev_mode = tls == nullptr};
  if (tls != nullptr) {
    cairn::config::v1::MutualTls files;
    files.set_ca_file(tls[0]);
    files.set_certificate_file(tls[1]);
    files.set_key_file(tls[2]);
    CAIRN_ASSIGN_OR_RETURN(security, cairn::LoadMutualTls(files));
  }
  CAIRN_ASSIGN_OR_RETURN(const auto channel,
                         cairn::NewRpcChannel({.address = address, .security = security}));
  Stub stub(channel);
  const std::map<std::string, std::function<absl::Status()>> methods = {
      {"Observe", [&] { return Observe(stub); }},
      {"Exposed", [&] { return Call(stub, &Stub::Exposed); }},
      {"Plan", [&] { return Call(stub, &Stub::Plan); }},
      {"Explain", [&] { return Call(stub, &Stub::Explain); }},
      {"ListFamilies", [&] { return Call(stub, &Stub::ListFamilies); }},
      {"Snapshot", [&] { return Call(stub, &Stub::Snapshot); }},
      {"Status", [&] { return Call(stub, &Stub::Status); }},
  };
  const auto found = methods.find(method);
  if (found == methods.end()) return absl::InvalidArgumentError("no method " + method);
  return found->second();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 6) return 2;
  const absl::Status status = Run(argv[1], argv[2], argc == 6 ? argv + 3 : nullptr);
  if (status.ok()) return 0;
  std::cerr << status.message() << "\n";
  return 1;
}
