// One file for the library: gRPC's headers are slow to compile.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "libs/rpc/host_port.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/rpc_security.h"
#include "libs/rpc/rpc_server.h"
#include "libs/rpc/status_convert.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

struct Answer {
  absl::Status status;
  std::string body;
};

// One message there and one back, as bytes: the same for a unary call and a stream.
Answer Exchange(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                const std::string& body) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  SetDeadline(context, absl::Seconds(100));
  grpc::CompletionQueue queue;
  const auto step = [&queue](auto start) {
    start();
    void* tag = nullptr;
    bool is_ok = false;
    return queue.Next(&tag, &is_ok) && is_ok;
  };
  const auto stream = stub.PrepareCall(&context, method, &queue);
  grpc::ByteBuffer in;
  const grpc::Slice slice(body);
  bool is_open = step([&] { stream->StartCall(nullptr); }) &&
                 step([&] { stream->Write(grpc::ByteBuffer(&slice, 1), nullptr); }) &&
                 step([&] { stream->Read(&in, nullptr); });
  if (is_open) step([&] { stream->WritesDone(nullptr); });
  grpc::Status status;
  step([&] { stream->Finish(&status, nullptr); });
  Answer answer{.status = FromGrpcStatus(status), .body = {}};
  std::vector<grpc::Slice> slices;
  if (is_open && in.Dump(&slices).ok()) {
    for (const grpc::Slice& piece : slices) {
      answer.body.append(reinterpret_cast<const char*>(piece.begin()), piece.size());
    }
  }
  return answer;
}

// HealthCheckRequest{service: name} -> the status's number, or 0.
int HealthOf(const std::shared_ptr<grpc::Channel>& channel, const std::string& name) {
  std::string request;
  if (!name.empty())
    request = absl::StrCat("\x0a", std::string(1, static_cast<char>(name.size())), name);
  const Answer answer = Exchange(channel, kHealthCheck, request);
  return answer.body.size() == 2 ? answer.body[1] : 0;
}
constexpr int kServing = 1;
constexpr int kNotServing = 2;

std::unique_ptr<RpcServer> StartOrDie(const RpcSecurity& security) {
  auto server = RpcServer::Start({.listen = "127.0.0.1:0", .security = security, .services = {}});
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}
std::shared_ptr<grpc::Channel> ChannelTo(const RpcServer& server, const RpcSecurity& security) {
  auto channel = NewRpcChannel({.address = server.address(), .security = security});
  EXPECT_TRUE(channel.ok()) << channel.status();
  return *std::move(channel);
}

TEST(HostPortTest, NumericAddressesAreRead) {
  const struct {
    const char* text;
    const char* host;
    int port;
    bool is_loopback;
  } cases[] = {{"127.0.0.1:0", "127.0.0.1", 0, true}, {"127.9.9.9:65535", "127.9.9.9", 65535, true},
               {"0.0.0.0:1", "0.0.0.0", 1, false},    {"10.0.0.1:80", "10.0.0.1", 80, false},
               {"[::1]:7", "::1", 7, true},           {"[::]:7", "::", 7, false}};
  for (const auto& address : cases) {
    const auto parsed = ParseHostPort(address.text);
    ASSERT_TRUE(parsed.ok()) << address.text;
    EXPECT_EQ(parsed->host, address.host);
    EXPECT_EQ(parsed->port, address.port);
    EXPECT_EQ(parsed->is_loopback(), address.is_loopback) << address.text;
    EXPECT_EQ(parsed->ToString(), address.text);
  }
}

TEST(HostPortTest, AnythingElseIsRefused) {
  for (const char* text :
       {"", ":", "127.0.0.1", "localhost:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.1:5", "::1:5", "[127.0.0.1]:5", "[::1]", "1.2.3.4:5:6"}) {
    EXPECT_FALSE(ParseHostPort(text).ok()) << text;
  }
}

TEST(RpcChannelTest, AServerMayHaveANameWhereCertificatesTellIt) {
  for (const char* address : {"10.0.0.7:7001", "[::1]:7001", "placement:7001",
                              "cairn-placement.cairn.svc.example:443", "127.0.0.1:1"}) {
    EXPECT_TRUE(CheckServerAddress(address, /*is_dev_mode=*/false).ok()) << address;
  }
  for (const char* address : {"", ":", "placement", "placement:", ":7001", "placement:0",
                              "placement:65536", "placement:7001x", "dns:///placement:7001",
                              "a b:1", "unix:/tmp/x", "[::1:7001", "10.0.0.7:0"}) {
    const absl::Status status = CheckServerAddress(address, /*is_dev_mode=*/false);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
  }
  EXPECT_TRUE(CheckServerAddress("127.0.0.1:7001", /*is_dev_mode=*/true).ok());
  for (const char* address : {"10.0.0.7:7001", "localhost:7001", "placement:7001", "127.0.0.1:0"}) {
    EXPECT_FALSE(CheckServerAddress(address, /*is_dev_mode=*/true).ok()) << address;
  }
}

TEST(StatusConvertTest, EveryCodeGoesThereAndBack) {
  for (int code = 0; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    EXPECT_EQ(FromGrpcStatus(ToGrpcStatus(status)), status);
  }
  // One that gRPC has not named yet; the enumeration's range ends at 31.
  EXPECT_EQ(FromGrpcStatus(grpc::Status(static_cast<grpc::StatusCode>(31), "new")).code(),
            absl::StatusCode::kUnknown);
}

TEST(RpcServerTest, HealthTellsLivenessFromReadiness) {
  const auto server = StartOrDie({.is_dev_mode = true});
  const auto channel = ChannelTo(*server, {.is_dev_mode = true});
  EXPECT_EQ(HealthOf(channel, ""), kServing);
  EXPECT_EQ(HealthOf(channel, "liveness"), kServing);
  EXPECT_EQ(HealthOf(channel, "readiness"), kNotServing);
  server->SetReady(true);
  EXPECT_EQ(HealthOf(channel, "readiness"), kServing);
  server->SetReady(false);
  EXPECT_EQ(HealthOf(channel, "readiness"), kNotServing);
  EXPECT_EQ(HealthOf(channel, "liveness"), kServing);
}

TEST(RpcServerTest, ReflectionListsServices) {
  const auto server = StartOrDie({.is_dev_mode = true});
  // ServerReflectionRequest{list_services: ""}
  const Answer answer =
      Exchange(ChannelTo(*server, {.is_dev_mode = true}), kReflection, std::string("\x3a\x00", 2));
  EXPECT_THAT(answer.body, HasSubstr("grpc.reflection.v1alpha.ServerReflection"));
}

TEST(RpcServerTest, WithoutTlsOnlyLoopbackIsBoundOrSpokenTo) {
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    const auto server =
        RpcServer::Start({.listen = address, .security = {.is_dev_mode = true}, .services = {}});
    EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(server.status().message()), HasSubstr("is not loopback"));
  }
  EXPECT_FALSE(NewRpcChannel({.address = "10.0.0.1:5", .security = {.is_dev_mode = true}}).ok());
}

TEST(RpcServerTest, ATakenPortIsNamed) {
  const auto first = StartOrDie({.is_dev_mode = true});
  const auto second = RpcServer::Start(
      {.listen = first->address(), .security = {.is_dev_mode = true}, .services = {}});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.status().message(),
            absl::StrCat("cannot listen on ", first->address(), ": another process listens there"));
}

// Certificates of two authorities that do not know each other.
class MutualTlsTest : public ::testing::Test {
 protected:
  static std::string Top() {
    return absl::StrCat(testing::TempDir(), "cairn_rpc_certs_", ::getpid());
  }
  static void SetUpTestSuite() {
    for (const char* name : {"ours", "strangers"}) {
      const std::string command =
          absl::StrCat("tools/make-test-certs ", Top(), "/", name, " alice >&2");
      ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(Top()); }
  static config::v1::MutualTls FilesOf(const std::string& authority, const std::string& name) {
    config::v1::MutualTls files;
    files.set_ca_file(absl::StrCat(Top(), "/", authority, "/ca.pem"));
    files.set_certificate_file(absl::StrCat(Top(), "/", authority, "/", name, ".pem"));
    files.set_key_file(absl::StrCat(Top(), "/", authority, "/", name, ".key"));
    return files;
  }
  static RpcSecurity Load(const std::string& authority, const std::string& name) {
    auto security = LoadMutualTls(FilesOf(authority, name));
    EXPECT_TRUE(security.ok()) << security.status();
    return *std::move(security);
  }
};

TEST_F(MutualTlsTest, OnlyCertificatesOfOurAuthorityGetIn) {
  const auto server = StartOrDie(Load("ours", "server"));
  EXPECT_EQ(HealthOf(ChannelTo(*server, Load("ours", "alice")), ""), kServing);

  RpcSecurity nameless = Load("ours", "alice");
  nameless.certificate.clear();
  nameless.key.clear();
  RpcSecurity stranger = Load("strangers", "alice");
  stranger.ca = Load("ours", "alice").ca;  // it would trust us
  const std::pair<const char*, RpcSecurity> refused[] = {
      {"no certificate", nameless},
      {"a stranger's certificate", stranger},
      {"no TLS", {.is_dev_mode = true}},
      {"a client that does not trust us", Load("strangers", "alice")}};
  for (const auto& [what, security] : refused) {
    const Answer answer = Exchange(ChannelTo(*server, security), kHealthCheck, "");
    EXPECT_EQ(answer.status.code(), absl::StatusCode::kUnavailable) << what << answer.status;
  }
}

TEST_F(MutualTlsTest, FilesThatCannotWorkAreNamed) {
  auto files = FilesOf("ours", "server");
  files.set_key_file(FilesOf("ours", "alice").key_file());
  EXPECT_THAT(std::string(LoadMutualTls(files).status().message()), StartsWith("key_file: "));
  files = FilesOf("ours", "server");
  files.set_certificate_file(files.key_file());
  EXPECT_THAT(std::string(LoadMutualTls(files).status().message()),
              StartsWith("certificate_file: no certificate"));
  files = FilesOf("ours", "server");
  files.set_ca_file(Top() + "/missing.pem");
  EXPECT_THAT(std::string(LoadMutualTls(files).status().message()),
              StartsWith("ca_file: cannot read "));
  files = FilesOf("ours", "server");
  files.set_key_file(files.certificate_file());
  EXPECT_THAT(std::string(LoadMutualTls(files).status().message()),
              StartsWith("key_file: no private key"));
}

}  // namespace
}  // namespace cairn
