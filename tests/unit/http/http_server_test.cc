#include "libs/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/mutex.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

// A client that speaks raw bytes.
class RawClient {
 public:
  explicit RawClient(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&peer), sizeof peer), 0);
  }
  ~RawClient() { ::close(fd_); }
  void Write(const std::string& bytes) {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Writes `bytes` again and again; the server must have enough of it before `bytes_max`.
  void WriteUntilRefused(const std::string& bytes, std::size_t bytes_max) {
    std::size_t sent = 0;
    while (sent < bytes_max) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0) return;
      sent += static_cast<std::size_t>(n);
    }
    ADD_FAILURE() << "the server took " << sent << " bytes";
  }
  // Everything up to and including `end`, or until the server closes.
  std::string ReadTo(const std::string& end) {
    std::string out;
    char byte;
    while (out.find(end) == std::string::npos && ::recv(fd_, &byte, 1, 0) == 1) out.push_back(byte);
    return out;
  }

 private:
  const int fd_;
};

std::string Post(const std::string& path, const std::string& body) {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(),
                      "\r\n\r\n", body);
}

TEST(HttpServerTest, AnswersSeveralRequestsOnOneConnection) {
  auto server = *HttpServer::Start({}, [](HttpRequest request, std::shared_ptr<HttpReply> reply) {
    reply->Send(200, "text/plain", absl::StrCat(request.method, request.path, request.body, "#"));
  });
  RawClient client(server->address());
  for (int i = 0; i < 3; ++i) {
    client.Write(Post("/a?q=1", "hi"));
    const std::string answer = client.ReadTo("#");
    EXPECT_NE(answer.find("HTTP/1.1 200"), std::string::npos);
    EXPECT_NE(answer.find("POST/ahi#"), std::string::npos) << answer;
  }
}

TEST(HttpServerTest, StreamComesInChunks) {
  auto server = *HttpServer::Start({}, [](HttpRequest, std::shared_ptr<HttpReply> reply) {
    reply->BeginStream("text/event-stream");
    reply->StreamPiece("one");
    reply->StreamPiece("two");
    reply->EndStream();
  });
  RawClient client(server->address());
  client.Write(Post("/", ""));
  const std::string answer = client.ReadTo("0\r\n\r\n");
  EXPECT_NE(answer.find("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"), std::string::npos) << answer;
}

TEST(HttpServerTest, StreamToAnOldClientEndsWithTheConnection) {
  auto server = *HttpServer::Start({}, [](HttpRequest request, std::shared_ptr<HttpReply> reply) {
    reply->BeginStream("text/event-stream");
    if (request.path == "/full") reply->StreamPiece("one");
    reply->EndStream();
  });
  for (const std::string path : {"/full", "/empty"}) {
    RawClient client(server->address());
    client.Write(absl::StrCat("GET ", path, " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const std::string answer = client.ReadTo("no such text");
    EXPECT_EQ(answer.find("chunked"), std::string::npos) << answer;
    const std::string body = path == "/full" ? "one" : "";
    EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4), body) << answer;
  }
}

TEST(HttpServerTest, HeadGetsNoBody) {
  auto server = *HttpServer::Start({}, [](HttpRequest request, std::shared_ptr<HttpReply> reply) {
    reply->Send(200, "text/plain", absl::StrCat(request.method, "#"));
  });
  RawClient client(server->address());
  client.Write("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = client.ReadTo("#");
  EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("HEAD#"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\n\r\nGET#"), std::string::npos) << answer;
}

TEST(HttpServerTest, WhoExpectsAWordBeforeTheBodyGetsIt) {
  auto server = *HttpServer::Start({.body_bytes_max = 100},
                                   [](HttpRequest request, std::shared_ptr<HttpReply> reply) {
                                     reply->Send(200, "text/plain", request.body + "#");
                                   });
  const auto head = [](int bytes) {
    return absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ",
                        bytes, "\r\n\r\n");
  };
  RawClient client(server->address());
  client.Write(head(2));
  EXPECT_EQ(client.ReadTo("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Write("hi");
  EXPECT_NE(client.ReadTo("#").find("hi#"), std::string::npos);
  RawClient large(server->address());
  large.Write(head(101));
  EXPECT_NE(large.ReadTo("\r\n").find("413"), std::string::npos) << "before its body is sent";
}

TEST(HttpServerTest, DroppedReplyIs500) {
  auto server = *HttpServer::Start({}, [](HttpRequest, std::shared_ptr<HttpReply>) {});
  RawClient client(server->address());
  client.Write(Post("/", ""));
  EXPECT_NE(client.ReadTo("dropped").find("HTTP/1.1 500"), std::string::npos);
}

TEST(HttpServerTest, TooLargeBodyAndHeaderAndGarbageAreRefused) {
  auto server = *HttpServer::Start({.body_bytes_max = 100},
                                   [](HttpRequest, std::shared_ptr<HttpReply> reply) {
                                     reply->Send(200, "text/plain", "never");
                                   });
  RawClient body(server->address());
  body.Write("POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n");
  EXPECT_NE(body.ReadTo("\r\n").find("413"), std::string::npos);
  RawClient header(server->address());
  header.Write(absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(20'000, 'x'), "\r\n\r\n"));
  EXPECT_NE(header.ReadTo("\r\n").find("431"), std::string::npos);
  RawClient garbage(server->address());
  garbage.Write(std::string("\x16\x03\x01 garbage\r\n\r\n"));
  EXPECT_NE(garbage.ReadTo("\r\n").find("400"), std::string::npos);
}

TEST(HttpServerTest, ChunkExtensionOrTrailerWithoutEndIsRefused) {
  auto server = *HttpServer::Start({}, [](HttpRequest, std::shared_ptr<HttpReply> reply) {
    reply->Send(200, "text/plain", "never");
  });
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& begin : {head + "5;", head + "0\r\nX: "}) {
    RawClient client(server->address());
    client.Write(begin);
    client.WriteUntilRefused(std::string(16 * 1024, 'x'), 64 * kMiB);
  }
}

TEST(HttpServerTest, OutOfDescriptorsItServesWhenThereAreSomeAgain) {
  auto server = *HttpServer::Start({}, [](HttpRequest, std::shared_ptr<HttpReply> reply) {
    reply->Send(200, "text/plain", "fine#");
  });
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> taken;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken.push_back(fd);
  ASSERT_FALSE(taken.empty());
  ::close(taken.back());  // the client's
  taken.pop_back();
  RawClient client(server->address());
  client.Write(Post("/", ""));
  for (const int fd : taken) ::close(fd);
  EXPECT_NE(client.ReadTo("#").find("HTTP/1.1 200"), std::string::npos);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(HttpServerTest, LeavingClientIsNoticed) {
  Mutex mutex;
  CondVar changed;
  bool is_gone = false;
  std::shared_ptr<HttpReply> kept;
  auto server = *HttpServer::Start({}, [&](HttpRequest, std::shared_ptr<HttpReply> reply) {
    reply->OnGone([&] {
      MutexLock lock(mutex);
      is_gone = true;
      changed.NotifyAll();
    });
    reply->BeginStream("text/plain");
    reply->StreamPiece("x");
    MutexLock lock(mutex);
    kept = std::move(reply);
  });
  {
    RawClient client(server->address());
    client.Write(Post("/", ""));
    client.ReadTo("x");
  }
  MutexLock lock(mutex);
  while (!is_gone) changed.Wait(mutex);
  kept.reset();
}

TEST(HttpServerTest, AnAnswerGivenBeforeTheEndGoesOut) {
  for (int i = 0; i < 20; ++i) {  // the end must not win this race even once
    Mutex mutex;
    CondVar changed;
    std::shared_ptr<HttpReply> kept;
    auto server = *HttpServer::Start({}, [&](HttpRequest, std::shared_ptr<HttpReply> reply) {
      MutexLock lock(mutex);
      kept = std::move(reply);
      changed.NotifyAll();
    });
    RawClient client(server->address());
    client.Write(Post("/", ""));
    {
      MutexLock lock(mutex);
      while (kept == nullptr) changed.Wait(mutex);
      kept->Send(503, "text/plain", "stopping#");
    }
    server.reset();
    EXPECT_NE(client.ReadTo("#").find("HTTP/1.1 503"), std::string::npos);
    kept.reset();
  }
}

// Engines answer many at once and end then: each stream is several writes.
TEST(HttpServerTest, StreamsThatWereEndedBeforeTheEndGoOutWhole) {
  constexpr int kStreams = 32;
  for (int round = 0; round < 10; ++round) {
    Mutex mutex;
    CondVar changed;
    std::vector<std::shared_ptr<HttpReply>> kept;
    auto server = *HttpServer::Start({}, [&](HttpRequest, std::shared_ptr<HttpReply> reply) {
      reply->BeginStream("text/event-stream");
      reply->StreamPiece("first");
      MutexLock lock(mutex);
      kept.push_back(std::move(reply));
      changed.NotifyAll();
    });
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < kStreams; ++i) {
      clients.push_back(std::make_unique<RawClient>(server->address()));
      clients.back()->Write(Post("/", ""));
    }
    {
      MutexLock lock(mutex);
      while (kept.size() < kStreams) changed.Wait(mutex);
      for (auto& reply : kept) {
        reply->StreamPiece("second");
        reply->StreamPiece("[DONE]");
        reply->EndStream();
      }
      kept.clear();
    }
    server.reset();
    for (auto& client : clients) {
      const std::string answer = client->ReadTo("0\r\n\r\n");
      EXPECT_NE(answer.find("[DONE]\r\n0\r\n\r\n"), std::string::npos) << answer;
    }
  }
}

TEST(HttpServerTest, AReplysCallsRunInTheOrderInWhichTheyWereMade) {
  Mutex mutex;
  CondVar changed;
  std::shared_ptr<HttpReply> given;
  bool is_done = false;
  auto server = *HttpServer::Start({}, [&](HttpRequest, std::shared_ptr<HttpReply> reply) {
    reply->BeginStream("text/plain");
    MutexLock lock(mutex);
    given = std::move(reply);
    changed.NotifyAll();
    while (!is_done) changed.Wait(mutex);  // the other thread's calls come while this one's wait
  });
  RawClient client(server->address());
  client.Write(Post("/", ""));
  {
    MutexLock lock(mutex);
    while (given == nullptr) changed.Wait(mutex);
    given->StreamPiece("piece");
    given->EndStream();
    given.reset();
    is_done = true;
    changed.NotifyAll();
  }
  const std::string answer = client.ReadTo("0\r\n\r\n");
  EXPECT_NE(answer.find("5\r\npiece\r\n0\r\n\r\n"), std::string::npos) << answer;
}

TEST(HttpServerTest, AnAnswerThatNobodyTakesDoesNotKeepTheServer) {
  auto server = *HttpServer::Start({.idle_timeout = absl::Hours(1)},
                                   [](HttpRequest, std::shared_ptr<HttpReply> reply) {
                                     reply->Send(200, "text/plain", std::string(64 << 20, 'x'));
                                   });
  RawClient client(server->address());
  client.Write(Post("/", ""));
  client.ReadTo("xxx");
  server.reset();  // returns
}

TEST(HttpServerTest, UnknownTransferCodingsAreRefusedAndTheirBodiesAreNoRequests) {
  auto server = *HttpServer::Start({}, [](HttpRequest, std::shared_ptr<HttpReply> reply) {
    reply->Send(200, "text/plain", "never");
  });
  for (const char* coding : {"identity", "gzip, chunked", "chunked, gzip"}) {
    RawClient client(server->address());
    client.Write(absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ", coding,
                              "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    const std::string answer = client.ReadTo("no such text");
    EXPECT_NE(answer.find("HTTP/1.1 501"), std::string::npos) << coding << answer;
    EXPECT_EQ(answer.find("never"), std::string::npos) << coding << answer;
  }
}

TEST(HttpServerTest, AnOldClientIsNotToldToGoOn) {
  auto server = *HttpServer::Start({}, [](HttpRequest request, std::shared_ptr<HttpReply> reply) {
    reply->Send(200, "text/plain", request.body + "#");
  });
  RawClient client(server->address());
  client.Write("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi");
  const std::string answer = client.ReadTo("#");
  EXPECT_EQ(answer.find(" 100 "), std::string::npos) << answer;
  EXPECT_NE(answer.find("hi#"), std::string::npos) << answer;
}

TEST(HttpServerTest, TakenOrWrongAddressIsNamed) {
  const auto handler = [](HttpRequest, std::shared_ptr<HttpReply>) {};
  auto server = *HttpServer::Start({}, handler);
  const auto taken = HttpServer::Start({.listen = server->address()}, handler);
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(taken.status().message().find(server->address()), absl::string_view::npos);
  EXPECT_EQ(HttpServer::Start({.listen = "localhost:1"}, handler).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HttpServerTest, ConnectionsBeyondTheLimitGet503) {
  auto server =
      *HttpServer::Start({.connections_max = 1}, [](HttpRequest, std::shared_ptr<HttpReply> reply) {
        reply->Send(200, "text/plain", "fine#");
      });
  RawClient first(server->address());
  first.Write(Post("/", ""));
  first.ReadTo("#");
  RawClient second(server->address());
  EXPECT_NE(second.ReadTo("\r\n").find("503"), std::string::npos);
}

}  // namespace
}  // namespace cairn
