#include "libs/transport_loopback/loopback_core.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"

namespace cairn {

std::uint64_t LoopbackCore::Open(Loop& loop, TransportReceiver& receiver) {
  MutexLock lock(mutex_);
  const std::uint64_t id = ++ports_made_;
  Port& port = ports_[id];
  port.loop = &loop;
  port.receiver = &receiver;
  return id;
}

LoopbackCore::Port* LoopbackCore::Live(std::uint64_t port) {
  const auto it = ports_.find(port);
  return it == ports_.end() || !it->second.is_live ? nullptr : &it->second;
}

LoopbackCore::End* LoopbackCore::Find(std::uint64_t port, EndpointId end) {
  Port* const live = Live(port);
  if (live == nullptr) return nullptr;
  const auto it = live->ends.find(end);
  return it == live->ends.end() ? nullptr : &it->second;
}

absl::Duration LoopbackCore::Delay(absl::Duration low, absl::Duration high) {
  const auto low_nanos = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(low));
  const auto high_nanos = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(high));
  return absl::Nanoseconds(rng_.Between(low_nanos, std::max(low_nanos, high_nanos)));
}

// ---- what is on its way ----

void LoopbackCore::Enqueue(std::uint64_t port_id, Item item, absl::Duration delay, bool ordered) {
  Port* const port = Live(port_id);
  if (port == nullptr) return;
  Instant due = port->loop->Now() + delay;
  if (ordered) {
    const auto it = port->ends.find(item.end);
    if (it != port->ends.end()) it->second.last_due = due = std::max(due, it->second.last_due);
  }
  port->queue.emplace(std::make_pair(due, ++items_made_), std::move(item));
  if (due < port->armed) Wake(port_id, *port);
}

void LoopbackCore::Wake(std::uint64_t port_id, Port& port) {
  if (port.is_waking) return;
  port.is_waking = true;
  port.loop->Post([core = shared_from_this(), port_id] { core->Run(port_id); });
}

void LoopbackCore::Run(std::uint64_t port_id) {
  Item item;
  Calls calls;
  TransportReceiver* receiver = nullptr;
  bool announces = false;
  {
    MutexLock lock(mutex_);
    Port* const port = Live(port_id);
    if (port == nullptr) return;
    receiver = port->receiver;
    port->is_waking = false;
    const Instant now = port->loop->Now();
    if (port->armed <= now) port->armed = Instant::Infinite();
    if (!port->queue.empty() && port->queue.begin()->first.first <= now) {
      item = std::move(port->queue.begin()->second);
      port->queue.erase(port->queue.begin());
      announces = item.kind == Kind::kBulk;
      if (!announces) RunItem(port_id, *port, item, calls);
    }
    if (!port->queue.empty()) {
      const Instant next = port->queue.begin()->first.first;
      if (next <= now) {
        Wake(port_id, *port);
      } else if (next < port->armed) {
        port->armed = next;
        port->loop->RunAt(next, [core = shared_from_this(), port_id] { core->Run(port_id); });
      }
    }
  }
  if (announces) Announce(port_id, std::move(item));
  for (auto& call : calls) call(*receiver);
}

void LoopbackCore::RunItem(std::uint64_t port_id, Port& port, Item& item, Calls& calls) {
  const auto it = port.ends.find(item.end);
  switch (item.kind) {
    case Kind::kAccepted:
      if (it == port.ends.end()) return;
      it->second.is_announced = true;
      calls.push_back([end = item.end](TransportReceiver& receiver) { receiver.OnAccepted(end); });
      return;
    case Kind::kMessage:
      if (it == port.ends.end()) return;
      it->second.queued_bytes -= item.body.size();
      if (it->second.is_closing) return;
      calls.push_back([end = item.end, type = item.type,
                       body = std::move(item.body)](TransportReceiver& receiver) {
        receiver.OnMessage(end, type, AsBytes(body));
      });
      return;
    case Kind::kSlice:
      RunSlice(port_id, item.bulk, calls);
      return;
    case Kind::kLandingEnded:
      --port.loans;
      calls.push_back([end = item.end, landing = item.landing,
                       status = item.status](TransportReceiver& receiver) {
        receiver.OnBulkLanded(end, landing, status);
      });
      return;
    case Kind::kSendEnded:
      --port.loans;
      calls.push_back([done = std::move(item.done),
                       status = item.status](TransportReceiver&) mutable { done(status); });
      return;
    case Kind::kClosed:
      FinishClose(port_id, port, item.end, item.status, calls);
      return;
    case Kind::kBulk:
      break;  // Announce
  }
}

// ---- ends ----

absl::StatusOr<EndpointId> LoopbackCore::NewEnd(Port& port, std::uint64_t peer_port) {
  if (port.ends.size() >= limits::kTransportEndpointsMax) {
    return absl::ResourceExhaustedError("too many endpoints");
  }
  const EndpointId end(++port.ends_made);
  port.ends[end].peer_port = peer_port;
  return end;
}

absl::StatusOr<EndpointId> LoopbackCore::Connect(std::uint64_t port_id, std::uint64_t target) {
  MutexLock lock(mutex_);
  Port* const port = Live(port_id);
  if (port == nullptr) return absl::UnavailableError("the process is gone");
  if (target == port_id) return absl::InvalidArgumentError("a transport cannot connect to itself");
  absl::StatusOr<EndpointId> end = NewEnd(*port, target);
  if (!end.ok()) return end;
  Port* const peer = Live(target);
  if (peer == nullptr) {
    TellClosed(port_id, *end, absl::UnavailableError("no such peer"),
               Delay(absl::ZeroDuration(), faults_.close_delay_max), /*ordered=*/true);
    return end;
  }
  // The newest that waits for us: an older one may be of an attempt that its owner has given up.
  for (auto it = peer->ends.rbegin(); it != peer->ends.rend(); ++it) {
    const End& other = it->second;
    if (other.peer_port != port_id || other.peer_end != EndpointId()) continue;
    if (other.is_closing || other.is_told) continue;
    Join(port_id, *end, target, it->first);
    break;
  }
  return end;
}

absl::StatusOr<EndpointId> LoopbackCore::Dial(std::uint64_t port_id,
                                              absl::string_view socket_address) {
  MutexLock lock(mutex_);
  Port* const port = Live(port_id);
  if (port == nullptr) return absl::UnavailableError("the process is gone");
  const auto listener = listeners_.find(socket_address);
  const std::uint64_t target = listener == listeners_.end() ? 0 : listener->second;
  absl::StatusOr<EndpointId> end = NewEnd(*port, target);
  if (!end.ok()) return end;
  Port* const peer = Live(target);
  absl::StatusOr<EndpointId> far =
      peer == nullptr || target == port_id
          ? absl::UnavailableError(absl::StrCat(socket_address, ": nobody listens"))
          : NewEnd(*peer, port_id);
  if (!far.ok()) {
    TellClosed(port_id, *end, absl::UnavailableError(far.status().message()),
               Delay(absl::ZeroDuration(), faults_.close_delay_max), /*ordered=*/true);
    return end;
  }
  peer->ends[*far].is_announced = false;
  Item accepted;
  accepted.kind = Kind::kAccepted;
  accepted.end = *far;
  Enqueue(target, std::move(accepted), Delay(), /*ordered=*/true);
  Join(port_id, *end, target, *far);
  return end;
}

absl::StatusOr<std::string> LoopbackCore::Listen(std::uint64_t port_id,
                                                 absl::string_view socket_address) {
  MutexLock lock(mutex_);
  Port* const port = Live(port_id);
  if (port == nullptr) return absl::UnavailableError("the process is gone");
  if (!port->listening.empty()) return absl::FailedPreconditionError("listens already");
  const std::size_t colon = socket_address.rfind(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(socket_address, ": not host:port"));
  }
  std::string bound(socket_address);
  if (socket_address.substr(colon) == ":0") {
    bound = absl::StrCat(socket_address.substr(0, colon), ":", 30000 + ++socket_ports_made_);
  }
  if (listeners_.contains(bound)) {
    return absl::AlreadyExistsError(absl::StrCat(bound, ": address in use"));
  }
  listeners_[bound] = port_id;
  port->listening = bound;
  return bound;
}

void LoopbackCore::Join(std::uint64_t port_a, EndpointId a, std::uint64_t port_b, EndpointId b) {
  End* const end_a = Find(port_a, a);
  End* const end_b = Find(port_b, b);
  CAIRN_CHECK(end_a != nullptr);
  CAIRN_CHECK(end_b != nullptr);
  end_a->peer_end = b;
  end_b->peer_end = a;
  for (End* end : {end_a, end_b}) {
    std::deque<Item> outbox = std::exchange(end->outbox, {});
    end->outbox_bytes = 0;
    for (Item& item : outbox) Forward(*end, std::move(item));
  }
}

void LoopbackCore::Forward(End& from, Item item) {
  End* const to = Find(from.peer_port, from.peer_end);
  if (to == nullptr) return;  // lost with its connection; we hear of the close
  item.end = from.peer_end;
  if (item.kind == Kind::kBulk) {
    const auto bulk = bulks_.find(item.bulk);
    if (bulk == bulks_.end()) return;
    bulk->second.to_port = from.peer_port;
    bulk->second.to_end = from.peer_end;
    ++to->bulks;
  }
  to->queued_bytes += item.body.size();
  Enqueue(from.peer_port, std::move(item), Delay(), /*ordered=*/true);
}

absl::Status LoopbackCore::SendItem(std::uint64_t port_id, EndpointId to, Item item) {
  End* const end = Find(port_id, to);
  if (end == nullptr || end->is_closing) return absl::NotFoundError("the endpoint is closed");
  End* const peer = Find(end->peer_port, end->peer_end);
  const std::size_t queued = peer == nullptr ? end->outbox_bytes : peer->queued_bytes;
  if (queued + item.body.size() > limits::kTransportQueuedBytesMax) {
    return absl::ResourceExhaustedError("too much is queued for this endpoint");
  }
  if (rng_.Chance(faults_.endpoint_failures_per_million, 1'000'000)) {
    BreakBoth(port_id, to, absl::UnavailableError("the connection broke"));
  }
  if (end->peer_end == EndpointId()) {
    end->outbox_bytes += item.body.size();
    end->outbox.push_back(std::move(item));
  } else {
    Forward(*end, std::move(item));
  }
  return absl::OkStatus();
}

absl::Status LoopbackCore::Send(std::uint64_t port, EndpointId to, MessageType type,
                                std::string body) {
  if (body.size() > limits::kMessageBytesMax || type.value() >= kMessageTypesMax) {
    return absl::InvalidArgumentError("message over the transport's limits");
  }
  Item item;
  item.kind = Kind::kMessage;
  item.type = type;
  item.body = std::move(body);
  MutexLock lock(mutex_);
  return SendItem(port, to, std::move(item));
}

// ---- ends of ends ----

void LoopbackCore::TellClosed(std::uint64_t port_id, EndpointId end_id, const absl::Status& why,
                              absl::Duration delay, bool ordered) {
  End* const end = Find(port_id, end_id);
  if (end == nullptr || end->is_told) return;
  end->is_told = true;
  Item item;
  item.kind = Kind::kClosed;
  item.end = end_id;
  item.status = why;
  Enqueue(port_id, std::move(item), delay, ordered || !end->is_announced);
}

void LoopbackCore::BreakBoth(std::uint64_t port_id, EndpointId end_id, const absl::Status& why) {
  End* const end = Find(port_id, end_id);
  if (end == nullptr) return;
  const auto delay = [&]() CAIRN_NO_THREAD_SAFETY {
    return Delay(absl::ZeroDuration(), faults_.close_delay_max);
  };
  TellClosed(end->peer_port, end->peer_end, why, delay(), /*ordered=*/false);
  TellClosed(port_id, end_id, why, delay(), /*ordered=*/false);
}

void LoopbackCore::Close(std::uint64_t port_id, EndpointId end_id) {
  MutexLock lock(mutex_);
  End* const end = Find(port_id, end_id);
  if (end == nullptr || end->is_closing) return;
  end->is_closing = true;
  TellClosed(end->peer_port, end->peer_end, absl::UnavailableError("the peer closed"),
             Delay(absl::ZeroDuration(), faults_.close_delay_max), /*ordered=*/true);
  TellClosed(port_id, end_id, absl::OkStatus(),
             Delay(absl::ZeroDuration(), faults_.close_delay_max), /*ordered=*/false);
}

void LoopbackCore::FinishClose(std::uint64_t port_id, Port& port, EndpointId end_id,
                               absl::Status why, Calls& calls) {
  const auto found = port.ends.find(end_id);
  if (found == port.ends.end()) return;
  const End& end = found->second;
  if (end.is_closing) why = absl::OkStatus();  // we wanted it, whoever came first
  TellClosed(end.peer_port, end.peer_end, absl::UnavailableError("the connection is gone"),
             Delay(absl::ZeroDuration(), faults_.close_delay_max), /*ordered=*/true);
  const absl::Status lost = absl::UnavailableError("the endpoint closed");
  std::vector<std::uint64_t> bulks;
  for (const auto& [id, bulk] : bulks_) {
    const bool sends = bulk.from_port == port_id && bulk.from_end == end_id;
    const bool lands = bulk.to_port == port_id && bulk.to_end == end_id;
    if (sends || lands) bulks.push_back(id);
  }
  for (const std::uint64_t id : bulks) EndBulk(id, lost);
  // What has ended, but was still on its way to us, comes first; the rest is lost.
  for (auto it = port.queue.begin(); it != port.queue.end();) {
    if (it->second.end != end_id) {
      ++it;
      continue;
    }
    Item item = std::move(it->second);
    it = port.queue.erase(it);
    if (item.kind == Kind::kLandingEnded || item.kind == Kind::kSendEnded) {
      RunItem(port_id, port, item, calls);
    }
  }
  port.ends.erase(found);
  calls.push_back([end_id, why](TransportReceiver& receiver) { receiver.OnClosed(end_id, why); });
}

void LoopbackCore::Kill(std::uint64_t port_id, Port& port, const absl::Status& why, Waste& waste) {
  for (auto it = bulks_.begin(); it != bulks_.end();) {
    Bulk& bulk = it->second;
    if (bulk.from_port != port_id && bulk.to_port != port_id) {
      ++it;
      continue;
    }
    DropBulkCounts(bulk);
    const absl::Duration delay = Delay(absl::ZeroDuration(), faults_.close_delay_max);
    Item item;
    item.status = why;
    if (bulk.from_port != port_id) {
      item.kind = Kind::kSendEnded;
      item.end = bulk.from_end;
      item.done = std::move(bulk.done);
      Enqueue(bulk.from_port, std::move(item), delay, /*ordered=*/false);
    } else if (bulk.is_landing) {
      item.kind = Kind::kLandingEnded;
      item.end = bulk.to_end;
      item.landing = bulk.landing.landing;
      Enqueue(bulk.to_port, std::move(item), delay, /*ordered=*/false);
    }
    waste.bulks.push_back(std::move(bulk));
    it = bulks_.erase(it);
  }
  port.is_live = false;
  port.loans = 0;
  for (auto& [key, item] : port.queue) waste.items.push_back(std::move(item));
  port.queue.clear();
  if (!port.listening.empty()) listeners_.erase(port.listening);
  for (auto& [other_id, other] : ports_) {
    for (auto& [end_id, end] : other.ends) {
      if (end.peer_port != port_id) continue;
      TellClosed(other_id, end_id, why, Delay(absl::ZeroDuration(), faults_.close_delay_max),
                 /*ordered=*/true);
    }
  }
}

void LoopbackCore::Destroy(std::uint64_t port_id) {
  Waste waste;
  MutexLock lock(mutex_);
  const auto it = ports_.find(port_id);
  if (it->second.is_live) {
    Kill(port_id, it->second, absl::UnavailableError("the peer closed"), waste);
  }
  ports_.erase(it);
}

}  // namespace cairn
