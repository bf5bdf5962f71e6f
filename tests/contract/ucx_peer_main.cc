// A process of its own that speaks transport_ucx, for tests that kill or stop one, and raw UCX, for
// tests of a hostile one. Started by process_contract_test; talks hex lines over stdin and stdout.
//
//   ucx_peer shm|tcp|dial ADDRESS_HEX              dial: ADDRESS_HEX is the listener's host:port
// prints its own address, connects, then does what messages tell it:
//   "echo X"    answers "X"
//   "bulk N"    sends N bytes of 'b' as a bulk with header "from peer"
// and lands every bulk it is sent. It ends when its stdin does.
//
//   ucx_peer raw-shm|raw-tcp|raw-dial ADDRESS_HEX KIND    KIND: see Attack
#include <netinet/in.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/hex.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/transport_ucx/ucx_frame.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "libs/transport_ucx/ucx_worker.h"

namespace cairn {
namespace {

class Peer : public TransportReceiver {
 public:
  explicit Peer(AsioLoop& loop) : loop_(loop) {}
  void Own(UcxTransport* transport) { transport_ = transport; }
  void OnAccepted(EndpointId endpoint) override {}
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override {
    const std::string text(AsStringView(body));
    std::uint64_t bytes = 0;
    if (absl::StartsWith(text, "echo ")) {
      (void)transport_->Send(from, type, text.substr(5));
    } else if (absl::StartsWith(text, "bulk ") && absl::SimpleAtoi(text.substr(5), &bytes)) {
      sources_.emplace_back(bytes, 'b');
      (void)transport_->SendBulk(from, type, "from peer", AsBytes(sources_.back()),
                                 [](absl::Status) {});
    }
  }
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override {
    std::string& target = landings_[++landings_made_];
    target.resize(bytes);
    return Landing{LandingId(landings_made_),
                   absl::MakeSpan(reinterpret_cast<std::byte*>(target.data()), bytes)};
  }
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override {
    landings_.erase(landing.value());
  }
  void OnClosed(EndpointId endpoint, const absl::Status& why) override { loop_.Stop(); }

 private:
  AsioLoop& loop_;
  UcxTransport* transport_ = nullptr;
  std::vector<std::string> sources_;
  std::map<std::uint64_t, std::string> landings_;
  std::uint64_t landings_made_ = 0;
};

UcxProfile ProfileOf(const std::string& way) {
  if (absl::EndsWith(way, "shm")) return UcxProfile::kSameHost;
  return absl::EndsWith(way, "tcp") ? UcxProfile::kSameHostOtherUser : UcxProfile::kPeers;
}

int RunPeer(const std::string& way, const std::string& address) {
  AsioLoop loop;
  Peer peer(loop);
  auto transport = UcxTransport::Create(loop, peer, {.profile = ProfileOf(way)});
  CAIRN_CHECK(transport.ok()) << transport.status();
  peer.Own(transport->get());
  std::printf("%s\n", ToHex((*transport)->Address()).c_str());
  std::fflush(stdout);
  const auto endpoint =
      way == "dial" ? (*transport)->Dial(address) : (*transport)->Connect(address);
  CAIRN_CHECK(endpoint.ok()) << endpoint.status();
  CAIRN_CHECK(loop.WatchReadable(STDIN_FILENO,
                                 [&] {
                                   char byte = 0;
                                   if (::read(STDIN_FILENO, &byte, 1) == 0) loop.Stop();
                                 })
                  .ok());
  loop.Run();
  transport->reset();
  return 0;
}

// ---- raw UCX ----

class RawPeer {
 public:
  explicit RawPeer(const std::string& way) : way_(way) {
    auto runtime = MakeUcxRuntime({.profile = ProfileOf(way)});
    CAIRN_CHECK(runtime.ok()) << runtime.status();
    runtime_ = *std::move(runtime);
  }
  ~RawPeer() {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    Wait(ucp_ep_close_nbx(ep_, &params));
  }

  void ConnectTo(const std::string& address) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t) {
      static_cast<RawPeer*>(self)->has_failed_ = true;
    };
    params.err_handler.arg = this;
    sockaddr_in socket{};
    std::optional<UcxAddress> decoded;
    if (way_ == "raw-shm") {
      decoded = DecodeUcxAddress(address);
      CAIRN_CHECK(decoded.has_value());
      params.field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
      params.address = reinterpret_cast<const ucp_address_t*>(decoded->worker_address.data());
    } else {
      std::string at = address;
      if (way_ == "raw-tcp") at = DecodeUcxAddress(address)->socket_address;
      socket.sin_family = AF_INET;
      socket.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socket.sin_port =
          htons(static_cast<std::uint16_t>(std::atoi(at.substr(at.rfind(':') + 1).c_str())));
      params.field_mask |= UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
      params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
      params.sockaddr.addr = reinterpret_cast<const sockaddr*>(&socket);
      params.sockaddr.addrlen = sizeof socket;
    }
    CAIRN_CHECK(ucp_ep_create(runtime_.worker.get(), &params, &ep_) == UCS_OK);
  }

  void Send(unsigned id, const std::string& header, const std::string& body, unsigned flags,
            bool waits = true) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = flags;
    const ucs_status_ptr_t request =
        ucp_am_send_nbx(ep_, id, header.data(), header.size(), body.data(), body.size(), &params);
    if (waits) Wait(request);
  }

  void Flush() {
    ucp_request_param_t params{};
    Wait(ucp_ep_flush_nbx(ep_, &params));
  }
  void ProgressABit() {
    for (int i = 0; i < 200; ++i) ucp_worker_progress(runtime_.worker.get());
  }
  std::size_t header_bytes_max() const {
    ucp_worker_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    CAIRN_CHECK(ucp_worker_query(runtime_.worker.get(), &attributes) == UCS_OK);
    return attributes.max_am_header;
  }

 private:
  void Wait(ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS && !has_failed_) {
      ucp_worker_progress(runtime_.worker.get());
    }
    ucp_request_free(request);
  }

  const std::string way_;
  UcxRuntime runtime_;
  ucp_ep_h ep_ = nullptr;
  bool has_failed_ = false;
};

std::string FrameOf(FrameKind kind, std::uint64_t token) {
  FrameHeader header;
  header.kind = kind;
  header.token = token;
  return EncodeFrameHeader(header, "");
}

// Everything that a peer without a session can think of, once each.
void Attack(RawPeer& raw, const std::string& kind) {
  constexpr unsigned kEager = UCP_AM_SEND_FLAG_EAGER;
  constexpr unsigned kRendezvous = UCP_AM_SEND_FLAG_RNDV;
  const std::string big(64 << 20, 'x');
  if (kind == "ids") {
    for (const unsigned id : {0u, 1u, 31u, 63u, 64u, 127u, 1000u, 40000u, 65535u}) {
      for (const unsigned flags : {kEager, kRendezvous}) {
        raw.Send(id, "rubbish", std::string(100, 'r'), flags);
        raw.Send(id, "", "r", flags);
      }
    }
  } else if (kind == "eager64m") {
    raw.Send(0, FrameOf(FrameKind::kMessage, 1), big, kEager);
    raw.Send(0, "", big, kEager);
  } else if (kind == "bulk64m") {
    raw.Send(0, FrameOf(FrameKind::kBulk, 1), big, kRendezvous);
    raw.Send(0, FrameOf(FrameKind::kMessage, 1), big, kRendezvous);
  } else if (kind == "headers") {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{19}, std::size_t{20},
                                    std::size_t{4117}, raw.header_bytes_max()}) {
      raw.Send(0, std::string(bytes, 'h'), "body", kEager);
      std::string header = FrameOf(FrameKind::kMessage, 7);
      header.resize(bytes, 'h');
      raw.Send(0, header, "body", kEager);
      raw.Send(0, header, std::string(100'000, 'b'), kRendezvous);
    }
  } else if (kind == "kinds") {
    for (int k = 0; k < 256; ++k) {
      raw.Send(0, FrameOf(static_cast<FrameKind>(k), static_cast<std::uint64_t>(k % 2)), "body",
               kEager);
      raw.Send(0, FrameOf(static_cast<FrameKind>(k), 1), std::string(70'000, 'b'), kRendezvous);
    }
    Introduction stranger;
    stranger.from_instance = std::string(kInstanceBytes, 'i');
    stranger.to_instance = std::string(kInstanceBytes, 't');
    stranger.token = 9;
    for (int i = 0; i < 200; ++i) {
      raw.Send(0, FrameOf(FrameKind::kIntroduce, 0), EncodeIntroduction(stranger), kEager);
    }
  } else {
    CAIRN_CHECK(kind == "half") << kind;
    const std::string word = "a word";
    const std::string message = FrameOf(FrameKind::kMessage, 1);
    const std::string bulk = FrameOf(FrameKind::kBulk, 1);
    raw.Send(0, message, word, kEager);
    raw.Send(0, bulk, big, kRendezvous, /*waits=*/false);
    raw.Send(0, message, big, kEager, /*waits=*/false);
    raw.ProgressABit();
    std::printf("half\n");
    std::fflush(stdout);
    ::_exit(0);  // in the middle of both
  }
  raw.Flush();
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();
  if (argc < 3) return 2;
  const std::string way = argv[1];
  const std::string address = *cairn::FromHex(argv[2]);
  if (!absl::StartsWith(way, "raw-")) return cairn::RunPeer(way, address);
  cairn::RawPeer raw(way);
  raw.ConnectTo(address);
  cairn::Attack(raw, argv[3]);
  std::printf("done\n");
  return 0;
}
