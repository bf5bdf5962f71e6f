#include "libs/http/http_server.h"

#include <utility>  // before Asio

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <set>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "libs/base/log.h"
#include "libs/base/mutex.h"
#include "libs/base/status_macros.h"
#include "libs/http/http_connection.h"

namespace cairn {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::chrono::milliseconds kRetryAccept{100};  // when out of descriptors
constexpr std::chrono::seconds kFlushMax{2};            // of answers, when the server ends

absl::StatusOr<tcp::endpoint> ParseAddress(std::string text) {
  if (const std::size_t bracket = text.rfind("]:"); !text.empty() && text[0] == '[') {
    if (bracket != std::string::npos) text = text.substr(1, bracket - 1) + text.substr(bracket + 1);
  }
  const std::size_t colon = text.rfind(':');
  int port = -1;
  Error error;
  if (colon != std::string::npos && absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 0 &&
      port <= 65535) {
    const auto address = asio::ip::make_address(text.substr(0, colon), error);
    if (!error) return tcp::endpoint(address, static_cast<std::uint16_t>(port));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no numeric address with a port, such as 127.0.0.1:8000"));
}

}  // namespace

struct HttpServer::State {
  State() : acceptor(shared->io), retry(shared->io) {}

  absl::Status Bind(const std::string& listen) {
    CAIRN_ASSIGN_OR_RETURN(const tcp::endpoint endpoint, ParseAddress(listen));
    Error error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", listen, ": ", error.message()));
    }
    const tcp::endpoint bound = acceptor.local_endpoint(error);
    address = absl::StrCat(bound.address().to_string(), ":", bound.port());
    return absl::OkStatus();
  }

  void Accept() {
    acceptor.async_accept([this](Error error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return Rest(error);
      auto connection = MakeHttpConnection(shared, std::move(socket));
      if (shared->connections > shared->options.connections_max) {
        connection->RefuseAndClose(503, "too many connections");
      } else {
        connection->Read();
      }
      Accept();
    });
  }

  // Out of descriptors, or of memory: the next try would fail at once, and the one after it.
  void Rest(const Error& error) {
    static LogLimiter limiter(absl::Seconds(10));
    if (std::uint64_t held = 0; limiter.Admit(&held)) {
      LogEvent(LogLevel::kError, "accept_failed")
          .With("http", address)
          .With("error", error.message())
          .With("held_back", held);
    }
    retry.expires_after(kRetryAccept);
    retry.async_wait([this](Error stopped) {
      if (!stopped) Accept();
    });
  }

  std::shared_ptr<HttpShared> shared = std::make_shared<HttpShared>();
  tcp::acceptor acceptor;
  asio::steady_timer retry;
  std::string address;
  std::thread thread;
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Options& options,
                                                              HttpHandler handler) {
  auto state = std::make_unique<State>();
  state->shared->options = options;
  state->shared->handler = std::move(handler);
  CAIRN_RETURN_IF_ERROR(state->Bind(options.listen));
  state->Accept();
  State* const running = state.get();
  state->thread = std::thread([running] { running->shared->io.run(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
  HttpShared& shared = *state_->shared;
  // Behind what replies have posted: an answer that was given goes out, if its client takes it.
  asio::steady_timer patience(shared.io);
  shared.Post([&shared, &patience] {
    shared.is_ending = true;
    patience.expires_after(kFlushMax);
    patience.async_wait([&shared](Error cancelled) {
      if (!cancelled) shared.io.stop();
    });
    shared.StopIfFlushed();
  });
  state_->thread.join();
  shared.is_ending = false;  // from here on nothing may stop `io`
  patience.cancel();
  // Waiting handlers own their connections, and a connection owns what holds the handlers: run them
  // with an error each, or that circle would never end.
  Error ignored;
  state_->acceptor.close(ignored);
  state_->retry.cancel();
  shared.io.restart();
  const std::set<HttpConnection*> open = shared.open;
  for (HttpConnection* connection : open) connection->Drop();
  shared.io.poll();
  {
    MutexLock lock(shared.mutex);
    shared.has_ended = true;
  }
  shared.io.restart();
  shared.io.poll();  // what replies have posted meanwhile
}

const std::string& HttpServer::address() const { return state_->address; }

}  // namespace cairn
