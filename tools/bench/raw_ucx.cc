#include "tools/bench/raw_ucx.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <ucp/api/ucp.h>

#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "libs/base/status_macros.h"
#include "libs/transport_ucx/ucx_worker.h"

namespace cairn::bench {
namespace {

constexpr double kSpinSeconds = 50e-6;
constexpr int kSleepMillisMax = 100;
constexpr std::uint32_t kLanes = 64;

enum MessageId : unsigned { kGet = 1, kData = 2, kPut = 3, kStored = 4 };

// The header of every message.
struct Head {
  std::uint64_t number = 0;
  std::uint64_t offset = 0;  // in the server's memory
  std::uint64_t bytes = 0;
  std::uint64_t lane = 0;
};

sockaddr_in LoopbackAt(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// One process's end: a worker, one endpoint, and where bytes land.
class End {
 public:
  static absl::StatusOr<std::unique_ptr<End>> Create() {
    CAIRN_ASSIGN_OR_RETURN(UcxRuntime runtime, MakeUcxRuntime({.profile = UcxProfile::kPeers}));
    return std::unique_ptr<End>(new End(std::move(runtime)));
  }
  virtual ~End() {
    if (ep_ == nullptr) return;
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    ucs_status_ptr_t request = ucp_ep_close_nbx(ep_, &params);
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker());
    ucp_request_free(request);
  }

  ucp_worker_h worker() const { return runtime_.worker.get(); }
  const absl::Status& status() const { return status_; }
  void Fail(ucs_status_t status, const char* what) {
    if (status_.ok()) status_ = UcxStatus(status, what);
  }

  absl::Status Handle(MessageId id, ucp_am_recv_callback_t callback, void* argument) {
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = id;
    handler.cb = callback;
    handler.arg = argument;
    return UcxStatus(ucp_worker_set_am_recv_handler(worker(), &handler), "handler");
  }

  absl::Status Connect(ucp_ep_params_t params) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.arg = this;
    params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t status) {
      static_cast<End*>(self)->Fail(status, "the endpoint");
    };
    return UcxStatus(ucp_ep_create(worker(), &params, &ep_), "ucp_ep_create");
  }

  // `bytes`, if any, go by rendezvous; they are lent until the peer has them.
  void Send(MessageId id, const Head& head, absl::Span<const std::byte> bytes) {
    struct Sending {
      End* end;
      Head head;
    };
    auto sending = std::make_unique<Sending>(Sending{this, head});
    ucp_request_param_t params{};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    params.flags = bytes.empty() ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV;
    params.user_data = sending.get();
    params.cb.send = [](void* request, ucs_status_t status, void* user_data) {
      const std::unique_ptr<Sending> sent(static_cast<Sending*>(user_data));
      ucp_request_free(request);
      if (status != UCS_OK) sent->end->Fail(status, "a send");
    };
    const ucs_status_ptr_t request = ucp_am_send_nbx(ep_, id, &sending->head, sizeof sending->head,
                                                     bytes.data(), bytes.size(), &params);
    if (UCS_PTR_IS_PTR(request)) {
      sending.release();
    } else if (UCS_PTR_RAW_STATUS(request) != UCS_OK) {
      Fail(UCS_PTR_RAW_STATUS(request), "a send");
    }
  }

  // Lands the rendezvous `data`, then calls `landed`.
  using Landed = void (*)(End& end, const Head& head);
  ucs_status_t Land(void* data, const Head& head, absl::Span<std::byte> target, Landed landed) {
    struct Landing {
      End* end;
      Head head;
      Landed landed;
    };
    auto landing = std::make_unique<Landing>(Landing{this, head, landed});
    ucp_request_param_t params{};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    params.user_data = landing.get();
    params.cb.recv_am = [](void* request, ucs_status_t status, size_t, void* user_data) {
      const std::unique_ptr<Landing> ended(static_cast<Landing*>(user_data));
      ucp_request_free(request);
      if (status != UCS_OK) return ended->end->Fail(status, "a landing");
      ended->landed(*ended->end, ended->head);
    };
    const ucs_status_ptr_t request =
        ucp_am_recv_data_nbx(worker(), data, target.data(), target.size(), &params);
    if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_RAW_STATUS(request);
    landing.release();
    return UCS_INPROGRESS;
  }

  // Does what there is to do; with nothing to do, waits for more.
  void Progress() {
    if (ucp_worker_progress(worker()) != 0) return;
    for (const double end = NowSeconds() + kSpinSeconds; NowSeconds() < end;) {
      if (ucp_worker_progress(worker()) != 0) return;
    }
    if (ucp_worker_arm(worker()) != UCS_OK) return;
    pollfd waited{runtime_.event_fd, POLLIN, 0};
    ::poll(&waited, 1, kSleepMillisMax);
  }

 private:
  explicit End(UcxRuntime runtime) : runtime_(std::move(runtime)) {}

  UcxRuntime runtime_;
  ucp_ep_h ep_ = nullptr;
  absl::Status status_;
};

const Head& HeadOf(const void* header) { return *static_cast<const Head*>(header); }

// ---- the client ----

class RawUcx final : public Contender {
 public:
  RawUcx(std::unique_ptr<ChildProcess> server, std::unique_ptr<End> end, const Buffers& buffers)
      : server_(std::move(server)), end_(std::move(end)), buffers_(buffers) {}

  absl::Status Connect(std::uint16_t port) {
    const sockaddr_in address = LoopbackAt(port);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    params.sockaddr.addr = reinterpret_cast<const sockaddr*>(&address);
    params.sockaddr.addrlen = sizeof address;
    CAIRN_RETURN_IF_ERROR(end_->Handle(kData, OnData, this));
    CAIRN_RETURN_IF_ERROR(end_->Handle(kStored, OnStored, this));
    return end_->Connect(params);
  }

  std::string name() const override { return "ucx"; }
  std::vector<pid_t> servers() const override { return {server_->pid()}; }
  absl::Status Prepare(std::uint64_t bytes) override { return absl::OkStatus(); }

  absl::Status Run(const Cell& cell, double until, Slice& slice) override {
    cell_ = cell;
    slice_ = &slice;
    until_ = until;
    running_ = cell.window;
    for (std::uint32_t lane = 0; lane < cell.window; ++lane) Begin(lane);
    while (running_ > 0 && end_->status().ok() && wrong_.ok()) {
      end_->Progress();
      if (NowSeconds() > until + absl::ToDoubleSeconds(kPatience))
        return absl::DeadlineExceededError("UCX is stuck");
    }
    return wrong_.ok() ? end_->status() : wrong_;
  }

 private:
  void Begin(std::uint64_t lane) {
    const std::uint64_t number = next_++;
    const Head head{.number = number,
                    .offset = Buffers::SourceOffset(number, cell_.bytes),
                    .bytes = cell_.bytes,
                    .lane = lane};
    started_at_[lane] = NowSeconds();
    if (cell_.operation == Operation::kGet) return end_->Send(kGet, head, {});
    end_->Send(kPut, head, buffers_.source.subspan(head.offset, head.bytes));
  }
  void Done(const Head& head) {
    const double now = NowSeconds();
    slice_->Add(cell_.bytes, now - started_at_[head.lane]);
    if (now < until_) return Begin(head.lane);
    --running_;
  }

  static ucs_status_t OnData(void* arg, const void* header, size_t, void* data, size_t,
                             const ucp_am_recv_param_t*) {
    auto& self = *static_cast<RawUcx*>(arg);
    current_ = &self;
    const Head& head = HeadOf(header);
    return self.end_->Land(data, head, self.buffers_.TargetOf(head.number, head.bytes),
                           [](End&, const Head& landed) { current_->OnLanded(landed); });
  }
  void OnLanded(const Head& head) {
    const absl::Status checked =
        CheckLanded(buffers_.TargetOf(head.number, head.bytes), head.offset);
    if (!checked.ok()) wrong_ = checked;
    Done(head);
  }
  static ucs_status_t OnStored(void* arg, const void* header, size_t, void*, size_t,
                               const ucp_am_recv_param_t*) {
    static_cast<RawUcx*>(arg)->Done(HeadOf(header));
    return UCS_OK;
  }

  static inline RawUcx* current_ = nullptr;  // there is one
  const std::unique_ptr<ChildProcess> server_;
  const std::unique_ptr<End> end_;
  const Buffers buffers_;
  Cell cell_;
  Slice* slice_ = nullptr;
  double until_ = 0;
  std::uint32_t running_ = 0;
  std::uint64_t next_ = 0;
  double started_at_[kLanes] = {};
  absl::Status wrong_;
};

// ---- the server ----

class Server {
 public:
  Server(End& end, absl::Span<std::byte> memory) : end_(end), memory_(memory) {}

  absl::StatusOr<std::uint16_t> Listen() {
    CAIRN_RETURN_IF_ERROR(end_.Handle(kGet, OnGet, this));
    CAIRN_RETURN_IF_ERROR(end_.Handle(kPut, OnPut, this));
    const sockaddr_in address = LoopbackAt(0);
    ucp_listener_params_t params{};
    params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    params.sockaddr.addr = reinterpret_cast<const sockaddr*>(&address);
    params.sockaddr.addrlen = sizeof address;
    params.conn_handler.arg = this;
    params.conn_handler.cb = [](ucp_conn_request_h request, void* self) {
      static_cast<Server*>(self)->request_ = request;
    };
    ucp_listener_h listener = nullptr;
    CAIRN_RETURN_IF_ERROR(
        UcxStatus(ucp_listener_create(end_.worker(), &params, &listener), "ucp_listener_create"));
    listener_ = UcxListener(listener);
    ucp_listener_attr_t bound{};
    bound.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
    CAIRN_RETURN_IF_ERROR(UcxStatus(ucp_listener_query(listener, &bound), "ucp_listener_query"));
    return ntohs(reinterpret_cast<const sockaddr_in*>(&bound.sockaddr)->sin_port);
  }

  absl::Status Serve() {
    while (end_.status().ok()) {
      end_.Progress();
      if (request_ == nullptr) continue;
      ucp_ep_params_t params{};
      params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
      params.conn_request = std::exchange(request_, nullptr);
      CAIRN_RETURN_IF_ERROR(end_.Connect(params));
    }
    return end_.status();
  }

 private:
  static ucs_status_t OnGet(void* arg, const void* header, size_t, void*, size_t,
                            const ucp_am_recv_param_t*) {
    auto& self = *static_cast<Server*>(arg);
    const Head& head = HeadOf(header);
    self.end_.Send(kData, head, self.memory_.subspan(head.offset, head.bytes));
    return UCS_OK;
  }
  static ucs_status_t OnPut(void* arg, const void* header, size_t, void* data, size_t,
                            const ucp_am_recv_param_t*) {
    auto& self = *static_cast<Server*>(arg);
    const Head& head = HeadOf(header);
    return self.end_.Land(data, head, self.memory_.subspan(head.offset, head.bytes),
                          [](End& end, const Head& landed) { end.Send(kStored, landed, {}); });
  }

  End& end_;
  const absl::Span<std::byte> memory_;
  UcxListener listener_;
  ucp_conn_request_h request_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Contender>> NewRawUcx(const ScratchFolder& folder,
                                                     const Buffers& buffers) {
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<ChildProcess> server,
      ChildProcess::Start({.command = {ProgramFolder() + "/cairn-bench", "serve", "ucx"},
                           .log_file = folder.PathOf("ucx.log"),
                           .is_read = true}));
  CAIRN_ASSIGN_OR_RETURN(const std::string line, server->ReadLine());
  std::uint32_t port = 0;
  if (!absl::SimpleAtoi(line, &port)) return absl::InternalError("no port: " + line);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<End> end, End::Create());
  auto made = std::make_unique<RawUcx>(std::move(server), std::move(end), buffers);
  CAIRN_RETURN_IF_ERROR(made->Connect(static_cast<std::uint16_t>(port)));
  return std::unique_ptr<Contender>(std::move(made));
}

absl::Status ServeRawUcx(MemorySource& memory) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<OwnedMemory> source,
                         memory.Create("cairn-bench-ucx", kWorkingSetBytes));
  FillSource(source->bytes());
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<End> end, End::Create());
  Server server(*end, source->bytes());
  CAIRN_ASSIGN_OR_RETURN(const std::uint16_t port, server.Listen());
  std::cout << port << std::endl;
  return server.Serve();
}

}  // namespace cairn::bench
