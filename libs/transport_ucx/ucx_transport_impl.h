#ifndef CAIRN_LIBS_TRANSPORT_UCX_UCX_TRANSPORT_IMPL_H_
#define CAIRN_LIBS_TRANSPORT_UCX_UCX_TRANSPORT_IMPL_H_

#include <ucp/api/ucp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "libs/base/log.h"
#include "libs/transport_ucx/ucx_link.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "libs/transport_ucx/ucx_worker.h"

namespace cairn {

// The transport itself. Private to this library; its sources:
//   ucx_transport.cc   the port's calls, the pump (progress, spin, arm), shutdown
//   ucx_introduce.cc   links: connecting, introductions
//   ucx_close.cc       links: goodbyes, forced closing
//   ucx_traffic.cc     messages and bulks
//
// Everything that is told to the owner, except messages and announcements, goes through `events_`,
// which the pump runs between two rounds of UCX's progress: never from inside a call, never from
// inside UCX.
class UcxTransportImpl : public UcxTransport {
 public:
  UcxTransportImpl(Loop& loop, TransportReceiver& receiver, const UcxOptions& options,
                   UcxRuntime runtime);
  ~UcxTransportImpl() override;
  absl::Status Begin();

  std::string profile() const override;
  std::string Address() const override;
  absl::StatusOr<EndpointId> Connect(absl::string_view peer_address) override;
  absl::StatusOr<EndpointId> Dial(absl::string_view socket_address) override;
  absl::StatusOr<std::string> Listen(absl::string_view socket_address) override;
  absl::Status Send(EndpointId to, MessageType type, std::string body) override;
  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override;
  void Close(EndpointId endpoint) override;
  UcxStats stats() const override { return stats_; }
  std::size_t loans() const override { return loans_; }

 private:
  struct SendOperation;
  struct LandingOperation;
  using Event = absl::AnyInvocable<void()>;

  // ---- the pump ----
  void Kick();  // something was given to UCX: see to its progress soon
  void PostPump();
  void Pump();
  bool Progress();   // true if anything happened
  bool RunEvents();  // the same
  void AddEvent(Event event);
  ucp_worker_h worker() const { return runtime_.worker.get(); }

  // ---- links ----
  Link* Find(EndpointId id);
  Link* FindToken(std::uint64_t token);
  absl::StatusOr<Link*> NewLink(LinkRole role);
  absl::StatusOr<std::string> ListenAt(absl::string_view socket_address);
  absl::Status ConnectToWorker(Link& link, const std::string& worker_address);
  absl::Status ConnectToSocket(Link& link, absl::string_view socket_address);
  absl::Status CreateEndpoint(Link& link, ucp_ep_params_t& params);
  void Introduce(Link& link, const std::string& to_instance);
  void StartTimer(Link& link, absl::Duration after);
  void StopTimer(Link& link);
  void OnTimer(EndpointId id);
  std::size_t StrangerCount() const;
  void OnConnectionRequest(ucp_conn_request_h request);
  void OnIntroduction(const Introduction& introduction, ucp_ep* reply_ep);
  Link* StrangerOf(const Introduction& introduction, ucp_ep* reply_ep);
  void OnTakenBack(const Introduction& introduction);
  // Gives the owner's waiting `leader` link the UCX endpoint of the newest stranger that is its
  // peer.
  void TryPair(const std::string& peer_instance);
  void Open(Link& link);
  void BeginClose(Link& link, const absl::Status& why);
  void ContinueClose(Link& link);
  void ForceClose(Link& link, const absl::Status& why);
  void MaybeFinish(Link& link);
  void Finish(EndpointId id);

  // ---- traffic ----
  static ucs_status_t OnFrame(void* self, const void* header, size_t header_bytes, void* bytes,
                              size_t count, const ucp_am_recv_param_t* params);
  static ucs_status_t OnUnknownId(void* self, const void* header, size_t header_bytes, void* bytes,
                                  size_t count, const ucp_am_recv_param_t* params);
  static void OnSent(void* request, ucs_status_t status, void* operation);
  static void OnLanded(void* request, ucs_status_t status, size_t bytes, void* operation);
  static void OnFailed(void* link, ucp_ep_h ep, ucs_status_t status);
  ucs_status_t OnControlFrame(const FrameHeader& header, absl::string_view body, ucp_ep* reply_ep);
  ucs_status_t OnMessageFrame(const FrameHeader& header, absl::Span<const std::byte> body);
  ucs_status_t OnBulkFrame(const FrameHeader& header, absl::string_view bulk_header, void* bulk,
                           std::size_t bytes, bool is_empty);
  ucs_status_t Malformed(absl::string_view what);
  ucs_status_t FromStranger();
  absl::Status Enqueue(EndpointId to, Outgoing outgoing);
  // Gives `outgoing` to UCX. `flags` are UCX's.
  void Transmit(Link& link, Outgoing outgoing);
  void Post(Link& link, std::unique_ptr<SendOperation> operation, std::uint32_t flags);
  void SendControl(Link& link, FrameKind kind, std::uint64_t token, std::string body,
                   std::uint32_t flags);
  void EndSend(std::unique_ptr<SendOperation> operation, ucs_status_t status);
  void EndLanding(std::unique_ptr<LandingOperation> operation, ucs_status_t status);

  Loop& loop_;
  TransportReceiver& receiver_;
  const UcxOptions options_;
  UcxRuntime runtime_;
  UcxListener listener_;
  const std::string instance_;   // 128 random bits: what makes an Address ours
  std::string listening_at_;     // where the listener of Connect or of Listen is bound
  bool serves_dialled_ = false;  // Listen was called

  absl::btree_map<EndpointId, std::unique_ptr<Link>> links_;
  absl::flat_hash_map<std::uint64_t, Link*> by_token_;
  absl::flat_hash_map<ucp_ep*, Link*> by_ep_;
  std::uint64_t links_made_ = 0;

  std::vector<Event> events_;
  std::vector<Event> running_;         // the round that RunEvents works on
  const std::shared_ptr<bool> alive_;  // for tasks that may outlive us
  bool is_pump_posted_ = false;
  bool is_pumping_ = false;
  bool needs_progress_ = false;  // something was given to UCX since the pump began
  bool is_ending_ = false;
  Instant last_active_;
  std::uint64_t frames_heard_ = 0;  // all frames of peers, good or bad
  std::uint64_t frames_seen_ = 0;   // what the pump knew when it last looked
  UcxStats stats_;
  std::size_t loans_ = 0;
  LogLimiter drop_limiter_{absl::Seconds(10)};
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_UCX_UCX_TRANSPORT_IMPL_H_
