#include "services/node/admin_convert.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "services/node/counters.h"

namespace cairn {
namespace {

std::string BytesOf(const Digest256& digest) { return std::string(digest.view()); }

void Fill(absl::Duration duration, google::protobuf::Duration* out) {
  absl::Duration rest;
  out->set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  out->set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(rest)));
}

std::string HexOf(BootId boot) { return absl::StrFormat("%016x%016x", boot.high, boot.low); }

const char* NameOf(LaneKind lane) {
  switch (lane) {
    case LaneKind::kSameUser:
      return "same_user";
    case LaneKind::kOtherUser:
      return "other_user";
    case LaneKind::kRemote:
      return "remote";
  }
  return "";
}

const char* NameOf(KeyExplanation::State state) {
  switch (state) {
    case KeyExplanation::State::kPresent:
      return "present";
    case KeyExplanation::State::kFilling:
      return "filling";
    case KeyExplanation::State::kGone:
      return "gone";
    case KeyExplanation::State::kNeverSeen:
      return "never_seen";
  }
  return "";
}

const char* NameOf(RemovalReason reason) {
  switch (reason) {
    case RemovalReason::kEvicted:
      return "evicted";
    case RemovalReason::kQuarantined:
      return "quarantined";
    case RemovalReason::kAsked:
      return "evicted_by_admin";
  }
  return "";
}

void Fill(const EntryReport& entry, node::v1::Entry* out) {
  out->set_key(BytesOf(entry.id.key));
  out->set_kind(entry.kind == EntryKind::kState ? "state" : "kv_block");
  out->set_bytes(entry.bytes);
  out->set_checksum(entry.checksum.value());
  out->set_depth(entry.depth);
  out->set_shard(entry.shard);
  out->set_segment(entry.place.segment.value());
  out->set_slot(entry.place.slot.value());
  out->set_generation(entry.generation.value());
  if (entry.parent.has_value()) out->set_parent(BytesOf(*entry.parent));
  out->set_children(entry.children);
  Fill(entry.age, out->mutable_age());
  Fill(entry.since_last_use, out->mutable_since_last_use());
  out->set_uses(entry.uses);
  out->set_is_held(entry.is_held);
}

void Fill(const NamedEntry& named, node::v1::Entry* out) {
  Fill(named.entry, out);
  out->set_root(BytesOf(named.root));
  out->set_producer(named.producer);
}

void Fill(const Front::SessionReport& session, node::v1::Session* out) {
  out->set_id(session.id.value());
  out->set_producer(session.producer);
  out->set_root(BytesOf(session.root));
  out->set_lane(NameOf(session.lane));
  out->set_uid(session.process.uid);
  out->set_pid(session.process.pid);
  Fill(session.age, out->mutable_age());
  out->set_pool_bytes(session.pool_bytes);
  out->set_pinned_keys(session.pinned_keys);
  out->set_open_offers(session.open_offers);
}

}  // namespace

absl::StatusOr<Key> KeyOf(const std::string& bytes, absl::string_view field) {
  Key key;
  if (bytes.size() != key.bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", bytes.size(), " bytes, not 32"));
  }
  std::memcpy(key.bytes.data(), bytes.data(), bytes.size());
  return key;
}

absl::StatusOr<std::vector<Key>> KeysOf(
    const google::protobuf::RepeatedPtrField<std::string>& keys) {
  if (static_cast<std::size_t>(keys.size()) > limits::kKeysPerMessageMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("keys: ", keys.size(), ", at most ", limits::kKeysPerMessageMax));
  }
  std::vector<Key> out;
  out.reserve(static_cast<std::size_t>(keys.size()));
  for (const std::string& bytes : keys) {
    CAIRN_ASSIGN_OR_RETURN(const Key key, KeyOf(bytes, "keys"));
    out.push_back(key);
  }
  return out;
}

RootClaim ClaimOf(const node::v1::RootClaim& claim) {
  return {.identity = {.model = claim.model(),
                       .weights_digest = claim.weights_digest(),
                       .arch = claim.arch(),
                       .kv_layout = claim.kv_layout(),
                       .rope = claim.rope(),
                       .adapter = claim.adapter(),
                       .numerics = claim.numerics()},
          .name_space = claim.namespace_(),
          .salt = claim.salt(),
          .block_tokens = claim.block_tokens()};
}

absl::StatusOr<RootChoice> RootChoiceOf(const node::v1::RootChoice& choice) {
  RootChoice out;
  if (!choice.root().empty() && choice.has_claim()) {
    return absl::InvalidArgumentError("root: either its bytes or a claim, not both");
  }
  if (!choice.root().empty()) {
    CAIRN_ASSIGN_OR_RETURN(out.root, KeyOf(choice.root(), "root"));
  }
  if (choice.has_claim()) out.claim = ClaimOf(choice.claim());
  return out;
}

absl::StatusOr<EntryChoice> EntryChoiceOf(const node::v1::EntryChoice& choice) {
  EntryChoice out;
  CAIRN_ASSIGN_OR_RETURN(out.root, RootChoiceOf(choice.root()));
  CAIRN_ASSIGN_OR_RETURN(out.keys, KeysOf(choice.keys()));
  out.is_all = choice.is_all();
  return out;
}

void Fill(const ProcessStatus& process, node::v1::StatusResponse* out) {
  const NodeStatus& status = process.node;
  out->set_node_boot(HexOf(status.node_boot));
  out->set_arena_boot(HexOf(status.arena_boot));
  Fill(status.uptime, out->mutable_uptime());
  out->set_is_stopping(status.is_stopping);
  out->set_is_dev_mode(status.is_dev_mode);
  out->set_arena_bytes(status.arena_bytes);
  out->set_segment_bytes(status.segment_bytes);
  out->set_page_bytes(status.page_bytes);
  out->set_shards(status.shards);
  Fill(status.pin_age_max, out->mutable_pin_age_max());
  out->set_remote_address(status.remote_address);
  for (const Front::SessionReport& session : status.sessions) Fill(session, out->add_sessions());
  for (const NodeStatus::RootReport& root : status.roots) {
    node::v1::RootSummary* const summary = out->add_roots();
    summary->set_root(BytesOf(root.root));
    summary->set_model(root.model);
    summary->set_namespace_(root.name_space);
    summary->set_sessions(root.sessions);
    summary->set_entries(root.entries);
    summary->set_bytes(root.bytes);
  }
  for (const auto& [name, value] : CountersOf({status.stats, process.adapters}))
    (*out->mutable_counters())[name] = value;
}

void Fill(const EntryList& list, node::v1::ListResponse* out) {
  for (const NamedEntry& entry : list.entries) Fill(entry, out->add_entries());
  out->set_next_cursor(list.next_cursor);
}

void Fill(const std::vector<NamedEntry>& entries, node::v1::DescribeResponse* out) {
  for (const NamedEntry& entry : entries) Fill(entry, out->add_entries());
}

void Fill(const VerifyReport& report, node::v1::VerifyResponse* out) {
  out->set_checked(report.checked);
  out->set_bad(report.bad);
  out->set_missing(report.missing);
  out->set_skipped(report.skipped);
}

void Fill(const EvictReport& report, node::v1::EvictResponse* out) {
  out->set_evicted(report.evicted);
  out->set_held(report.held);
  out->set_missing(report.missing);
}

void Fill(const Explanation& explanation, node::v1::ExplainResponse* out) {
  out->set_is_root_known(explanation.is_root_known);
  out->set_root_entries(explanation.root_entries);
  for (const KeyExplanation& key : explanation.keys) {
    node::v1::KeyExplanation* const shown = out->add_keys();
    shown->set_key(BytesOf(key.key));
    shown->set_state(NameOf(key.state));
    if (key.entry.has_value()) Fill(*key.entry, shown->mutable_entry());
    if (key.gone_why.has_value()) {
      shown->set_gone_why(NameOf(*key.gone_why));
      Fill(key.gone_since, shown->mutable_gone_since());
    }
    for (const Explanation::Other& other : explanation.others) {
      const auto& under = key.present_under;
      if (std::find(under.begin(), under.end(), other.id) == under.end()) continue;
      shown->add_present_under(BytesOf(other.root));
    }
  }
  for (const Explanation::Other& other : explanation.others) {
    node::v1::OtherRoot* const shown = out->add_others();
    shown->set_root(BytesOf(other.root));
    for (const std::string& field : other.differs_in) shown->add_differs_in(field);
    shown->set_entries(other.entries);
    shown->set_keys_present(other.keys_present);
  }
}

void Fill(const SessionToken& token, node::v1::OpenSessionResponse* out) {
  out->set_token_id(token.id);
  out->set_token(token.secret);
  Fill(token.ttl, out->mutable_ttl());
}

}  // namespace cairn
