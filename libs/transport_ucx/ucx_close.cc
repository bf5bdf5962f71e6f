#include <utility>

#include "libs/transport_ucx/ucx_transport_impl.h"

// Links: how they end. Either side sends BYE; the other answers with its own, and both force their
// UCX endpoints closed. Forcing purges what UCX still holds of the endpoint, and UCX completes each
// such request: when the last has come, all loans have ended and the owner hears OnClosed.
namespace cairn {

void UcxTransportImpl::BeginClose(Link& link, const absl::Status& why) {
  if (link.state == LinkState::kClosing || link.state == LinkState::kClosed) return;
  if (!std::exchange(link.is_why_set, true)) link.why = why;
  if (link.state == LinkState::kIntroducing) {
    // The peer may hold our introduction already: take it back, as far as we reach it.
    if (link.ep != nullptr && options_.profile == UcxProfile::kSameHost && !link.has_failed) {
      Introduction mine;
      mine.from_instance = instance_;
      mine.token = link.token;
      link.state = LinkState::kClosing;
      StartTimer(link, options_.close_max);  // a stopped peer answers none
      link.is_bye_received = true;           // none will come
      SendControl(link, FrameKind::kBye, 0, EncodeIntroduction(mine), 0);
      return;
    }
    return ForceClose(link, why);
  }
  link.state = LinkState::kClosing;
  StartTimer(link, options_.close_max);
  SendControl(link, FrameKind::kBye, link.peer_token, {}, 0);
}

void UcxTransportImpl::ContinueClose(Link& link) {
  if (link.state == LinkState::kClosing && link.is_bye_sent && link.is_bye_received) {
    ForceClose(link, link.why);
  }
}

void UcxTransportImpl::ForceClose(Link& link, const absl::Status& why) {
  if (link.state == LinkState::kClosed) return;
  if (!std::exchange(link.is_why_set, true)) link.why = why;
  link.state = LinkState::kClosed;
  StopTimer(link);
  by_token_.erase(link.token);
  while (!link.outbox.empty()) {  // never given to UCX: their loans end here
    Outgoing outgoing = std::move(link.outbox.front());
    link.outbox.pop_front();
    if (!outgoing.done) continue;
    AddEvent([this, done = std::move(outgoing.done)]() mutable {
      --loans_;
      if (!is_ending_) done(absl::UnavailableError("the endpoint closed"));
    });
  }
  if (link.ep != nullptr) {
    by_ep_.erase(link.ep);
    ucp_request_param_t params{};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    params.user_data = &link;
    params.cb.send = [](void* request, ucs_status_t status, void* user_data) {
      auto& closed = *static_cast<Link*>(user_data);
      ucp_request_free(request);
      --closed.operations;
      closed.transport->MaybeFinish(closed);
    };
    ++link.operations;
    ucs_status_ptr_t request = ucp_ep_close_nbx(std::exchange(link.ep, nullptr), &params);
    if (!UCS_PTR_IS_PTR(request)) --link.operations;
  }
  MaybeFinish(link);
}

void UcxTransportImpl::MaybeFinish(Link& link) {
  if (link.state != LinkState::kClosed || link.operations != 0) return;
  AddEvent([this, id = link.id] { Finish(id); });
}

void UcxTransportImpl::Finish(EndpointId id) {
  Link* const link = Find(id);
  if (link == nullptr || link->state != LinkState::kClosed || link->operations != 0) return;
  const std::unique_ptr<Link> gone = std::move(links_.extract(id).mapped());
  if (gone->is_visible && !is_ending_) receiver_.OnClosed(id, gone->why);
}

}  // namespace cairn
