#include "libs/node/admin.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/node/admin_calls.h"

namespace cairn {

NodeAdmin::NodeAdmin(const Needs& needs) : needs_(needs), started_(needs.loop.Now()) {}
NodeAdmin::~NodeAdmin() = default;

// ---- calls ----

void NodeAdmin::End() {
  if (--under_way_ == 0 && on_stopped_ != nullptr) std::exchange(on_stopped_, nullptr)();
}

void NodeAdmin::Stop(absl::AnyInvocable<void()> done) {
  is_stopping_ = true;
  for (const std::unique_ptr<Shard>& shard : needs_.front.shards()) {
    shard->loop().Post([&to = *shard] { to.admin().Stop(); });
  }
  if (under_way_ == 0) {
    done();
  } else {
    on_stopped_ = std::move(done);
  }
}

// ---- roots ----

absl::StatusOr<std::optional<RootId>> NodeAdmin::Resolve(const RootChoice& choice) const {
  std::optional<Root> root = choice.root;
  if (choice.claim.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(root, RootOf(*choice.claim));
  }
  if (!root.has_value()) return std::optional<RootId>();
  const KnownRoot* const known = needs_.front.identities().Find(*root);
  if (known == nullptr) {
    return absl::NotFoundError(absl::StrCat("no session has opened root ", root->ToHex()));
  }
  return std::optional<RootId>(known->id);
}

// A choice as each shard has to act on it.
absl::StatusOr<std::vector<EntrySelection>> NodeAdmin::Select(const EntryChoice& what) const {
  if (what.is_all == !what.keys.empty()) {
    return absl::InvalidArgumentError("name either keys, or all entries");
  }
  if (what.keys.size() > limits::kKeysPerMessageMax) {
    return absl::InvalidArgumentError(absl::StrCat("keys: at most ", limits::kKeysPerMessageMax));
  }
  CAIRN_ASSIGN_OR_RETURN(const std::optional<RootId> root, Resolve(what.root));
  EntrySelection common{.is_all = what.is_all, .root = root};
  if (!what.is_all) {
    common.key_roots =
        root.has_value() ? std::vector<RootId>{*root} : needs_.front.identities().Ids();
  }
  const auto count = static_cast<std::uint32_t>(needs_.front.shards().size());
  std::vector<EntrySelection> out(count, common);
  for (const Key& key : what.keys) out[ShardOf(key, count)].keys.push_back(key);
  return out;
}

NamedEntry NodeAdmin::Name(EntryReport report, ShardIndex shard) const {
  report.shard = shard;
  NamedEntry named{.entry = std::move(report), .root = {}, .producer = {}};
  if (const KnownRoot* const known = needs_.front.identities().Find(named.entry.id.root)) {
    named.root = known->root;
  }
  named.producer = needs_.front.producers().NameOf(named.entry.producer);
  return named;
}

// ---- Status ----

void NodeAdmin::Status(AdminDone<NodeStatus> done) {
  Begin<NodeStatus>(std::move(done), [this](AdminDone<NodeStatus> end) {
    std::vector<RootId> roots = needs_.front.identities().Ids();
    if (roots.size() > limits::kListEntriesMax) roots.resize(limits::kListEntriesMax);
    AskShards<ShardStatus>(
        [roots](ShardIndex, Shard& shard, absl::AnyInvocable<void(ShardStatus)> reply) {
          reply({shard.Snapshot(), shard.admin().CountsOf(roots)});
        },
        [this, roots, end = std::move(end)](std::vector<ShardStatus> shards) mutable {
          end(StatusWith(roots, shards));
        });
  });
}

NodeStatus NodeAdmin::StatusWith(const std::vector<RootId>& roots,
                                 const std::vector<ShardStatus>& shards) const {
  NodeStatus status{.node_boot = needs_.front.boot(),
                    .arena_boot = needs_.arena.boot(),
                    .uptime = needs_.loop.Now() - started_,
                    .is_stopping = needs_.front.is_stopping(),
                    .arena_bytes = needs_.options.arena_bytes,
                    .segment_bytes = needs_.options.segment_bytes,
                    .page_bytes = needs_.arena.page_bytes(),
                    .shards = needs_.options.shards,
                    .is_dev_mode = !needs_.options.dev_token.empty(),
                    .pin_age_max = needs_.options.pin_age_max,
                    .remote_address = needs_.front.remote_address()};
  status.stats.front = needs_.front.Snapshot();
  for (const ShardStatus& shard : shards) status.stats.shards += shard.stats;
  status.sessions = needs_.front.ReportSessions();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const KnownRoot* const known = needs_.front.identities().Find(roots[i]);
    if (known == nullptr) continue;  // forgotten since
    NodeStatus::RootReport report{.root = known->root, .sessions = known->sessions};
    for (const KnownField& field : known->fields) {
      if (field.name == "model") report.model = field.shown;
      if (field.name == "namespace") report.name_space = field.shown;
    }
    for (const ShardStatus& shard : shards) {
      report.entries += shard.counts[i].entries;
      report.bytes += shard.counts[i].bytes;
    }
    status.roots.push_back(std::move(report));
  }
  return status;
}

// ---- List, Describe ----

void NodeAdmin::List(RootChoice root, std::string cursor, std::size_t limit,
                     AdminDone<EntryList> done) {
  Begin<EntryList>(std::move(done), [this, root = std::move(root), cursor = std::move(cursor),
                                     limit](AdminDone<EntryList> end) mutable {
    const absl::StatusOr<std::optional<RootId>> id = Resolve(root);
    if (!id.ok()) {
      end(id.status());
      return;
    }
    std::uint32_t shard = 0;
    std::uint32_t at = 0;
    const std::vector<std::string> parts = absl::StrSplit(cursor, '.');
    const bool is_cursor =
        cursor.empty() || (parts.size() == 2 && absl::SimpleAtoi(parts[0], &shard) &&
                           absl::SimpleAtoi(parts[1], &at));
    if (!is_cursor || shard >= needs_.front.shards().size()) {
      end(absl::InvalidArgumentError("cursor: not one that List gave"));
      return;
    }
    if (limit == 0 || limit > limits::kListEntriesMax) limit = limits::kListEntriesMax;
    ListOn(shard, at, limit, *id, EntryList{}, std::move(end));
  });
}

// Fills up the list from one shard after the other.
void NodeAdmin::ListOn(ShardIndex shard, std::uint32_t cursor, std::size_t limit,
                       std::optional<RootId> root, EntryList so_far, AdminDone<EntryList> done) {
  Shard& on = *needs_.front.shards()[shard];
  const std::size_t wanted = limit - so_far.entries.size();
  on.loop().Post([this, &on, shard, cursor, wanted, limit, root, so_far = std::move(so_far),
                  done = std::move(done)]() mutable {
    ListReport report = on.admin().List(cursor, wanted, root);
    needs_.loop.Post([this, shard, limit, root, report = std::move(report),
                      so_far = std::move(so_far), done = std::move(done)]() mutable {
      for (EntryReport& entry : report.entries) {
        so_far.entries.push_back(Name(std::move(entry), shard));
      }
      const bool is_full = so_far.entries.size() >= limit;
      const bool is_last = shard + 1 == needs_.front.shards().size();
      if (report.next_cursor != 0 && is_full) {
        so_far.next_cursor = absl::StrCat(shard, ".", report.next_cursor);
      } else if (report.next_cursor != 0) {
        ListOn(shard, report.next_cursor, limit, root, std::move(so_far), std::move(done));
        return;
      } else if (!is_last && is_full) {
        so_far.next_cursor = absl::StrCat(shard + 1, ".0");
      } else if (!is_last) {
        ListOn(shard + 1, 0, limit, root, std::move(so_far), std::move(done));
        return;
      }
      done(std::move(so_far));
    });
  });
}

void NodeAdmin::Describe(Key key, RootChoice root, AdminDone<std::vector<NamedEntry>> done) {
  using Entries = std::vector<NamedEntry>;
  Begin<Entries>(std::move(done), [this, key, root = std::move(root)](AdminDone<Entries> end) {
    const absl::StatusOr<std::optional<RootId>> id = Resolve(root);
    if (!id.ok()) {
      end(id.status());
      return;
    }
    const std::vector<RootId> roots =
        id->has_value() ? std::vector<RootId>{**id} : needs_.front.identities().Ids();
    AskShards<std::vector<EntryReport>>(
        [key, roots](ShardIndex, Shard& shard,
                     absl::AnyInvocable<void(std::vector<EntryReport>)> reply) {
          std::vector<EntryReport> found;
          for (const RootId under : roots) {
            if (auto entry = shard.admin().Describe({under, key})) found.push_back(*entry);
          }
          reply(std::move(found));
        },
        [this, key, end = std::move(end)](std::vector<std::vector<EntryReport>> shards) mutable {
          Entries out;
          for (ShardIndex i = 0; i < shards.size(); ++i) {
            for (EntryReport& entry : shards[i]) out.push_back(Name(std::move(entry), i));
          }
          if (out.empty()) {
            end(absl::NotFoundError(absl::StrCat("no entry under key ", key.ToHex())));
          } else {
            end(std::move(out));
          }
        });
  });
}

// ---- Verify, Evict ----

namespace {

void Add(const VerifyReport& part, VerifyReport& sum) {
  sum.checked += part.checked;
  sum.bad += part.bad;
  sum.missing += part.missing;
  sum.skipped += part.skipped;
}
void Add(const EvictReport& part, EvictReport& sum) {
  sum.evicted += part.evicted;
  sum.held += part.held;
  sum.missing += part.missing;
}

// The sum of what the shards report, or the first refusal.
template <class Report>
absl::StatusOr<Report> SumOf(const std::vector<absl::StatusOr<Report>>& parts) {
  Report sum;
  for (const absl::StatusOr<Report>& part : parts) {
    if (!part.ok()) return part.status();
    Add(*part, sum);
  }
  return sum;
}

}  // namespace

template <class Report>
void NodeAdmin::RunOnShards(EntryChoice what, AdminDone<Report> done,
                            absl::Status (ShardAdmin::*begin)(EntrySelection,
                                                              absl::AnyInvocable<void(Report)>)) {
  using Part = absl::StatusOr<Report>;
  Begin<Report>(std::move(done), [this, what = std::move(what), begin](AdminDone<Report> end) {
    absl::StatusOr<std::vector<EntrySelection>> selected = Select(what);
    if (!selected.ok()) {
      end(selected.status());
      return;
    }
    AskShards<Part>(
        [selected = *selected, begin](ShardIndex i, Shard& shard,
                                      absl::AnyInvocable<void(Part)> reply) {
          auto shared = std::make_shared<decltype(reply)>(std::move(reply));
          const absl::Status begun = (shard.admin().*begin)(
              selected[i], [shared](Report report) { (*shared)(std::move(report)); });
          if (!begun.ok()) (*shared)(begun);
        },
        [end = std::move(end)](std::vector<Part> parts) mutable { end(SumOf(parts)); });
  });
}

void NodeAdmin::Verify(EntryChoice what, AdminDone<VerifyReport> done) {
  RunOnShards<VerifyReport>(std::move(what), std::move(done), &ShardAdmin::Verify);
}

void NodeAdmin::Evict(EntryChoice what, AdminDone<EvictReport> done) {
  RunOnShards<EvictReport>(std::move(what), std::move(done), &ShardAdmin::Evict);
}

}  // namespace cairn
