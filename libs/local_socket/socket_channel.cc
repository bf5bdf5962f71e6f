#include "libs/local_socket/socket_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"

namespace cairn {
namespace {

constexpr std::size_t kFrameHeaderBytes = 8;
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kReadsPerWake = 16;  // then other tasks of the loop get their turn
constexpr absl::Duration kHalfMessageMax = absl::Seconds(5);
constexpr std::size_t kGrantsAtOnceMax = 2 * limits::kLocalGrantsMax;
static_assert(kGrantsAtOnceMax >= 253, "SCM_MAX_FD: what one recvmsg can hand over");

// A message on its way out: `bytes` from `sent` on are still to go; descriptors go with the first.
struct Frame {
  std::string bytes;
  std::size_t sent = 0;
  std::vector<MemoryGrant> grants;
};

absl::Status ClosedStatus(absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("the local channel closed: ", why));
}

}  // namespace

struct SocketChannel::State : std::enable_shared_from_this<SocketChannel::State> {
  State(Loop& l, OwnedFd s, GrantLimits g) : loop(l), socket(std::move(s)), grant_limits(g) {}

  Loop& loop;
  OwnedFd socket;
  const GrantLimits grant_limits;
  absl::AnyInvocable<void(Message)> on_message;
  absl::AnyInvocable<void(absl::Status)> on_closed;
  bool is_live = true;  // the channel exists
  bool is_started = false;
  bool is_broken = false;  // an end has been found; on_closed is called or on its way
  bool waits_to_write = false;
  absl::Status why;

  std::string received;  // from the start of a frame on
  std::deque<MemoryGrant> received_grants;
  TimerId half_timer;
  bool has_half_timer = false;

  std::deque<Frame> frames;
  std::size_t queued_bytes = 0;

  absl::Status WatchReads();
  void OnReadable();
  // Reads once. False if there is nothing more to read now, or the channel is broken.
  bool ReadOnce();
  bool TakeGrants(msghdr& header);
  // Delivers every whole frame; false if the channel ended or broke.
  bool Deliver();
  // True if what is left of `received` has just the descriptors that it claims.
  bool ClaimsItsGrants() const;
  void WatchHalfMessage();
  // Writes what it can; false if the channel broke.
  bool Flush();
  // Ends the channel: calls on_closed now, or from a task of its own if `from_call`.
  void Break(const absl::Status& status, bool from_call);
  void Finish();
};

absl::Status SocketChannel::State::WatchReads() {
  return loop.WatchReadable(socket.get(), [self = shared_from_this()] { self->OnReadable(); });
}

void SocketChannel::State::OnReadable() {
  const std::shared_ptr<State> self = shared_from_this();
  for (int i = 0; i < kReadsPerWake && is_live && !is_broken; ++i) {
    if (!ReadOnce() || !Deliver()) break;
  }
  if (is_live && !is_broken) WatchHalfMessage();
}

bool SocketChannel::State::TakeGrants(msghdr& header) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      received_grants.push_back(MemoryGrant::OfDescriptor(fd));
    }
  }
  // A frame's own and the next one's may be here at once; whoever sends more is no peer of ours.
  return (header.msg_flags & MSG_CTRUNC) == 0 &&
         received_grants.size() <= 2 * grant_limits.received_max;
}

bool SocketChannel::State::ReadOnce() {
  const std::size_t had = received.size();
  received.resize(had + kReadBytes);
  iovec piece{received.data() + had, kReadBytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kGrantsAtOnceMax)> control;
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  // Descriptors beyond this never become ours: the kernel drops them, and says so.
  header.msg_controllen = CMSG_SPACE(sizeof(int) * 2 * grant_limits.received_max);
  const ssize_t got = ::recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  const int error = errno;
  received.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got > 0) {
    if (TakeGrants(header)) return true;
    Break(absl::InvalidArgumentError("the peer sent too many descriptors"), /*from_call=*/false);
    return false;
  }
  if (got < 0 && (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)) return false;
  Break(ClosedStatus(got == 0 ? "the peer is gone" : std::strerror(error)), /*from_call=*/false);
  return false;
}

bool SocketChannel::State::Deliver() {
  std::size_t at = 0;
  while (received.size() - at >= kFrameHeaderBytes) {
    ByteReader reader(absl::string_view(received).substr(at));
    const auto body_bytes = reader.Get<std::uint32_t>();
    const auto grants = reader.Get<std::uint32_t>();
    if (body_bytes > limits::kLocalMessageBytesMax || grants > grant_limits.received_max) {
      Break(absl::InvalidArgumentError("the peer sent a message over the limits"),
            /*from_call=*/false);
      return false;
    }
    if (reader.left() < body_bytes) break;
    if (received_grants.size() < grants) {
      Break(absl::InvalidArgumentError("the peer sent fewer descriptors than it said"),
            /*from_call=*/false);
      return false;
    }
    Message message;
    message.body = std::string(reader.GetBytes(body_bytes));
    for (std::uint32_t i = 0; i < grants; ++i) {
      message.grants.push_back(std::move(received_grants.front()));
      received_grants.pop_front();
    }
    at += kFrameHeaderBytes + body_bytes;
    on_message(std::move(message));
    if (!is_live || is_broken) return false;
  }
  received.erase(0, at);
  if (ClaimsItsGrants()) return true;
  Break(absl::InvalidArgumentError("the peer sent descriptors that no message claims"),
        /*from_call=*/false);
  return false;
}

bool SocketChannel::State::ClaimsItsGrants() const {
  // Those of a frame come with its first byte, and never together with an earlier frame's.
  if (received.size() < kFrameHeaderBytes) {
    return received_grants.size() <= (received.empty() ? 0 : grant_limits.received_max);
  }
  ByteReader reader(received);
  reader.Get<std::uint32_t>();
  return received_grants.size() == reader.Get<std::uint32_t>();
}

void SocketChannel::State::WatchHalfMessage() {
  if (received.empty() == !has_half_timer) return;
  if (received.empty()) {
    has_half_timer = false;
    loop.Cancel(half_timer);
    return;
  }
  has_half_timer = true;
  half_timer = loop.RunAt(loop.Now() + kHalfMessageMax, [self = shared_from_this()] {
    self->has_half_timer = false;
    if (self->is_live && !self->is_broken) {
      self->Break(absl::InvalidArgumentError("the peer left a message half sent"),
                  /*from_call=*/false);
    }
  });
}

bool SocketChannel::State::Flush() {
  while (!frames.empty()) {
    Frame& frame = frames.front();
    iovec piece{frame.bytes.data() + frame.sent, frame.bytes.size() - frame.sent};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * limits::kLocalGrantsMax)> control{};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (!frame.grants.empty()) {
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(sizeof(int) * frame.grants.size());
      cmsghdr* const part = CMSG_FIRSTHDR(&header);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(sizeof(int) * frame.grants.size());
      for (std::size_t i = 0; i < frame.grants.size(); ++i) {
        const int fd = frame.grants[i].fd();
        std::memcpy(CMSG_DATA(part) + i * sizeof fd, &fd, sizeof fd);
      }
    }
    const ssize_t sent = ::sendmsg(socket.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      if (errno == EINTR) continue;
      why = ClosedStatus(std::strerror(errno));
      return false;
    }
    frame.grants.clear();
    frame.sent += static_cast<std::size_t>(sent);
    queued_bytes -= static_cast<std::size_t>(sent);
    if (frame.sent == frame.bytes.size()) frames.pop_front();
  }
  return true;
}

void SocketChannel::State::Break(const absl::Status& status, bool from_call) {
  if (std::exchange(is_broken, true)) return;
  why = status;
  loop.Unwatch(socket.get());
  ::shutdown(socket.get(), SHUT_RDWR);  // the peer hears of it now, whenever our owner lets go
  frames.clear();
  received_grants.clear();
  if (!is_started) return;  // Start tells
  if (!from_call) return Finish();
  loop.Post([self = shared_from_this()] { self->Finish(); });
}

void SocketChannel::State::Finish() {
  if (has_half_timer) loop.Cancel(half_timer);
  has_half_timer = false;
  if (!is_live || !on_closed) return;
  auto closed = std::exchange(on_closed, nullptr);
  closed(why);
}

SocketChannel::SocketChannel(Loop& loop, OwnedFd socket, GrantLimits grants)
    : state_(std::make_shared<State>(loop, std::move(socket), grants)) {}

SocketChannel::~SocketChannel() {
  state_->is_live = false;
  if (state_->has_half_timer) state_->loop.Cancel(state_->half_timer);
  state_->loop.Unwatch(state_->socket.get());
  state_->socket = OwnedFd();
  state_->frames.clear();
  state_->received_grants.clear();
}

void SocketChannel::Start(absl::AnyInvocable<void(Message)> on_message,
                          absl::AnyInvocable<void(absl::Status)> on_closed) {
  State& state = *state_;
  CAIRN_CHECK(!state.is_started) << "started twice";
  state.is_started = true;
  state.on_message = std::move(on_message);
  state.on_closed = std::move(on_closed);
  if (state.is_broken) {
    state.loop.Post([self = state_] { self->Finish(); });
    return;
  }
  const absl::Status watched = state.waits_to_write ? absl::OkStatus() : state.WatchReads();
  if (!watched.ok()) state.Break(watched, /*from_call=*/true);
}

absl::Status SocketChannel::Send(Message message) {
  State& state = *state_;
  if (message.body.size() > limits::kLocalMessageBytesMax ||
      message.grants.size() > state.grant_limits.sent_max) {
    return absl::InvalidArgumentError("message over the local channel's limits");
  }
  if (state.is_broken) return state.why;
  if (state.queued_bytes + message.body.size() > limits::kLocalQueuedBytesMax) {
    state.Break(absl::ResourceExhaustedError("the peer does not read its channel"),
                /*from_call=*/true);
    return state.why;
  }
  ByteWriter writer;
  writer.Put(static_cast<std::uint32_t>(message.body.size()));
  writer.Put(static_cast<std::uint32_t>(message.grants.size()));
  writer.PutBytes(message.body);
  Frame frame;
  frame.bytes = std::move(writer).Take();
  frame.grants = std::move(message.grants);
  state.queued_bytes += frame.bytes.size();
  state.frames.push_back(std::move(frame));
  if (state.waits_to_write) return absl::OkStatus();
  if (!state.Flush()) {
    state.Break(absl::Status(state.why), /*from_call=*/true);
    return state.why;
  }
  if (state.frames.empty()) return absl::OkStatus();
  state.waits_to_write = true;
  const absl::Status watched = state.loop.WatchWritable(state.socket.get(), [self = state_] {
    if (!self->is_live || self->is_broken) return;
    if (!self->Flush()) return self->Break(absl::Status(self->why), /*from_call=*/false);
    if (!self->frames.empty()) return;
    self->waits_to_write = false;
    self->loop.Unwatch(self->socket.get());  // both watches: reading goes on with a new one
    if (!self->is_started) return;
    if (absl::Status s = self->WatchReads(); !s.ok()) self->Break(s, /*from_call=*/false);
  });
  if (!watched.ok()) state.Break(watched, /*from_call=*/true);
  return watched;
}

PeerProcess SocketChannel::peer() const {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  PeerProcess peer;
  if (::getsockopt(state_->socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    peer.uid = credentials.uid;
    peer.pid = credentials.pid;
  }
  return peer;
}

}  // namespace cairn
