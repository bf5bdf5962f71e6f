#include "tests/sim/rogue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"

namespace cairn::sim {

Rogue::Rogue(SimWorld& sim, SimNode& node)
    : sim_(sim), node_(node), rng_(sim.rng.Next()), bulk_(64 * kKiB, 'r') {}

void Rogue::Act() {
  if (peer_ == nullptr) {
    Appear();
  } else if (rng_.Chance(1, 6)) {
    Vanish();
  } else if (peer_->has_session()) {
    Misbehave();
  } else if (rng_.Chance(1, 3)) {
    peer_->Send(static_cast<wire::Type>(rng_.Below(20)), std::string(rng_.Below(9000), 'x'));
  } else if (rng_.Chance(1, 3)) {
    peer_->SendData({RequestId(1), 0}, AsBytes(bulk_).first(100));
  }
}

void Rogue::Appear() {
  RawPeer::Options options;
  options.token = rng_.Chance(1, 4) ? std::string(32, '?') : kDevSecret;
  options.token_id = rng_.Chance(1, 6) ? "nobody" : "dev";
  options.sends_hello = rng_.Chance(3, 4);
  options.hello.block_tokens = kBlockTokens;
  options.hello.block_bytes = kBlockBytes;
  options.hello.producer = "rogue";
  options.hello.identity = rng_.Chance(1, 2)
                               ? Universe::IdentityOf(0)
                               : ModelIdentity{.model = absl::StrCat("rogue-", ++appeared_)};
  loop_ = &sim_.world.AddLoop({.name = "rogue", .clock_offset = absl::Seconds(3)});
  const auto new_transport = [this](TransportReceiver& r) {
    return sim_.network.NewTransport(*loop_, r);
  };
  const bool is_remote = rng_.Chance(1, 2);
  if (!is_remote && rng_.Chance(1, 2)) options.pool_bytes = 4 * kStateBytes;
  peer_ = std::make_unique<RawPeer>(*loop_, sim_.memory, new_transport, options);
  if (is_remote) {
    peer_->Dial(sim_.scenario.node.remote_listen);
    return;
  }
  absl::StatusOr<std::unique_ptr<LocalChannel>> channel =
      sim_.hub.NewDialer(*loop_, kSocketPath, {.pid = 666})->Dial();
  if (channel.ok()) peer_->Meet(*std::move(channel));
}

void Rogue::Vanish() {
  if (peer_ == nullptr) return;
  sim_.network.Crash(*loop_);
  sim_.hub.Crash(*loop_);
  loop_->Crash();
  peer_.reset();
}

// One that it has, if any, or one that it never had.
PinId Rogue::SomePin() {
  for (auto it = peer_->acquired.rbegin(); it != peer_->acquired.rend(); ++it) {
    if (it->pin != PinId() && rng_.Chance(5, 6)) return it->pin;
  }
  return PinId(rng_.Below(9));
}

void Rogue::Misbehave() {
  const Universe& universe = Universe::Get();
  const Key key = universe.entries()[rng_.Below(universe.entries().size())].key;
  switch (rng_.Below(8)) {
    case 0:
      peer_->Send(wire::Type::kAcquire, std::string(rng_.Below(300), '\1'));
      break;
    case 1:
      peer_->Say(wire::Type::kSuspect, wire::Suspect{SomePin(), 0});
      break;
    case 2:
      peer_->Say(wire::Type::kPull, wire::Pull{.request = RequestId(++requests_),
                                               .remaining_us = rng_.Below(300),
                                               .pin = SomePin(),
                                               .indices = {0, 5}});
      break;
    case 3:
      peer_->SendData({RequestId(999), 3}, AsBytes(bulk_).first(kBlockBytes));
      break;
    case 4:
      peer_->Say(wire::Type::kAcquire,
                 wire::Acquire{.request = RequestId(++requests_),
                               .remaining_us = rng_.Below(600),
                               .want = rng_.Chance(1, 2) ? wire::Want::kPull : wire::Want::kPlace,
                               .keys = {key, key},
                               .kinds = {EntryKind::kKvBlock, EntryKind::kKvBlock}});
      // Slander: the bytes are sound, mostly.
      loop_->RunAt(loop_->Now() + absl::Microseconds(static_cast<std::int64_t>(rng_.Below(300))),
                   [this] {
                     peer_->Say(wire::Type::kSuspect, wire::Suspect{SomePin(), 0});
                   });
      break;
    default:
      OfferAndMisdeliver();
      break;
  }
}

// Offers an entry and then sends DATA of any size and content, or none.
void Rogue::OfferAndMisdeliver() {
  wire::Offer offer{.request = RequestId(++requests_), .remaining_us = rng_.Below(2000)};
  offer.entries.push_back({.key = Sha256Of(absl::StrCat("rogue's ", rng_.Below(3))),
                           .bytes = kBlockBytes,
                           .checksum = Checksum(rng_.Next()),
                           .depth = 1});
  peer_->Say(wire::Type::kOffer, offer);
  if (rng_.Chance(1, 3)) return;
  const std::uint64_t bytes = rng_.Chance(1, 2) ? kBlockBytes : 1 + rng_.Below(bulk_.size());
  loop_->RunAt(loop_->Now() + absl::Microseconds(static_cast<std::int64_t>(rng_.Below(300))),
               [this, offer, bytes] {
                 peer_->SendData({offer.request, 0}, AsBytes(bulk_).first(bytes));
               });
}

}  // namespace cairn::sim
