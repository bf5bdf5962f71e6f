#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/transport_ucx/ucx_transport_impl.h"

// Messages and bulks. What is sent lives in an operation until UCX has completed it: UCX 1.13 reads
// a message's header after ucp_am_send_nbx has returned.
namespace cairn {

struct UcxTransportImpl::SendOperation {
  Link* link = nullptr;
  Outgoing outgoing;
  std::string header;
  std::size_t queued_bytes = 0;
};

struct UcxTransportImpl::LandingOperation {
  Link* link = nullptr;
  LandingId landing;
  std::size_t bytes = 0;
};

// ---- sending ----

absl::Status UcxTransportImpl::Send(EndpointId to, MessageType type, std::string body) {
  if (body.size() > limits::kMessageBytesMax || type.value() >= kMessageTypesMax) {
    return absl::InvalidArgumentError("message over the transport's limits");
  }
  Outgoing outgoing;
  outgoing.type = type;
  outgoing.body = std::move(body);
  return Enqueue(to, std::move(outgoing));
}

absl::Status UcxTransportImpl::SendBulk(EndpointId to, MessageType type, std::string header,
                                        absl::Span<const std::byte> bytes,
                                        absl::AnyInvocable<void(absl::Status)> done) {
  if (header.size() > limits::kBulkHeaderBytesMax || type.value() >= kMessageTypesMax) {
    return absl::InvalidArgumentError("bulk header over the transport's limits");
  }
  Outgoing outgoing;
  outgoing.kind = bytes.empty() ? FrameKind::kEmptyBulk : FrameKind::kBulk;
  outgoing.type = type;
  outgoing.body = std::move(header);
  outgoing.bytes = bytes;
  outgoing.done = std::move(done);
  return Enqueue(to, std::move(outgoing));
}

absl::Status UcxTransportImpl::Enqueue(EndpointId to, Outgoing outgoing) {
  Link* const link = Find(to);
  if (link == nullptr || !link->is_visible || link->is_why_set) {
    return absl::NotFoundError("the endpoint is closed");
  }
  if (link->queued_bytes + outgoing.body.size() > limits::kTransportQueuedBytesMax) {
    return absl::ResourceExhaustedError("too much is queued for this endpoint");
  }
  const bool is_bulk = outgoing.kind != FrameKind::kMessage;
  if (is_bulk && link->bulks >= limits::kTransportBulksMax) {
    return absl::ResourceExhaustedError("too many bulks of this endpoint are in flight");
  }
  link->queued_bytes += outgoing.body.size();
  if (is_bulk) {
    ++link->bulks;
    ++loans_;
  }
  if (link->state == LinkState::kIntroducing) {
    link->outbox.push_back(std::move(outgoing));
    return absl::OkStatus();
  }
  Transmit(*link, std::move(outgoing));
  Kick();
  return absl::OkStatus();
}

void UcxTransportImpl::Transmit(Link& link, Outgoing outgoing) {
  FrameHeader header;
  header.kind = outgoing.kind;
  header.type = outgoing.type.value();
  header.token = link.peer_token;
  if (outgoing.kind == FrameKind::kMessage) header.sequence = ++link.sent_count;
  auto operation = std::make_unique<SendOperation>();
  operation->link = &link;
  operation->queued_bytes = outgoing.body.size();
  const bool is_bulk = outgoing.kind != FrameKind::kMessage;
  operation->header = EncodeFrameHeader(header, is_bulk ? outgoing.body : absl::string_view());
  operation->outgoing = std::move(outgoing);
  if (is_bulk) {
    ++stats_.bulks_sent;
    stats_.bulk_bytes_sent += operation->outgoing.bytes.size();
  } else {
    ++stats_.messages_sent;
    operation->outgoing.bytes = AsBytes(operation->outgoing.body);
  }
  const bool is_rendezvous = operation->outgoing.kind == FrameKind::kBulk;
  Post(link, std::move(operation), is_rendezvous ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER);
}

void UcxTransportImpl::SendControl(Link& link, FrameKind kind, std::uint64_t token,
                                   std::string body, std::uint32_t flags) {
  FrameHeader header;
  header.kind = kind;
  header.token = token;
  auto operation = std::make_unique<SendOperation>();
  operation->link = &link;
  operation->header = EncodeFrameHeader(header, "");
  operation->outgoing.kind = kind;
  operation->outgoing.body = std::move(body);
  operation->outgoing.bytes = AsBytes(operation->outgoing.body);
  Post(link, std::move(operation), flags | UCP_AM_SEND_FLAG_EAGER);
}

void UcxTransportImpl::Post(Link& link, std::unique_ptr<SendOperation> operation,
                            std::uint32_t flags) {
  ++link.operations;
  if (link.ep == nullptr) return EndSend(std::move(operation), UCS_ERR_CANCELED);
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.flags = flags;
  params.cb.send = OnSent;
  params.user_data = operation.get();
  const absl::Span<const std::byte> bytes = operation->outgoing.bytes;
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(link.ep, kUcxFrameId, operation->header.data(), operation->header.size(),
                      bytes.data(), bytes.size(), &params);
  if (UCS_PTR_IS_PTR(request)) {
    operation.release();  // OnSent takes it back
    return;
  }
  EndSend(std::move(operation), UCS_PTR_RAW_STATUS(request));
}

void UcxTransportImpl::OnSent(void* request, ucs_status_t status, void* operation) {
  ucp_request_free(request);
  std::unique_ptr<SendOperation> ended(static_cast<SendOperation*>(operation));
  UcxTransportImpl* const transport = ended->link->transport;
  transport->EndSend(std::move(ended), status);
}

void UcxTransportImpl::EndSend(std::unique_ptr<SendOperation> operation, ucs_status_t status) {
  Link& link = *operation->link;
  link.queued_bytes -= operation->queued_bytes;
  if (operation->outgoing.kind == FrameKind::kBye) link.is_bye_sent = true;
  // Most messages are gone when Send returns: nothing is left to do for them.
  const bool is_bulk = static_cast<bool>(operation->outgoing.done);
  const bool is_quiet = !is_bulk && status == UCS_OK && link.state == LinkState::kOpen;
  if (is_quiet) {
    --link.operations;
    return;
  }
  AddEvent([this, operation = std::move(operation), status, is_bulk]() mutable {
    Link& ended = *operation->link;
    --ended.operations;
    if (is_bulk) {
      --ended.bulks;
      --loans_;
      if (!is_ending_) operation->outgoing.done(UcxStatus(status, "bulk"));
    }
    // A refused bulk is the receiver's word, not the endpoint's end; nor is what Close cancelled.
    if (status != UCS_OK && status != UCS_ERR_CANCELED) OnFailed(&ended, nullptr, status);
    ContinueClose(ended);
    MaybeFinish(ended);
  });
  if (!is_pumping_ && !is_ending_) PostPump();
}

void UcxTransportImpl::OnFailed(void* arg, ucp_ep_h ep, ucs_status_t status) {
  Link& link = *static_cast<Link*>(arg);
  if (link.state == LinkState::kClosed || std::exchange(link.has_failed, true)) return;
  UcxTransportImpl& self = *link.transport;
  ++self.stats_.endpoints_failed;
  self.AddEvent([&self, id = link.id, status] {
    if (Link* const failed = self.Find(id)) {
      self.ForceClose(*failed, absl::UnavailableError(absl::StrCat("the connection failed: ",
                                                                   ucs_status_string(status))));
    }
  });
}

// ---- receiving ----

ucs_status_t UcxTransportImpl::Malformed(absl::string_view what) {
  ++stats_.malformed_dropped;
  if (std::uint64_t held = 0; drop_limiter_.Admit(&held)) {
    LogEvent(LogLevel::kWarning, "frame_refused")
        .With("transport", profile())
        .With("reason", what)
        .With("held_back", held);
  }
  return UCS_ERR_CANCELED;  // of a rendezvous: its sender is told; else without effect
}

ucs_status_t UcxTransportImpl::FromStranger() {
  ++stats_.strangers_dropped;
  if (std::uint64_t held = 0; drop_limiter_.Admit(&held)) {
    LogEvent(LogLevel::kWarning, "stranger_refused")
        .With("transport", profile())
        .With("held_back", held);
  }
  return UCS_ERR_CANCELED;
}

ucs_status_t UcxTransportImpl::OnUnknownId(void* self, const void* header, size_t header_bytes,
                                           void* bytes, size_t count,
                                           const ucp_am_recv_param_t* params) {
  const ucs_status_t status = static_cast<UcxTransportImpl*>(self)->Malformed("an unknown id");
  return (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 ? status : UCS_OK;
}

ucs_status_t UcxTransportImpl::OnFrame(void* arg, const void* raw_header, size_t header_bytes,
                                       void* bytes, size_t count,
                                       const ucp_am_recv_param_t* params) {
  UcxTransportImpl& self = *static_cast<UcxTransportImpl*>(arg);
  const bool is_rendezvous = (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  ++self.frames_heard_;
  absl::string_view bulk_header;
  const std::optional<FrameHeader> header = DecodeFrameHeader(
      absl::string_view(static_cast<const char*>(raw_header), header_bytes), &bulk_header);
  ucs_status_t status = UCS_OK;
  if (!header.has_value()) {
    status = self.Malformed("a bad header");
  } else if (is_rendezvous != (header->kind == FrameKind::kBulk)) {
    status = self.Malformed("a frame of the wrong protocol");
  } else if (header->kind == FrameKind::kBulk || header->kind == FrameKind::kEmptyBulk) {
    status = self.OnBulkFrame(*header, bulk_header, bytes, count, !is_rendezvous);
  } else if (!bulk_header.empty()) {
    status = self.Malformed("a header too long");
  } else {
    const auto body = absl::MakeConstSpan(static_cast<const std::byte*>(bytes), count);
    const bool has_reply = (params->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0;
    status = header->kind == FrameKind::kMessage
                 ? self.OnMessageFrame(*header, body)
                 : self.OnControlFrame(*header, AsStringView(body),
                                       has_reply ? params->reply_ep : nullptr);
  }
  return is_rendezvous ? status : UCS_OK;
}

ucs_status_t UcxTransportImpl::OnControlFrame(const FrameHeader& header, absl::string_view body,
                                              ucp_ep* reply_ep) {
  const bool introduces = header.kind == FrameKind::kIntroduce;
  if (introduces || (header.kind == FrameKind::kBye && header.token == 0)) {
    std::optional<Introduction> introduction = DecodeIntroduction(body);
    if (!introduction.has_value()) return Malformed("a bad introduction");
    if (is_ending_) return UCS_OK;
    AddEvent([this, introduces, reply_ep, introduction = *std::move(introduction)] {
      if (introduces) {
        OnIntroduction(introduction, reply_ep);
      } else {
        OnTakenBack(introduction);
      }
    });
    return UCS_OK;
  }
  Link* const link = FindToken(header.token);
  if (link == nullptr) return FromStranger();
  if (header.kind == FrameKind::kWelcome) {
    if (link->state == LinkState::kClosing) return UCS_OK;  // taken back when it came
    ByteReader reader(body);
    const auto token = reader.Get<std::uint64_t>();
    const bool is_awaited = link->state == LinkState::kIntroducing && link->peer_token == 0 &&
                            link->role != LinkRole::kLeader;
    if (!reader.at_end() || token == 0 || !is_awaited) return Malformed("a bad welcome");
    link->peer_token = token;
    Open(*link);
    return UCS_OK;
  }
  link->is_bye_received = true;
  AddEvent([this, id = link->id] {
    Link* const closing = Find(id);
    if (closing == nullptr) return;
    BeginClose(*closing, absl::UnavailableError("the peer closed"));
    ContinueClose(*closing);
  });
  return UCS_OK;
}

ucs_status_t UcxTransportImpl::OnMessageFrame(const FrameHeader& header,
                                              absl::Span<const std::byte> body) {
  if (body.size() > limits::kMessageBytesMax || header.type >= kMessageTypesMax) {
    return Malformed("a message over the limits");
  }
  Link* const link = FindToken(header.token);
  if (link == nullptr || link->state == LinkState::kIntroducing) return FromStranger();
  if (header.sequence != link->received_count + 1) {
    OnFailed(link, nullptr, UCS_ERR_MESSAGE_TRUNCATED);
    return Malformed("a message out of order");
  }
  ++link->received_count;
  if (link->is_why_set || link->has_failed || is_ending_) return UCS_OK;
  ++stats_.messages_received;
  receiver_.OnMessage(link->id, MessageType(header.type), body);
  return UCS_OK;
}

ucs_status_t UcxTransportImpl::OnBulkFrame(const FrameHeader& header, absl::string_view bulk_header,
                                           void* bulk, std::size_t bytes, bool is_empty) {
  if (header.type >= kMessageTypesMax || (is_empty && bytes != 0)) return Malformed("a bad bulk");
  Link* const link = FindToken(header.token);
  if (link == nullptr || link->state == LinkState::kIntroducing) return FromStranger();
  if (link->is_why_set || link->has_failed || is_ending_) return UCS_ERR_CANCELED;
  std::optional<Landing> landing;
  if (link->bulks < limits::kTransportBulksMax) {
    landing = receiver_.OnBulk(link->id, MessageType(header.type), AsBytes(bulk_header), bytes);
  }
  if (!landing.has_value()) {
    ++stats_.bulks_refused;
    return UCS_ERR_CANCELED;
  }
  CAIRN_CHECK(landing->bytes.size() == bytes) << landing->bytes.size() << " != " << bytes;
  ++link->bulks;
  ++link->operations;
  ++loans_;
  auto operation =
      std::make_unique<LandingOperation>(LandingOperation{link, landing->landing, bytes});
  if (is_empty) {
    EndLanding(std::move(operation), UCS_OK);
    return UCS_OK;
  }
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.recv_am = OnLanded;
  params.user_data = operation.get();
  const ucs_status_ptr_t request =
      ucp_am_recv_data_nbx(worker(), bulk, landing->bytes.data(), bytes, &params);
  if (UCS_PTR_IS_PTR(request)) {
    operation.release();  // OnLanded takes it back
    return UCS_INPROGRESS;
  }
  const ucs_status_t status = UCS_PTR_RAW_STATUS(request);
  EndLanding(std::move(operation), status);
  return status == UCS_OK ? UCS_OK : UCS_ERR_CANCELED;
}

void UcxTransportImpl::OnLanded(void* request, ucs_status_t status, size_t bytes, void* operation) {
  ucp_request_free(request);
  std::unique_ptr<LandingOperation> ended(static_cast<LandingOperation*>(operation));
  if (status == UCS_OK && bytes != ended->bytes) status = UCS_ERR_MESSAGE_TRUNCATED;
  UcxTransportImpl* const transport = ended->link->transport;
  transport->EndLanding(std::move(ended), status);
}

void UcxTransportImpl::EndLanding(std::unique_ptr<LandingOperation> operation,
                                  ucs_status_t status) {
  AddEvent([this, operation = std::move(operation), status] {
    Link& link = *operation->link;
    --link.operations;
    --link.bulks;
    --loans_;
    if (status == UCS_OK) {
      ++stats_.bulks_received;
      stats_.bulk_bytes_received += operation->bytes;
    }
    if (!is_ending_) {
      receiver_.OnBulkLanded(link.id, operation->landing, UcxStatus(status, "bulk"));
    }
    MaybeFinish(link);
  });
}

}  // namespace cairn
