#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/transport_ucx/ucx_transport_impl.h"

// Links: how they begin (ucx_close.cc: how they end).
//
//   follower or dialler                    leader or listener
//     UCX endpoint ──── INTRODUCE{token a} ────►  a stranger, until its owner's own Connect names
//     it
//                  ◄─── WELCOME{token b} ───────  (a dialled one is welcome at once)
//     then each side addresses the other by the token it was told.
//
// Of two that Connect to each other the one with the smaller instance id follows, so that there is
// one pair of UCX endpoints between them. Over tcp it dials the leader's listener: UCX's other way,
// by worker addresses, keeps a closed endpoint's socket open for receiving, and bytes of a peer's
// put would land in memory that was given back [UCX 1.13.1, uct_tcp_ep_destroy].
namespace cairn {
namespace {

constexpr absl::Duration kIntroduceMax = absl::Seconds(10);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// "host:port", host numeric; an IPv6 host may stand in brackets.
absl::StatusOr<SocketAddress> ParseSocketAddress(absl::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(text, ": not host:port"));
  }
  std::string host(text.substr(0, colon));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port(text.substr(colon + 1));
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(text, ": not a numeric host:port"));
  }
  SocketAddress address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return address;
}

std::string PrintSocketAddress(const sockaddr_storage& storage) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  const socklen_t size = storage.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown";
  }
  return storage.ss_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                       : absl::StrCat(host, ":", port);
}

std::uint64_t NewToken() {
  std::uint64_t token = 0;
  while (token == 0) {
    const std::string random = RandomBytes(sizeof token);
    std::memcpy(&token, random.data(), sizeof token);
  }
  return token;
}

}  // namespace

// ---- beginning ----

Link* UcxTransportImpl::Find(EndpointId id) {
  const auto it = links_.find(id);
  return it == links_.end() ? nullptr : it->second.get();
}

Link* UcxTransportImpl::FindToken(std::uint64_t token) {
  const auto it = by_token_.find(token);
  return it == by_token_.end() ? nullptr : it->second;
}

absl::StatusOr<Link*> UcxTransportImpl::NewLink(LinkRole role) {
  if (links_.size() >= limits::kTransportEndpointsMax) {
    return absl::ResourceExhaustedError("too many endpoints");
  }
  auto link = std::make_unique<Link>();
  link->transport = this;
  link->id = EndpointId(++links_made_);
  link->role = role;
  link->token = NewToken();
  link->is_visible = role != LinkRole::kStranger;
  by_token_[link->token] = link.get();
  Link* const raw = link.get();
  links_.emplace(link->id, std::move(link));
  return raw;
}

absl::StatusOr<EndpointId> UcxTransportImpl::Connect(absl::string_view peer_address) {
  const std::optional<UcxAddress> address = DecodeUcxAddress(peer_address);
  if (!address.has_value() || address->profile != static_cast<std::uint8_t>(options_.profile)) {
    return absl::InvalidArgumentError(absl::StrCat("not an address of a ", profile(), " peer"));
  }
  if (options_.profile == UcxProfile::kPeers) {
    return absl::UnimplementedError("peers are dialled, not connected");
  }
  // A peer of this profile is on this host. Whoever names another place would have us knock there.
  if (options_.profile == UcxProfile::kSameHostOtherUser &&
      !absl::StartsWith(address->socket_address, "127.0.0.1:")) {
    return absl::InvalidArgumentError("the address is not one of this host");
  }
  if (address->instance == instance_) {
    return absl::InvalidArgumentError("a transport cannot connect to itself");
  }
  const bool follows = instance_ < address->instance;
  CAIRN_ASSIGN_OR_RETURN(Link* const link,
                         NewLink(follows ? LinkRole::kFollower : LinkRole::kLeader));
  const EndpointId id = link->id;
  link->peer_instance = address->instance;
  StartTimer(*link, kIntroduceMax);
  if (!follows) {
    // A stranger may have been here first; it is joined by the pump, not inside this call.
    AddEvent([this, instance = address->instance] { TryPair(instance); });
    Kick();
    return id;
  }
  const absl::Status connected = options_.profile == UcxProfile::kSameHost
                                     ? ConnectToWorker(*link, address->worker_address)
                                     : ConnectToSocket(*link, address->socket_address);
  if (!connected.ok()) {
    StopTimer(*link);
    by_token_.erase(link->token);
    links_.erase(id);
    return connected;
  }
  Introduce(*link, address->instance);
  return id;
}

absl::StatusOr<EndpointId> UcxTransportImpl::Dial(absl::string_view socket_address) {
  if (options_.profile != UcxProfile::kPeers) {
    return absl::UnimplementedError("this profile has no listeners to dial");
  }
  CAIRN_ASSIGN_OR_RETURN(Link* const link, NewLink(LinkRole::kDialler));
  const EndpointId id = link->id;
  const absl::Status connected = ConnectToSocket(*link, socket_address);
  if (!connected.ok()) {
    by_token_.erase(link->token);
    links_.erase(id);
    return connected;
  }
  StartTimer(*link, kIntroduceMax);
  Introduce(*link, "");
  return id;
}

absl::StatusOr<std::string> UcxTransportImpl::Listen(absl::string_view socket_address) {
  if (options_.profile != UcxProfile::kPeers) {
    return absl::UnimplementedError("this profile has no listeners");
  }
  if (serves_dialled_) return absl::FailedPreconditionError("listens already");
  CAIRN_ASSIGN_OR_RETURN(listening_at_, ListenAt(socket_address));
  serves_dialled_ = true;
  return listening_at_;
}

absl::StatusOr<std::string> UcxTransportImpl::ListenAt(absl::string_view socket_address) {
  CAIRN_ASSIGN_OR_RETURN(const SocketAddress address, ParseSocketAddress(socket_address));
  ucp_listener_params_t params{};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.sockaddr.addr = reinterpret_cast<const sockaddr*>(&address.storage);
  params.sockaddr.addrlen = address.size;
  params.conn_handler.arg = this;
  params.conn_handler.cb = [](ucp_conn_request_h request, void* self) {
    static_cast<UcxTransportImpl*>(self)->OnConnectionRequest(request);
  };
  ucp_listener_h listener = nullptr;
  ucs_status_t status = ucp_listener_create(worker(), &params, &listener);
  if (status == UCS_ERR_BUSY) {
    return absl::AlreadyExistsError(absl::StrCat(socket_address, ": address in use"));
  }
  if (status != UCS_OK) return UcxStatus(status, absl::StrCat("listen at ", socket_address));
  listener_ = UcxListener(listener);
  ucp_listener_attr_t bound{};
  bound.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  status = ucp_listener_query(listener, &bound);
  if (status != UCS_OK) return UcxStatus(status, "ucp_listener_query");
  return PrintSocketAddress(bound.sockaddr);
}

absl::Status UcxTransportImpl::ConnectToWorker(Link& link, const std::string& worker_address) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(worker_address.data());
  return CreateEndpoint(link, params);
}

absl::Status UcxTransportImpl::ConnectToSocket(Link& link, absl::string_view socket_address) {
  CAIRN_ASSIGN_OR_RETURN(const SocketAddress address, ParseSocketAddress(socket_address));
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr.addr = reinterpret_cast<const sockaddr*>(&address.storage);
  params.sockaddr.addrlen = address.size;
  return CreateEndpoint(link, params);
}

absl::Status UcxTransportImpl::CreateEndpoint(Link& link, ucp_ep_params_t& params) {
  params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;  // else a dead peer's requests never end
  params.err_handler.cb = OnFailed;
  params.err_handler.arg = &link;
  const ucs_status_t status = ucp_ep_create(worker(), &params, &link.ep);
  if (status != UCS_OK) {
    link.ep = nullptr;
    return UcxStatus(status, "ucp_ep_create");
  }
  by_ep_[link.ep] = &link;
  Kick();
  return absl::OkStatus();
}

void UcxTransportImpl::StartTimer(Link& link, absl::Duration after) {
  StopTimer(link);
  link.has_timer = true;
  link.timer = loop_.RunAt(loop_.Now() + after, [this, id = link.id] { OnTimer(id); });
}

void UcxTransportImpl::StopTimer(Link& link) {
  if (std::exchange(link.has_timer, false)) loop_.Cancel(link.timer);
}

void UcxTransportImpl::OnTimer(EndpointId id) {
  Link* const link = Find(id);
  if (link == nullptr) return;
  link->has_timer = false;
  ForceClose(*link, absl::UnavailableError(link->state == LinkState::kIntroducing
                                               ? "the peer did not introduce itself"
                                               : "the peer did not answer our goodbye"));
  Kick();
}

// ---- introductions ----

void UcxTransportImpl::Introduce(Link& link, const std::string& to_instance) {
  Introduction introduction;
  introduction.to_instance = to_instance;
  introduction.from_instance = instance_;
  introduction.token = link.token;
  if (options_.profile == UcxProfile::kSameHost) {
    introduction.worker_address = runtime_.worker_address;
  }
  SendControl(link, FrameKind::kIntroduce, 0, EncodeIntroduction(introduction),
              UCP_AM_SEND_FLAG_REPLY);
}

std::size_t UcxTransportImpl::StrangerCount() const {
  return static_cast<std::size_t>(
      std::count_if(links_.begin(), links_.end(), [](const auto& entry) {
        return entry.second->role == LinkRole::kStranger && !entry.second->is_visible;
      }));
}

// Inside UCX: the endpoint is made by the pump.
void UcxTransportImpl::OnConnectionRequest(ucp_conn_request_h request) {
  AddEvent([this, request] {
    if (is_ending_ || StrangerCount() >= limits::kTransportStrangersMax) {
      ucp_listener_reject(listener_.get(), request);
      return;
    }
    absl::StatusOr<Link*> link = NewLink(LinkRole::kStranger);
    if (!link.ok()) {
      ucp_listener_reject(listener_.get(), request);
      return;
    }
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
    params.conn_request = request;
    if (absl::Status made = CreateEndpoint(**link, params); !made.ok()) {
      return ForceClose(**link, made);
    }
    StartTimer(**link, kIntroduceMax);
  });
}

Link* UcxTransportImpl::StrangerOf(const Introduction& introduction, ucp_ep* reply_ep) {
  if (options_.profile != UcxProfile::kSameHost) {
    const auto it = by_ep_.find(reply_ep);
    const bool is_new = it != by_ep_.end() && it->second->role == LinkRole::kStranger &&
                        it->second->state == LinkState::kIntroducing && it->second->peer_token == 0;
    return is_new ? it->second : nullptr;
  }
  // Shared memory: our endpoint back to the peer. UCX pairs the n-th of each side, so one is made
  // for every introduction, wanted or not.
  if (StrangerCount() >= limits::kTransportStrangersMax) return nullptr;
  absl::StatusOr<Link*> link = NewLink(LinkRole::kStranger);
  if (!link.ok()) return nullptr;
  StartTimer(**link, kIntroduceMax);
  if (absl::Status made = ConnectToWorker(**link, introduction.worker_address); !made.ok()) {
    ForceClose(**link, made);
    return nullptr;
  }
  return *link;
}

void UcxTransportImpl::OnIntroduction(const Introduction& introduction, ucp_ep* reply_ep) {
  if (is_ending_) return;
  const bool is_dialled = introduction.to_instance.empty();
  if (is_dialled ? !serves_dialled_ : introduction.to_instance != instance_) {
    FromStranger();
    return;
  }
  Link* const link = StrangerOf(introduction, reply_ep);
  if (link == nullptr) {
    FromStranger();
    return;
  }
  link->peer_instance = introduction.from_instance;
  link->peer_token = introduction.token;
  if (!is_dialled) return TryPair(introduction.from_instance);
  link->is_visible = true;
  receiver_.OnAccepted(link->id);
  Open(*link);
}

void UcxTransportImpl::TryPair(const std::string& peer_instance) {
  if (is_ending_) return;
  Link* leader = nullptr;
  Link* stranger = nullptr;
  // The newest of each: an older one may be of an attempt that its owner has given up.
  for (auto& [id, link] : links_) {
    if (link->peer_instance != peer_instance || link->state != LinkState::kIntroducing) continue;
    if (link->role == LinkRole::kLeader && link->ep == nullptr) leader = link.get();
    if (link->role == LinkRole::kStranger && link->peer_token != 0) stranger = link.get();
  }
  if (leader == nullptr || stranger == nullptr) return;
  // UCX knows the stranger by its address, our owner knows the leader by its id: the stranger takes
  // over the leader's id and what it had to send.
  StopTimer(*leader);
  StopTimer(*stranger);
  std::unique_ptr<Link> merged = std::move(links_.extract(stranger->id).mapped());
  std::unique_ptr<Link> replaced = std::exchange(links_[leader->id], std::move(merged));
  by_token_.erase(replaced->token);
  stranger->id = replaced->id;
  stranger->role = LinkRole::kLeader;
  stranger->is_visible = true;
  stranger->outbox = std::move(replaced->outbox);
  stranger->queued_bytes = replaced->queued_bytes;
  stranger->bulks = replaced->bulks;
  stranger->why = replaced->why;
  stranger->is_why_set = replaced->is_why_set;
  Open(*stranger);
}

void UcxTransportImpl::OnTakenBack(const Introduction& introduction) {
  for (auto& [id, link] : links_) {
    if (link->peer_token != introduction.token) continue;
    if (link->peer_instance != introduction.from_instance) continue;
    ForceClose(*link, absl::UnavailableError("the peer closed"));
    return;
  }
}

void UcxTransportImpl::Open(Link& link) {
  StopTimer(link);
  link.state = LinkState::kOpen;
  if (link.role == LinkRole::kLeader || link.role == LinkRole::kStranger) {
    ByteWriter token;
    token.Put(link.token);
    SendControl(link, FrameKind::kWelcome, link.peer_token, std::move(token).Take(), 0);
  }
  while (!link.outbox.empty() && link.state == LinkState::kOpen) {
    Outgoing outgoing = std::move(link.outbox.front());
    link.outbox.pop_front();
    Transmit(link, std::move(outgoing));
  }
}

}  // namespace cairn
