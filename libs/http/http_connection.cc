#include "libs/http/http_connection.h"

#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <deque>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"

namespace cairn {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::size_t kHeaderBytesMax = 16 * 1024;
// What is read and not yet parsed. Beast bounds heads and bodies, but neither a chunk's extension
// nor a trailer: a client could send one without end.
constexpr std::size_t kUnparsedBytesMax = 8 * kHeaderBytesMax;

std::string ErrorBody(int status, absl::string_view message) {
  const char* const type = status < 500 ? "invalid_request_error" : "server_error";
  return absl::StrCat(R"({"error":{"message":")", message, R"(","type":")", type,
                      R"(","param":null,"code":)", status, "}}\n");
}

class Connection : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<HttpShared> shared, tcp::socket socket)
      : shared_(std::move(shared)), stream_(std::move(socket)) {
    ++shared_->connections;
    shared_->open.insert(this);
    Error ignored;
    stream_.socket().non_blocking(true, ignored);  // WatchForLeaving's peek must never wait
  }
  ~Connection() override {
    --shared_->connections;
    shared_->open.erase(this);
  }
  bool has_output() const override { return !is_closed_ && (is_sending_ || !queue_.empty()); }
  void Drop() override {
    on_gone_ = nullptr;
    Close();
  }

  void Read() override {
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(shared_->options.body_bytes_max);
    ExpireSoon();
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](Error error, std::size_t) { self->OnHead(error); });
  }

  // The reply's calls, on the server's thread; `serial` names the request that they answer.
  void Send(std::uint64_t serial, int status, const std::string& type, std::string body) {
    if (serial != serial_ || is_answered_) return;
    is_answered_ = true;
    auto message =
        std::make_shared<http::response<http::string_body>>(static_cast<http::status>(status), 11);
    message->set(http::field::content_type, type);
    message->keep_alive(keep_alive_);
    if (is_head_) {
      message->content_length(body.size());
    } else {
      message->body() = std::move(body);
      message->prepare_payload();
    }
    ExpireSoon();
    is_sending_ = true;
    http::async_write(
        stream_, *message,
        [self = shared_from_this(), message](Error error, std::size_t) { self->OnWritten(error); });
  }
  void BeginStream(std::uint64_t serial, const std::string& type) {
    if (serial != serial_ || is_answered_) return;
    is_answered_ = true;
    is_streaming_ = true;
    Queue(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: ", type, "\r\nCache-Control: no-cache\r\n",
                       knows_chunks_ ? "Transfer-Encoding: chunked\r\n" : "",
                       keep_alive_ ? "" : "Connection: close\r\n", "\r\n"));
    WatchForLeaving();
  }
  void StreamPiece(std::uint64_t serial, const std::string& bytes) {
    if (serial != serial_ || !is_streaming_ || bytes.empty() || is_head_) return;
    Queue(knows_chunks_ ? absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n") : bytes);
  }
  void EndStream(std::uint64_t serial) {
    if (serial != serial_ || !is_streaming_) return;
    is_streaming_ = false;
    if (knows_chunks_ && !is_head_) return Queue("0\r\n\r\n");
    if (queue_.empty()) OnWritten(Error());  // else the last piece's end does
  }
  void OnGone(std::uint64_t serial, absl::AnyInvocable<void()> on_gone) {
    if (serial != serial_) return on_gone();
    if (is_closed_) return on_gone();
    on_gone_ = std::move(on_gone);
  }
  void Abandoned(std::uint64_t serial) {
    if (is_streaming_) return Close();
    Send(serial, 500, "application/json", ErrorBody(500, "the request was dropped"));
  }
  void RefuseAndClose(int status, absl::string_view message) override {
    keep_alive_ = false;
    is_head_ = false;
    ++serial_;
    is_answered_ = false;
    Send(serial_, status, "application/json", ErrorBody(status, message));
  }
  void Close() {
    if (std::exchange(is_closed_, true)) return;
    Error ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
    shared_->StopIfFlushed();
    if (on_gone_) std::exchange(on_gone_, nullptr)();
  }

 private:
  void ExpireSoon() {
    stream_.expires_after(absl::ToChronoMilliseconds(shared_->options.idle_timeout));
  }
  void OnHead(Error error);
  void ReadBody();
  void OnRead(Error error);
  void OnWritten(Error error) {
    is_sending_ = false;
    on_gone_ = nullptr;
    if (error || !keep_alive_ || shared_->is_ending) return Close();
    Read();
  }
  // While an answer is being made, reading one byte tells when the client leaves. A client that
  // sends its next request early is told to wait by TCP: the byte stays in the buffer.
  void WatchForLeaving() {
    if (is_watching_) return;
    is_watching_ = true;
    stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this()](Error error) {
      self->is_watching_ = false;
      if (error || self->is_closed_) return;
      char byte;
      Error peek_error;
      const std::size_t n = self->stream_.socket().receive(asio::buffer(&byte, 1),
                                                           tcp::socket::message_peek, peek_error);
      if (peek_error == asio::error::would_block) return self->WatchForLeaving();
      if (peek_error || n == 0) self->Close();
    });
  }
  void Queue(std::string bytes) {
    if (is_closed_) return;
    queued_bytes_ += bytes.size();
    if (queued_bytes_ > limits::kHttpQueuedBytesMax) return Close();  // far too slow
    queue_.push_back(std::move(bytes));
    if (queue_.size() == 1) WriteNext();
  }
  void WriteNext() {
    ExpireSoon();
    asio::async_write(
        stream_, asio::buffer(queue_.front()),
        [self = shared_from_this()](Error error, std::size_t) { self->OnPieceWritten(error); });
  }
  void OnPieceWritten(Error error) {
    if (error) return Close();
    queued_bytes_ -= queue_.front().size();
    queue_.pop_front();
    stream_.expires_never();  // the next piece may take the engine a while
    if (!queue_.empty()) return WriteNext();
    if (!is_streaming_) OnWritten(Error());
  }

  const std::shared_ptr<HttpShared> shared_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kUnparsedBytesMax};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::uint64_t serial_ = 0;  // of the request being answered
  bool keep_alive_ = false;
  bool is_head_ = false;      // its answer has a head only
  bool knows_chunks_ = true;  // HTTP/1.0 does not: a stream's end is the connection's
  bool is_answered_ = false;
  bool is_sending_ = false;  // a whole answer
  bool is_streaming_ = false;
  bool is_watching_ = false;
  bool is_closed_ = false;
  absl::AnyInvocable<void()> on_gone_;
  std::deque<std::string> queue_;
  std::size_t queued_bytes_ = 0;
};

// Posts every call to the server's thread.
class Reply : public HttpReply {
 public:
  Reply(std::shared_ptr<HttpShared> shared, std::shared_ptr<Connection> connection,
        std::uint64_t serial)
      : shared_(std::move(shared)), connection_(std::move(connection)), serial_(serial) {}
  ~Reply() override {
    Post([connection = connection_, serial = serial_] { connection->Abandoned(serial); });
  }
  void OnGone(absl::AnyInvocable<void()> on_gone) override {
    Post([connection = connection_, serial = serial_,
          on_gone = std::make_shared<absl::AnyInvocable<void()>>(std::move(on_gone))] {
      connection->OnGone(serial, std::move(*on_gone));
    });
  }
  void Send(int status, absl::string_view type, std::string body) override {
    Post([connection = connection_, serial = serial_, status, type = std::string(type),
          body = std::move(body)]() mutable {
      connection->Send(serial, status, type, std::move(body));
    });
  }
  void BeginStream(absl::string_view type) override {
    Post([connection = connection_, serial = serial_, type = std::string(type)] {
      connection->BeginStream(serial, type);
    });
  }
  void StreamPiece(std::string bytes) override {
    Post([connection = connection_, serial = serial_, bytes = std::move(bytes)] {
      connection->StreamPiece(serial, bytes);
    });
  }
  void EndStream() override {
    Post([connection = connection_, serial = serial_] { connection->EndStream(serial); });
  }

 private:
  void Post(absl::AnyInvocable<void()> task) { shared_->Post(std::move(task)); }
  const std::shared_ptr<HttpShared> shared_;
  const std::shared_ptr<Connection> connection_;
  const std::uint64_t serial_;
};

void Connection::OnHead(Error error) {
  // Beast takes a body in a coding that it does not know for none, and the body for a request.
  if (!error && parser_->get().count(http::field::transfer_encoding) > 0 &&
      !beast::iequals(parser_->get()[http::field::transfer_encoding], "chunked")) {
    return RefuseAndClose(501, "a body may be chunked, in no other transfer coding");
  }
  if (error || parser_->is_done() || parser_->get().version() < 11 ||
      !beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    return error ? OnRead(error) : ReadBody();
  }
  static constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kContinue, sizeof kContinue - 1),
                    [self = shared_from_this()](Error failed, std::size_t) {
                      if (failed) return self->Close();
                      self->ReadBody();
                    });
}

void Connection::ReadBody() {
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](Error error, std::size_t) { self->OnRead(error); });
}

void Connection::OnRead(Error error) {
  if (error == http::error::header_limit) return RefuseAndClose(431, "the header is too large");
  if (error == http::error::body_limit) {
    return RefuseAndClose(
        413, absl::StrCat("the body is over ", shared_->options.body_bytes_max, " bytes"));
  }
  if (error == http::error::end_of_stream || error == beast::error::timeout) return Close();
  if (error) {
    if (error.category() == http::make_error_code(http::error::bad_method).category()) {
      return RefuseAndClose(400, "this is no HTTP/1.1 request");
    }
    return Close();
  }
  http::request<http::string_body> message = parser_->release();
  ++serial_;
  knows_chunks_ = message.version() >= 11;
  keep_alive_ = knows_chunks_ && message.keep_alive();
  is_head_ = message.method() == http::verb::head;
  is_answered_ = false;
  stream_.expires_never();  // the handler's time is not the client's
  HttpRequest request;
  request.method = std::string(message.method_string());
  const std::string target(message.target());
  request.path = target.substr(0, target.find('?'));
  request.body = std::move(message.body());
  WatchForLeaving();
  shared_->handler(std::move(request),
                   std::make_shared<Reply>(shared_, shared_from_this(), serial_));
}

}  // namespace

void HttpShared::Post(absl::AnyInvocable<void()> task) {
  MutexLock lock(mutex);
  // A reply may outlive the server. What is posted then would own its connection for ever.
  if (has_ended) return;
  tasks.push_back(std::move(task));
  if (tasks.size() == 1) asio::post(io, [this] { RunTasks(); });
}

void HttpShared::RunTasks() {
  std::deque<absl::AnyInvocable<void()>> now;
  {
    MutexLock lock(mutex);
    now.swap(tasks);
  }
  for (absl::AnyInvocable<void()>& task : now) task();
}

void HttpShared::StopIfFlushed() {
  if (!is_ending) return;
  for (const HttpConnection* connection : open) {
    if (connection->has_output()) return;
  }
  io.stop();
}

std::shared_ptr<HttpConnection> MakeHttpConnection(std::shared_ptr<HttpShared> shared,
                                                   tcp::socket socket) {
  return std::make_shared<Connection>(std::move(shared), std::move(socket));
}

}  // namespace cairn
