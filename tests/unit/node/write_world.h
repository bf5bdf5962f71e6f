#ifndef CAIRN_TESTS_UNIT_NODE_WRITE_WORLD_H_
#define CAIRN_TESTS_UNIT_NODE_WRITE_WORLD_H_

#include "tests/unit/node/node_world.h"

namespace cairn {

// WriteWorld is a NodeWorld whose peers offer.
class WriteWorld : public NodeWorld {
 protected:
  wire::StoreResult LastResult(RawPeer& peer) { return peer.stored.back().entries.at(0).result; }
  wire::WantEntry LastWant(RawPeer& peer) { return peer.wants.back().entries.at(0); }
  // Offers and waits for the first WANT.
  wire::WantMessage Offer(RawPeer& peer, const wire::Offer& offer) {
    const std::size_t before = peer.wants.size();
    peer.Say(wire::Type::kOffer, offer);
    EXPECT_TRUE(Until([&] { return peer.wants.size() > before; }));
    return peer.wants.size() > before ? peer.wants[before] : wire::WantMessage{};
  }
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_NODE_WRITE_WORLD_H_
