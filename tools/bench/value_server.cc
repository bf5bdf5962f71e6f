#include "tools/bench/value_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/status_macros.h"

namespace cairn::bench {
namespace {

constexpr std::uint32_t kLanes = 64;

sockaddr_in LoopbackAt(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

absl::Status SystemError(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

// A connected socket. All calls block, for kPatience at most.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static absl::StatusOr<std::unique_ptr<Connection>> Open(std::uint16_t port,
                                                          ChildProcess& server) {
    const sockaddr_in address = LoopbackAt(port);
    for (const double end = NowSeconds() + absl::ToDoubleSeconds(kPatience); NowSeconds() < end;) {
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (fd < 0) return SystemError("socket");
      auto made = std::make_unique<Connection>(fd);
      if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        const int one = 1;
        const timeval stuck = absl::ToTimeval(kPatience);
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &stuck, sizeof stuck);
        ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &stuck, sizeof stuck);
        return made;
      }
      if (!server.IsRunning()) break;
      ::poll(nullptr, 0, 5);
    }
    return absl::UnavailableError("the server did not start; its log: " + server.Log());
  }

  // Sends, or fills, all parts.
  absl::Status Send(std::array<iovec, 3> parts) { return Move(parts, ::writev, "send"); }
  absl::Status Receive(std::array<iovec, 3> parts) { return Move(parts, ::readv, "receive"); }

 private:
  using Call = ssize_t (*)(int, const iovec*, int);
  absl::Status Move(std::array<iovec, 3>& parts, Call call, const char* what) {
    for (std::size_t i = 0; i < parts.size();) {
      const ssize_t moved = call(fd_, &parts[i], static_cast<int>(parts.size() - i));
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) return SystemError(what);
      auto left = static_cast<std::size_t>(moved);
      for (; i < parts.size() && left >= parts[i].iov_len; ++i) left -= parts[i].iov_len;
      if (left == 0) continue;
      parts[i].iov_base = static_cast<char*>(parts[i].iov_base) + left;
      parts[i].iov_len -= left;
    }
    return absl::OkStatus();
  }

  const int fd_;
};

// What one of them says, and what it must answer; a value's bytes stand between head and tail.
struct Dialect {
  std::string (*key)(std::uint64_t number);
  std::string (*put_head)(const std::string& key, std::uint64_t bytes);
  std::string (*get)(const std::string& key);
  std::string (*got_head)(const std::string& key, std::uint64_t bytes);
  absl::string_view put_answer;
  absl::string_view got_tail;
};

std::string EightLetters(std::uint64_t number) { return absl::StrFormat("k%07d", number); }

constexpr Dialect kMemcached = {
    .key = EightLetters,
    .put_head =
        [](const std::string& key, std::uint64_t bytes) {
          return absl::StrCat("set ", key, " 0 0 ", bytes, "\r\n");
        },
    .get = [](const std::string& key) { return absl::StrCat("get ", key, "\r\n"); },
    .got_head =
        [](const std::string& key, std::uint64_t bytes) {
          return absl::StrCat("VALUE ", key, " 0 ", bytes, "\r\n");
        },
    .put_answer = "STORED\r\n",
    .got_tail = "\r\nEND\r\n"};

constexpr Dialect kRedis = {
    .key = EightLetters,
    .put_head =
        [](const std::string& key, std::uint64_t bytes) {
          return absl::StrCat("*3\r\n$3\r\nSET\r\n$8\r\n", key, "\r\n$", bytes, "\r\n");
        },
    .get =
        [](const std::string& key) {
          return absl::StrCat("*2\r\n$3\r\nGET\r\n$8\r\n", key, "\r\n");
        },
    .got_head = [](const std::string&,
                   std::uint64_t bytes) { return absl::StrCat("$", bytes, "\r\n"); },
    .put_answer = "+OK\r\n",
    .got_tail = "\r\n"};

iovec Part(std::string& text) { return {text.data(), text.size()}; }
iovec Part(absl::Span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

class ValueServer final : public Contender {
 public:
  ValueServer(std::string name, const Dialect& dialect, std::unique_ptr<ChildProcess> server,
              std::unique_ptr<Connection> connection, const Buffers& buffers)
      : name_(std::move(name)),
        dialect_(dialect),
        server_(std::move(server)),
        connection_(std::move(connection)),
        buffers_(buffers) {}

  std::string name() const override { return name_; }
  std::vector<pid_t> servers() const override { return {server_->pid()}; }
  absl::Status Prepare(std::uint64_t bytes) override {
    for (std::uint64_t i = 0; i < kWorkingSetBytes / bytes; ++i) {
      CAIRN_RETURN_IF_ERROR(Ask({Operation::kPut, bytes, 1}, i));
      CAIRN_RETURN_IF_ERROR(Answer({Operation::kPut, bytes, 1}, i));
    }
    return absl::OkStatus();
  }

  // Answers come in the order of questions.
  absl::Status Run(const Cell& cell, double until, Slice& slice) override {
    std::array<double, kLanes> started_at{};
    std::uint64_t answered = next_;
    for (double now = NowSeconds(); now < until || answered < next_; now = NowSeconds()) {
      for (; now < until && next_ < answered + cell.window; ++next_) {
        started_at[next_ % kLanes] = NowSeconds();
        CAIRN_RETURN_IF_ERROR(Ask(cell, next_));
      }
      CAIRN_RETURN_IF_ERROR(Answer(cell, answered));
      slice.Add(cell.bytes, NowSeconds() - started_at[answered % kLanes]);
      ++answered;
    }
    return absl::OkStatus();
  }

 private:
  std::string KeyAt(const Cell& cell, std::uint64_t number) const {
    return dialect_.key(Buffers::SourceOffset(number, cell.bytes) / cell.bytes);
  }
  absl::Status Ask(const Cell& cell, std::uint64_t number) {
    if (cell.operation == Operation::kGet) {
      std::string question = dialect_.get(KeyAt(cell, number));
      return connection_->Send({Part(question)});
    }
    std::string head = dialect_.put_head(KeyAt(cell, number), cell.bytes);
    std::string tail = "\r\n";
    return connection_->Send({Part(head), Part(buffers_.SourceOf(number, cell.bytes)), Part(tail)});
  }
  absl::Status Answer(const Cell& cell, std::uint64_t number) {
    if (cell.operation == Operation::kPut) {
      return Expect(std::string(dialect_.put_answer), {}, "");
    }
    const absl::Span<std::byte> target = buffers_.TargetOf(number, cell.bytes);
    CAIRN_RETURN_IF_ERROR(Expect(dialect_.got_head(KeyAt(cell, number), cell.bytes), target,
                                 std::string(dialect_.got_tail)));
    return CheckLanded(target, Buffers::SourceOffset(number, cell.bytes));
  }
  absl::Status Expect(const std::string& head, absl::Span<const std::byte> value,
                      const std::string& tail) {
    std::string got_head = head;
    std::string got_tail = tail;
    CAIRN_RETURN_IF_ERROR(connection_->Receive({Part(got_head), Part(value), Part(got_tail)}));
    if (got_head == head && got_tail == tail) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(name_, " answered ", got_head));
  }

  const std::string name_;
  const Dialect& dialect_;
  const std::unique_ptr<ChildProcess> server_;
  const std::unique_ptr<Connection> connection_;
  const Buffers buffers_;
  std::uint64_t next_ = 0;
};

// Free when asked; the server takes it right after.
absl::StatusOr<std::uint16_t> FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = LoopbackAt(0);
  socklen_t size = sizeof address;
  const bool is_bound = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const absl::Status status = is_bound ? absl::OkStatus() : SystemError("no free port");
  if (fd >= 0) ::close(fd);
  if (!status.ok()) return status;
  return ntohs(address.sin_port);
}

absl::StatusOr<std::unique_ptr<Contender>> Start(const std::string& name, const Dialect& dialect,
                                                 const ScratchFolder& folder,
                                                 const Buffers& buffers, std::uint16_t port,
                                                 std::vector<std::string> command) {
  if (command[0].empty()) return absl::NotFoundError(name + " is not installed");
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> server,
                         ChildProcess::Start({.command = std::move(command),
                                              .log_file = folder.PathOf(name + ".log")}));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::Open(port, *server));
  return std::unique_ptr<Contender>(std::make_unique<ValueServer>(name, dialect, std::move(server),
                                                                  std::move(connection), buffers));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Contender>> NewMemcached(const ScratchFolder& folder,
                                                        const Buffers& buffers,
                                                        const std::string& program) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint16_t port, FreePort());
  std::vector<std::string> command = {program, "-l", "127.0.0.1", "-p",   absl::StrCat(port),
                                      "-U",    "0",  "-m",        "2048", "-I",
                                      "64m",   "-t", "2"};
  if (::geteuid() == 0) command.insert(command.end(), {"-u", "root"});
  return Start("memcached", kMemcached, folder, buffers, port, std::move(command));
}

absl::StatusOr<std::unique_ptr<Contender>> NewRedis(const ScratchFolder& folder,
                                                    const Buffers& buffers,
                                                    const std::string& program) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint16_t port, FreePort());
  return Start("redis", kRedis, folder, buffers, port,
               {program, "--bind", "127.0.0.1", "--port", absl::StrCat(port), "--save", "",
                "--appendonly", "no"});
}

}  // namespace cairn::bench
