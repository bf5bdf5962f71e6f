// NodeAdmin's OpenSession and Explain.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/node/admin_calls.h"

namespace cairn {

// ---- OpenSession ----

void NodeAdmin::OpenSession(RootClaim claim, absl::Duration ttl, AdminDone<SessionToken> done) {
  Begin<SessionToken>(std::move(done),
                      [this, claim = std::move(claim), ttl](AdminDone<SessionToken> end) {
                        const absl::StatusOr<Root> root = RootOf(claim);
                        if (!root.ok()) {
                          end(root.status());
                          return;
                        }
                        end(needs_.front.tokens().Issue(*root, ttl, needs_.loop.Now()));
                      });
}

// ---- Explain ----

void NodeAdmin::Explain(RootChoice root, std::vector<Key> keys, AdminDone<Explanation> done) {
  Begin<Explanation>(std::move(done), [this, root = std::move(root),
                                       keys = std::move(keys)](AdminDone<Explanation> end) mutable {
    if (!root.root.has_value() && !root.claim.has_value()) {
      end(absl::InvalidArgumentError("name a root or an identity"));
    } else if (keys.size() > limits::kKeysPerMessageMax) {
      end(absl::InvalidArgumentError(absl::StrCat("keys: at most ", limits::kKeysPerMessageMax)));
    } else {
      ExplainAs(root, std::move(keys), std::move(end));
    }
  });
}

void NodeAdmin::ExplainAs(const RootChoice& choice, std::vector<Key> keys,
                          AdminDone<Explanation> done) {
  const IdentityTable& identities = needs_.front.identities();
  const absl::StatusOr<std::optional<RootId>> id = Resolve(choice);
  if (!id.ok() && !absl::IsNotFound(id.status())) {
    done(id.status());
    return;
  }
  Explanation out{.is_root_known = id.ok()};
  std::vector<IdentityTable::Difference> alike;
  if (id.ok()) {
    alike = identities.MostAlike(**id, limits::kNearRootsShownMax);
  } else if (choice.claim.has_value()) {
    alike = identities.MostAlike(ClaimFields(*choice.claim).fields(), limits::kNearRootsShownMax);
  }
  std::vector<RootId> others;
  for (IdentityTable::Difference& difference : alike) {
    others.push_back(difference.other);
    out.others.push_back({.id = difference.other,
                          .root = identities.Find(difference.other)->root,
                          .differs_in = std::move(difference.fields)});
  }
  // RootId 0 is never given to a root, so nothing is found under it.
  const RootId own = id.ok() ? **id : RootId();
  AskShards<ShardExplanation>(
      [keys, own, others, count = needs_.options.shards](
          ShardIndex i, Shard& shard, absl::AnyInvocable<void(ShardExplanation)> reply) {
        ShardExplanation part;
        for (const Key& key : keys) {
          if (ShardOf(key, count) != i) continue;
          part.keys.push_back(shard.admin().Explain({own, key}, others));
        }
        std::vector<RootId> roots = others;
        roots.push_back(own);
        part.counts = shard.admin().CountsOf(roots);
        reply(std::move(part));
      },
      [this, keys, others, out = std::move(out),
       done = std::move(done)](std::vector<ShardExplanation> parts) mutable {
        Merge(keys, others, std::move(parts), out);
        done(std::move(out));
      });
}

void NodeAdmin::Merge(const std::vector<Key>& keys, const std::vector<RootId>& others,
                      std::vector<ShardExplanation> parts, Explanation& out) const {
  std::vector<std::size_t> next(parts.size(), 0);
  for (const Key& key : keys) {
    const ShardIndex i = ShardOf(key, needs_.options.shards);
    KeyExplanation& explained = parts[i].keys[next[i]++];
    if (explained.entry.has_value()) explained.entry->shard = i;
    for (std::size_t o = 0; o < others.size(); ++o) {
      const std::vector<RootId>& under = explained.present_under;
      if (std::find(under.begin(), under.end(), others[o]) != under.end()) {
        ++out.others[o].keys_present;
      }
    }
    out.keys.push_back(std::move(explained));
  }
  for (const ShardExplanation& part : parts) {
    for (std::size_t o = 0; o < others.size(); ++o) out.others[o].entries += part.counts[o].entries;
    out.root_entries += part.counts.back().entries;
  }
}

}  // namespace cairn
