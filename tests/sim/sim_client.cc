#include "tests/sim/sim_client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/mark.h"

namespace cairn::sim {
namespace {

constexpr std::uint64_t kPoolSlots = 24;
constexpr std::uint64_t kOddBlockBytes = 4096;
// A timer runs soon after its time: the world does one task at a time.
constexpr absl::Duration kSlack = absl::Milliseconds(1);

}  // namespace

SimClient::SimClient(SimWorld& sim, SimNode& node, int number)
    : sim_(sim),
      node_(node),
      number_(number),
      profile_(sim.scenario.clients[number]),
      rng_(sim.rng.Next()) {}

// ---- the process ----

void SimClient::Start() {
  ++starts_;
  is_quiet_ = false;
  has_stopped_ = false;
  loop_ = &sim_.world.AddLoop(
      {.name = absl::StrCat("client", number_),
       .clock_offset = absl::Seconds(static_cast<std::int64_t>(1000 * (number_ + 1) + starts_))});
  copier_ = std::make_unique<ManualCopier>(
      *loop_, ManualCopier::Options{.seed = rng_.Next(),
                                    .slice_bytes_max = sim_.scenario.copier_slice_bytes_max,
                                    .delay_max = sim_.scenario.copier_delay_max});
  flaky_copier_ =
      std::make_unique<FlakyCopier>(*copier_, rng_.Next(), sim_.scenario.copier_refusals);
  ClientPorts ports{
      .loop = *loop_,
      .copier = *flaky_copier_,
      .transports = [this](TransportProfile, TransportReceiver& receiver) {
        return absl::StatusOr<std::unique_ptr<Transport>>(sim_.NewTransport(*loop_, receiver));
      }};
  if (profile_.is_remote) {
    ports.remote_address = sim_.scenario.node.remote_listen;
  } else {
    dialer_ = sim_.hub.NewDialer(*loop_, kSocketPath, {.pid = number_ + 2});
    pool_ = *sim_.memory.Create("pool", kPoolSlots * kStateBytes);
    for (std::uint64_t i = 0; i < kPoolSlots; ++i) free_slots_.push_back(static_cast<int>(i));
    ports.dialer = dialer_.get();
    ports.memory = &sim_.memory;
    ports.pool = pool_.get();
  }
  client_ = std::make_unique<CacheClient>(std::move(ports), Options());
  loop_->Post([this] {
    client_->Start();
    ActLater();
  });
}

ClientOptions SimClient::Options() {
  ClientOptions options;
  options.peer_name = "sim";
  options.tokens = [this](auto done) { AskForToken(std::move(done)); };
  options.producer = absl::StrCat("client-", number_);
  options.identity = Universe::IdentityOf(profile_.tenant);
  options.block_tokens = kBlockTokens;
  options.block_bytes = profile_.has_odd_blocks ? kOddBlockBytes : kBlockBytes;
  options.root = Universe::RootOfTenant(profile_.tenant);
  options.seed = rng_.Next();
  options.attempt_timeout = absl::Milliseconds(2);
  options.backoff_min = absl::Microseconds(50);
  options.backoff_max = absl::Milliseconds(1);
  options.release_delay = absl::Microseconds(30);
  if (rng_.Chance(1, 5)) options.calls_max = 2;
  if (rng_.Chance(1, 5)) options.verified_slots_max = 2;
  if (rng_.Chance(1, 5)) options.offered_bytes_max = 3 * kBlockBytes;
  return options;
}

void SimClient::AskForToken(absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> done) {
  if (!sim_.scenario.has_tokens) {
    done(AccessToken{"dev", kDevSecret});
  } else if (!node_.is_up()) {
    done(absl::UnavailableError("no node"));
  } else {
    // A token that is for another tenant is tried too.
    const int tenant = rng_.Chance(1, 8) ? 1 - profile_.tenant : profile_.tenant;
    node_.node().admin().OpenSession(
        {.identity = Universe::IdentityOf(tenant), .block_tokens = kBlockTokens}, absl::Seconds(10),
        [done = std::move(done)](absl::StatusOr<SessionToken> token) mutable {
          if (!token.ok()) {
            done(token.status());
          } else {
            done(AccessToken{token->id, token->secret});
          }
        });
  }
}

void SimClient::Crash() {
  if (client_ == nullptr) return;
  sim_.network.Crash(*loop_);
  sim_.hub.Crash(*loop_);
  loop_->Crash();
  client_->Abandon();
  client_.reset();
  readings_.clear();
  offers_.clear();
  buffers_.clear();
  free_slots_.clear();
  pool_.reset();
  dialer_.reset();
  flaky_copier_.reset();
  copier_.reset();
  calls_open_ = 0;
}

void SimClient::Pause() {
  ++pauses_;
  loop_->Pause();
}
void SimClient::Resume() { loop_->Resume(); }

bool SimClient::IsIdle() const {
  return calls_open_ == 0 && readings_.empty() && offers_.empty() && buffers_.empty();
}

void SimClient::Stop() {
  loop_->Post([this] { client_->Stop([this] { has_stopped_ = true; }); });
}

// ---- what it does ----

void SimClient::ActLater() {
  const absl::Duration think = rng_.Unit() * profile_.think_max;
  loop_->RunAt(loop_->Now() + think, [this] { Act(); });
}

void SimClient::Act() {
  if (is_quiet_) return;
  const int burst = rng_.Chance(1, 15) ? 6 : 1;
  for (int i = 0; i < burst; ++i) {
    if (rng_.Chance(1, 5)) {
      BeginOffer(PickPrompt().entries);
    } else {
      BeginAcquire(PickPrompt());
    }
  }
  ActLater();
}

SimClient::Ask SimClient::PickPrompt() {
  const Universe& universe = Universe::Get();
  Ask ask;
  ask.is_hybrid = profile_.is_hybrid && rng_.Chance(1, 2);
  const int documents = ask.is_hybrid ? 1 : 1 + static_cast<int>(rng_.Below(3));
  for (int d = 0; d < documents; ++d) {
    const SimDocument& document = universe.documents()[rng_.Below(universe.documents().size())];
    const std::size_t blocks = 1 + rng_.Below(document.blocks.size());
    ask.entries.insert(ask.entries.end(), document.blocks.begin(),
                       document.blocks.begin() + static_cast<std::ptrdiff_t>(blocks));
    if (ask.is_hybrid) {
      ask.entries.insert(ask.entries.end(), document.states.begin(), document.states.end());
    }
  }
  for (const int entry : ask.entries) ask.kinds.push_back(universe.entries()[entry].kind);
  constexpr std::int64_t kPatience[] = {4, 60, 400, 3000, 3000};
  ask.deadline = loop_->Now() + Random(kPatience[rng_.Below(5)]);
  ask.pauses = pauses_;
  return ask;
}

std::uint64_t SimClient::BytesFor(int entry) const {
  const SimEntry& e = Universe::Get().entries()[entry];
  return profile_.has_odd_blocks && e.kind == EntryKind::kKvBlock ? kOddBlockBytes : e.bytes;
}

void SimClient::BeginAcquire(Ask ask) {
  const Universe& universe = Universe::Get();
  AcquireRequest request{.kinds = ask.kinds, .deadline = ask.deadline, .is_hybrid = ask.is_hybrid};
  for (const int entry : ask.entries) request.keys.push_back(universe.entries()[entry].key);
  if (ask.is_hybrid) request.resume_depth_max = kBlockTokens * (1 + rng_.Below(6)) - 1;
  ask.is_pull = rng_.Chance(profile_.is_remote ? 10 : 1, 20);
  if (ask.is_pull) {
    request.want = wire::Want::kPull;
    for (const int entry : ask.entries) {
      const std::uint64_t bytes = rng_.Chance(1, 30) ? 512 : BytesFor(entry);
      request.targets.push_back(NewTarget(bytes, ask.buffers.emplace_back()));
    }
  }
  if (rng_.Chance(2, 3)) TellPrompt(ask, request);
  ++sim_.tally.acquires;
  ++calls_open_;
  client_->Acquire(std::move(request), [this, ask](AcquireAnswer answer) mutable {
    --calls_open_;
    OnAnswer(ask, std::move(answer));
  });
}

// The first ACQUIRE of a prompt, of which all begins are remembered.
void SimClient::TellPrompt(Ask& ask, AcquireRequest& request) {
  for (std::size_t i = 0; i < ask.entries.size(); ++i) {
    const SimEntry& entry = Universe::Get().entries()[ask.entries[i]];
    if (entry.kind == EntryKind::kKvBlock) {
      ask.prompt.push_back(ask.entries[i]);
      ++sim_.prompts_that_begin[{profile_.tenant, ask.prompt}];
      request.ends.push_back(static_cast<std::uint32_t>(ask.prompt.size() * kBlockTokens));
    } else {
      request.ends.push_back(static_cast<std::uint32_t>(entry.depth));
    }
  }
  request.prompt_tokens = *std::max_element(request.ends.begin(), request.ends.end());
}

// An overlap is with a prompt of the same tenant that somebody has asked for.
void SimClient::CheckOverlap(const Ask& ask, const AcquireAnswer& answer) {
  const std::size_t blocks = answer.overlap_depth / kBlockTokens;
  if (blocks == 0) return;
  CAIRN_COVERED("sim_prompts_overlap");
  const bool is_whole = answer.overlap_depth % kBlockTokens == 0 && blocks <= ask.prompt.size();
  const auto begun = sim_.prompts_that_begin.find(
      {profile_.tenant,
       {ask.prompt.begin(),
        ask.prompt.begin() + static_cast<std::ptrdiff_t>(is_whole ? blocks : 0)}});
  if (is_whole && begun != sim_.prompts_that_begin.end() && begun->second > 1) return;
  sim_.Fail(absl::StrCat("client ", number_, " is told of ", answer.overlap_depth,
                         " tokens in common with nobody"));
}

// Promise 6.
void SimClient::CheckInTime(Instant deadline, std::uint64_t pauses, const char* what) {
  if (pauses != pauses_ || loop_->Now() <= deadline + kSlack) return;
  sim_.Fail(absl::StrCat("promise 6: ", what, " of client ", number_, " ended ",
                         absl::FormatDuration(loop_->Now() - deadline), " late"));
}

// Promise 3.
void SimClient::CheckHybrid(const Ask& ask, const AcquireAnswer& answer) {
  const Universe& universe = Universe::Get();
  std::uint64_t covered = 0;
  bool has_state = answer.resume_depth == 0;
  for (std::size_t i = 0; i < answer.keys.size(); ++i) {
    if (!answer.keys[i].is_hit()) continue;
    const SimEntry& entry = universe.entries()[ask.entries[i]];
    if (entry.kind == EntryKind::kState) {
      has_state = has_state || entry.depth == answer.resume_depth;
    } else if (entry.depth == covered + kBlockTokens) {
      covered = entry.depth;
    }
  }
  if (!has_state || covered < answer.resume_depth) {
    sim_.Fail(absl::StrCat("promise 3: resume at ", answer.resume_depth, " with KV for ", covered));
  }
}

void SimClient::CheckBytes(absl::Span<const std::byte> bytes, int entry, const char* how) {
  const bool is_right =
      bytes.size() == BytesFor(entry) && Universe::Get().IsRight(bytes, entry, profile_.tenant);
  if (is_right) {
    ++sim_.tally.reads;
  } else {
    sim_.Fail(absl::StrCat("promise 1: client ", number_, " got wrong bytes (", bytes.size(),
                           ") of entry ", entry, ", ", how));
  }
}

void SimClient::OnAnswer(const Ask& ask, AcquireAnswer answer) {
  CheckInTime(ask.deadline, ask.pauses, "ACQUIRE");
  if (answer.keys.size() != ask.entries.size()) return sim_.Fail("an answer of another size");
  if (ask.is_hybrid) CheckHybrid(ask, answer);
  CheckOverlap(ask, answer);
  const std::vector<int> misses = MissesOf(ask, answer);
  const bool has_hits = misses.size() < ask.entries.size();
  if (ask.is_pull) {
    for (std::size_t i = 0; i < answer.keys.size(); ++i) {
      if (answer.keys[i].is_hit()) CheckBytes(answer.keys[i].block.bytes, ask.entries[i], "pulled");
    }
  } else if (has_hits && answer.mapping != nullptr) {
    BeginReading(ask, std::move(answer));
  } else if (has_hits) {
    BeginPull(ask, std::move(answer));
  }
  for (const std::uint64_t id : ask.buffers) {
    buffers_.at(id).is_answered = true;
    DropIfDone(id);
  }
  if (!misses.empty() && !is_quiet_) BeginOffer(misses);
}

std::vector<int> SimClient::MissesOf(const Ask& ask, const AcquireAnswer& answer) const {
  std::vector<int> misses;
  for (std::size_t i = 0; i < answer.keys.size(); ++i) {
    if (!answer.keys[i].is_hit()) misses.push_back(ask.entries[i]);
  }
  return misses;
}

// ---- reading in place ----

void SimClient::BeginReading(const Ask& ask, AcquireAnswer answer) {
  const std::uint64_t id = ++last_id_;
  auto reading = std::make_unique<Reading>();
  reading->answer = std::move(answer);
  reading->entries = ask.entries;
  reading->copies.resize(ask.entries.size());
  reading->piece_bytes = 512u << rng_.Below(4);
  // Some steps are slow, far past their pin: their throw-away is what generations are for.
  reading->pause_max = absl::Microseconds(rng_.Chance(1, 6) ? 400 : 20);
  readings_[id] = std::move(reading);
  loop_->Post([this, id] { ReadPiece(id); });
}

void SimClient::ReadPiece(std::uint64_t id) {
  Reading& reading = *readings_.at(id);
  const std::vector<KeyAnswer>& keys = reading.answer.keys;
  while (reading.key < keys.size() &&
         (!keys[reading.key].is_hit() ||
          reading.copies[reading.key].size() == keys[reading.key].block.bytes.size())) {
    ++reading.key;
  }
  if (reading.key == keys.size()) return EndReading(id);
  std::vector<std::byte>& copy = reading.copies[reading.key];
  const absl::Span<const std::byte> piece =
      keys[reading.key].block.bytes.subspan(copy.size(), reading.piece_bytes);
  copy.insert(copy.end(), piece.begin(), piece.end());
  loop_->RunAt(loop_->Now() + rng_.Unit() * reading.pause_max, [this, id] { ReadPiece(id); });
}

void SimClient::EndReading(std::uint64_t id) {
  const std::unique_ptr<Reading> reading = std::move(readings_.at(id));
  readings_.erase(id);
  const ReadCheck check;  // after the step's last read
  for (std::size_t i = 0; i < reading->entries.size(); ++i) {
    const KeyAnswer& key = reading->answer.keys[i];
    if (!key.is_hit()) continue;
    if (StillValid(check, key.block)) {
      CheckBytes(reading->copies[i], reading->entries[i], "in place");
    } else {
      ++sim_.tally.reads_thrown;
    }
  }
}

// ---- pulling ----

PullTarget SimClient::NewTarget(std::uint64_t bytes, std::uint64_t& id) {
  id = ++last_id_;
  Buffer& buffer = buffers_[id];
  buffer.bytes.resize(bytes);
  return PullTarget{.bytes = absl::MakeSpan(buffer.bytes), .returned = [this, id = id] {
                      buffers_.at(id).is_back = true;
                      DropIfDone(id);
                    }};
}

void SimClient::DropIfDone(std::uint64_t id) {
  const Buffer& buffer = buffers_.at(id);
  if (buffer.is_back && buffer.is_answered) buffers_.erase(id);
}

void SimClient::BeginPull(const Ask& ask, AcquireAnswer answer) {
  std::vector<PullItem> items;
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < answer.keys.size(); ++i) {
    const KeyAnswer& key = answer.keys[i];
    if (!key.is_hit()) continue;
    PullItem item{.index = i, .bytes = key.entry_bytes, .checksum = key.block.checksum};
    item.target = NewTarget(key.entry_bytes, ids.emplace_back());
    items.push_back(std::move(item));
  }
  std::vector<int> entries;
  for (const PullItem& item : items) entries.push_back(ask.entries[item.index]);
  const Instant deadline = loop_->Now() + Random(rng_.Chance(1, 4) ? 40 : 2000);
  auto pin = std::make_unique<HeldPin>(std::move(answer.pin));
  const HeldPin& held = *pin;
  ++calls_open_;
  client_->Pull(held, std::move(items), deadline,
                [this, ids, entries, deadline, pauses = pauses_,
                 pin = std::move(pin)](std::vector<KeyResult> results) {
                  --calls_open_;
                  CheckInTime(deadline, pauses, "PULL");
                  for (std::size_t i = 0; i < results.size(); ++i) {
                    Buffer& buffer = buffers_.at(ids[i]);
                    buffer.is_answered = true;
                    if (results[i] == KeyResult::kHit) {
                      CheckBytes(buffer.bytes, entries[i], "by PULL");
                    }
                    DropIfDone(ids[i]);
                  }
                });
}

}  // namespace cairn::sim
