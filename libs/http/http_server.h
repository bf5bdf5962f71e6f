#ifndef CAIRN_LIBS_HTTP_HTTP_SERVER_H_
#define CAIRN_LIBS_HTTP_HTTP_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cairn {

struct HttpRequest {
  std::string method;
  std::string path;  // without the query
  std::string body;
};

// HttpReply is the answer to one request, made from any thread: either Send once, or BeginStream,
// any number of StreamPiece, and EndStream. Nothing blocks: bytes are queued for the server's
// thread. A reply that is dropped unanswered sends 500. If the client goes away, or takes nothing
// for the idle timeout, `on_gone` is called once (on the server's thread), and what is sent
// afterwards is dropped.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void OnGone(absl::AnyInvocable<void()> on_gone) = 0;
  virtual void Send(int status, absl::string_view content_type, std::string body) = 0;
  virtual void BeginStream(absl::string_view content_type) = 0;
  virtual void StreamPiece(std::string bytes) = 0;
  virtual void EndStream() = 0;
};
using HttpHandler = absl::AnyInvocable<void(HttpRequest, std::shared_ptr<HttpReply>)>;

// HttpServer speaks HTTP/1.1 (Boost.Beast inside) on one address, with one thread of its own. The
// handler is called on that thread and must not block. A client of HTTP/1.0 gets its answer and
// then the connection's end; HEAD gets the head of what GET would get; who expects 100 is told to
// go on.
//
// Limits: connections, header (16 KiB) and body sizes, and idle time are bounded: at a limit the
//         client gets 503, 431, 413 or is closed. At most limits::kHttpQueuedBytesMax wait for a
//         slow client; beyond, it is gone.
class HttpServer {
 public:
  struct Options {
    std::string listen = "127.0.0.1:0";  // numeric host
    std::uint32_t connections_max = 256;
    std::uint64_t body_bytes_max = 16 << 20;
    absl::Duration idle_timeout = absl::Seconds(30);
  };
  // Binds and starts. UNAVAILABLE names an address that is taken; INVALID_ARGUMENT one that is
  // none.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const Options& options,
                                                           HttpHandler handler);
  // Answers that were given go out, for two seconds at most; then closes every connection and joins
  // the thread. Replies may outlive it and then go nowhere.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens: "127.0.0.1:41234".
  const std::string& address() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_HTTP_HTTP_SERVER_H_
