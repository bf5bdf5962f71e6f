#ifndef CAIRN_LIBS_HTTP_HTTP_CONNECTION_H_
#define CAIRN_LIBS_HTTP_HTTP_CONNECTION_H_

#include <utility>  // before Asio

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <set>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "libs/base/mutex.h"
#include "libs/http/http_server.h"

namespace cairn {

// HttpConnection is one client of an HttpServer: it reads a request, hands it out, writes what the
// reply gives, and reads the next one. It lives as long as something is awaited from its socket, or
// a reply holds it. Threads: all calls on the server's (the one that runs `io`), or after its end.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // The first request; the others follow by themselves.
  virtual void Read() = 0;
  // Answers with an error, whatever was asked, and closes.
  virtual void RefuseAndClose(int status, absl::string_view message) = 0;
  // The server goes: closes, and tells nobody.
  virtual void Drop() = 0;
  // Part of an answer that was given has not been written yet.
  virtual bool has_output() const = 0;
};

// HttpShared is what all connections of a server share. Lives as long as the last of them or of
// their replies.
struct HttpShared {
  HttpServer::Options options;
  HttpHandler handler;
  boost::asio::io_context io{1};
  bool is_ending = false;          // server's thread; answers under way go out, nothing else
  std::uint32_t connections = 0;   // server's thread
  std::set<HttpConnection*> open;  // server's thread; those whose handlers wait in `io`
  Mutex mutex;
  bool has_ended CAIRN_GUARDED_BY(mutex) = false;  // nothing runs in `io` any more
  // What replies have asked for, first come first. (Asio keeps what its own thread posts apart for
  // a while, so what another thread posts later may run earlier.)
  std::deque<absl::AnyInvocable<void()>> tasks CAIRN_GUARDED_BY(mutex);

  // Runs `task` on the server's thread, behind those of before; drops it if the server has ended.
  // From any thread.
  void Post(absl::AnyInvocable<void()> task);
  // Stops `io` if the server is ending and every answer that was given has gone out.
  void StopIfFlushed();

 private:
  void RunTasks();
};

std::shared_ptr<HttpConnection> MakeHttpConnection(std::shared_ptr<HttpShared> shared,
                                                   boost::asio::ip::tcp::socket socket);

}  // namespace cairn
#endif  // CAIRN_LIBS_HTTP_HTTP_CONNECTION_H_
