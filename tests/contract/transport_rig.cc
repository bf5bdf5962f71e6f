#include "tests/contract/transport_rig.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "libs/base/rng.h"
#include "libs/transport_loopback/loopback_network.h"

namespace cairn::contract {

std::string NameOf(Way way) {
  switch (way) {
    case Way::kLoopbackManual:
      return "LoopbackManual";
    case Way::kLoopbackThreads:
      return "LoopbackThreads";
    case Way::kLoopbackDial:
      return "LoopbackDial";
    case Way::kUcxShm:
      return "UcxPosix";
    case Way::kUcxTcp:
      return "UcxTcp";
    case Way::kUcxDial:
      return "UcxTcpDial";
  }
  return "";
}

bool IsUcx(Way way) { return way >= Way::kUcxShm; }
bool Dials(Way way) { return way == Way::kLoopbackDial || way == Way::kUcxDial; }

std::string Pattern(std::size_t bytes, std::uint64_t seed) {
  std::string out(bytes, '\0');
  Rng rng(seed);
  for (std::size_t at = 0; at < bytes; at += 8) {
    const std::uint64_t word = rng.Next();
    std::memcpy(out.data() + at, &word, std::min<std::size_t>(8, bytes - at));
  }
  return out;
}

// ---- Recorder ----

void Recorder::OnAccepted(EndpointId endpoint) {
  rig_.Record([&] { accepted.push_back(endpoint); });
}

void Recorder::OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) {
  Message message{from, type.value(), std::string(AsStringView(body))};
  if (on_message) on_message(message);
  rig_.Record([&] {
    if (closed_count(from) > 0) violations.push_back("a message after OnClosed");
    messages.push_back(std::move(message));
  });
}

std::optional<Landing> Recorder::OnBulk(EndpointId from, MessageType type,
                                        absl::Span<const std::byte> header, std::uint64_t bytes) {
  const std::string text(AsStringView(header));
  const bool accepts = !accepts_bulk || accepts_bulk(from, text);
  std::optional<Landing> landing;
  rig_.Record([&] {
    if (closed_count(from) > 0) violations.push_back("a bulk after OnClosed");
    ++bulks_announced;
    if (!accepts) return;
    Target& target = landings_[text];
    target.header = text;
    target.bytes.assign(bytes, '\0');
    landing = Landing{LandingId(++landings_made_),
                      absl::MakeSpan(reinterpret_cast<std::byte*>(target.bytes.data()), bytes)};
    open_[landing->landing] = from;
    ++landings_open;
  });
  return landing;
}

void Recorder::OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) {
  rig_.Record([&] {
    if (closed_count(from) > 0) violations.push_back("a landing ended after OnClosed");
    const auto it = open_.find(landing);
    if (it == open_.end() || it->second != from) {
      violations.push_back("a landing that was not open ended");
      return;
    }
    open_.erase(it);
    --landings_open;
    landed.push_back(Landed{from, landing, status});
  });
}

void Recorder::OnClosed(EndpointId endpoint, const absl::Status& why) {
  rig_.Record([&] {
    if (closed_count(endpoint) > 0) violations.push_back("OnClosed twice");
    for (const auto& [landing, from] : open_) {
      if (from == endpoint) violations.push_back("OnClosed before a landing ended");
    }
    closed.emplace_back(endpoint, why);
  });
}

std::size_t Recorder::closed_count(EndpointId endpoint) const {
  std::size_t count = 0;
  for (const auto& [id, status] : closed) count += id == endpoint ? 1 : 0;
  return count;
}

absl::Status Recorder::why(EndpointId endpoint) const {
  for (const auto& [id, status] : closed) {
    if (id == endpoint) return status;
  }
  return absl::NotFoundError("not closed");
}

// ---- TransportRig ----

struct TransportRig::Simulated {
  LoopbackNetwork network{7};
};

TransportRig::TransportRig(Way way)
    : way_(way),
      loops_(NewRig(way == Way::kLoopbackManual || way == Way::kLoopbackDial)),
      simulated_(std::make_unique<Simulated>()) {}

TransportRig::~TransportRig() {
  for (auto& process : processes_) {
    End(*process);
    EXPECT_TRUE(process->heard->violations.empty()) << process->heard->violations.front();
  }
  for (auto& process : processes_) loops_->StopLoop(*process->loop);
}

Process& TransportRig::NewProcess() {
  processes_.push_back(std::make_unique<Process>());
  Process& process = *processes_.back();
  process.loop = &loops_->NewLoop();
  process.heard = std::make_unique<Recorder>(*loops_);
  loops_->On(*process.loop, [&] {
    if (!IsUcx(way_)) {
      process.transport = simulated_->network.NewTransport(*process.loop, *process.heard);
      return;
    }
    UcxOptions options = ucx;
    options.profile = way_ == Way::kUcxShm   ? UcxProfile::kSameHost
                      : way_ == Way::kUcxTcp ? UcxProfile::kSameHostOtherUser
                                             : UcxProfile::kPeers;
    auto made = UcxTransport::Create(*process.loop, *process.heard, options);
    ASSERT_TRUE(made.ok()) << made.status();
    process.transport = *std::move(made);
  });
  return process;
}

void TransportRig::End(Process& process) {
  if (process.transport == nullptr) return;
  loops_->On(*process.loop, [&] { process.transport.reset(); });
}

std::pair<EndpointId, EndpointId> TransportRig::Join(Process& a, Process& b) {
  EndpointId at_a;
  EndpointId at_b;
  if (Dials(way_)) {
    std::string bound;
    loops_->On(*b.loop, [&] {
      auto listening = b.transport->Listen("127.0.0.1:0");
      ASSERT_TRUE(listening.ok()) << listening.status();
      bound = *listening;
    });
    std::size_t before = 0;
    loops_->Record([&] { before = b.heard->accepted.size(); });
    loops_->On(*a.loop, [&] {
      auto dialled = a.transport->Dial(bound);
      ASSERT_TRUE(dialled.ok()) << dialled.status();
      at_a = *dialled;
    });
    EXPECT_TRUE(loops_->Await([&] { return b.heard->accepted.size() > before; }));
    loops_->Record([&] { at_b = b.heard->accepted.back(); });
    return {at_a, at_b};
  }
  std::string address_a;
  std::string address_b;
  loops_->On(*a.loop, [&] { address_a = a.transport->Address(); });
  loops_->On(*b.loop, [&] { address_b = b.transport->Address(); });
  loops_->On(*a.loop, [&] {
    auto made = a.transport->Connect(address_b);
    ASSERT_TRUE(made.ok()) << made.status();
    at_a = *made;
  });
  loops_->On(*b.loop, [&] {
    auto made = b.transport->Connect(address_a);
    ASSERT_TRUE(made.ok()) << made.status();
    at_b = *made;
  });
  return {at_a, at_b};
}

absl::Status TransportRig::Send(Process& from, EndpointId to, int type, std::string body) {
  absl::Status status;
  loops_->On(*from.loop, [&] {
    status =
        from.transport->Send(to, MessageType(static_cast<std::uint8_t>(type)), std::move(body));
  });
  return status;
}

absl::Status TransportRig::SendBulk(Process& from, EndpointId to, std::string header,
                                    absl::string_view bytes, std::vector<absl::Status>& results) {
  absl::Status status;
  loops_->On(*from.loop, [&] {
    status = from.transport->SendBulk(to, MessageType(3), std::move(header), AsBytes(bytes),
                                      [this, &results](absl::Status s) {
                                        loops_->Record([&] { results.push_back(std::move(s)); });
                                      });
  });
  return status;
}

void TransportRig::Close(Process& process, EndpointId endpoint) {
  loops_->On(*process.loop, [&] { process.transport->Close(endpoint); });
}

}  // namespace cairn::contract
