#ifndef CAIRN_LIBS_CLIENT_BLOCK_VERIFIER_H_
#define CAIRN_LIBS_CLIENT_BLOCK_VERIFIER_H_

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "libs/base/ids.h"
#include "libs/client/arena_mapping.h"
#include "libs/client/call_context.h"
#include "libs/client/verified_set.h"

namespace cairn {

// BlockVerifier sums a block in place before anyone reads it: once per arena, slot and generation,
// off the loop, one sum however many ask for it meanwhile.
// Threads: the client's loop.
class BlockVerifier {
 public:
  enum class Verdict {
    kSound,
    kStale,    // the slot's word changed: what was summed was another content, or a mix
    kCorrupt,  // the word did not change, and the sum is wrong
    kBusy,     // no copy job to be had
  };
  // `is_first` for one of those who waited for a sum: that one reports it.
  using Done = absl::AnyInvocable<void(Verdict verdict, bool is_first)>;

  explicit BlockVerifier(CallContext& context);
  BlockVerifier(const BlockVerifier&) = delete;
  BlockVerifier& operator=(const BlockVerifier&) = delete;

  // A session on this arena begins: what was verified in another one counts no more.
  void BeginArena(BootId arena) { verified_.BeginArena(arena); }
  // A verdict at once (kSound: known; kBusy), or nullopt, and `done` comes. `mapping` stays mapped
  // until then. `block` is in `place` of it.
  std::optional<Verdict> Verify(std::shared_ptr<const ArenaMapping> mapping, Place place,
                                const HitBlock& block, Done done);

 private:
  // What is being summed. The mapping tells two arenas' slots apart.
  using Content = std::tuple<const ArenaMapping*, Place, Generation, Checksum>;
  struct Sum {
    std::shared_ptr<const ArenaMapping> mapping;
    HitBlock block;
    std::vector<Done> waiting;
    Gate::Pass pass;
  };

  void OnSummed(const Content& content, Checksum sum);

  CallContext& context_;
  VerifiedSet verified_;
  absl::flat_hash_map<Content, Sum> running_;  // never iterated
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_BLOCK_VERIFIER_H_
