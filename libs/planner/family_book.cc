#include "libs/planner/family_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libs/placement/saved_counts.h"
#include "libs/planner/limits.h"

namespace cairn::planner {

using placement::GetSavedCount;
using placement::PutCount;

FamilyBook::Family& FamilyBook::Touch(std::uint64_t family) {
  const auto found = families_.find(family);
  if (found != families_.end()) {
    uses_.splice(uses_.end(), uses_, found->second.use);
    return found->second.family;
  }
  if (families_.size() >= families_max_ && !uses_.empty()) {
    families_.erase(uses_.front());
    uses_.pop_front();
    ++evicted_;
  }
  uses_.push_back(family);
  Node node;
  node.use = std::prev(uses_.end());
  return families_.emplace(family, std::move(node)).first->second.family;
}

const FamilyBook::Family* FamilyBook::Find(std::uint64_t family) const {
  const auto found = families_.find(family);
  return found == families_.end() ? nullptr : &found->second.family;
}

void FamilyBook::Count(std::uint64_t family, std::uint32_t shared,
                       const std::vector<placement::ExpertPanel::InWorld>& worlds,
                       std::uint32_t requests) {
  Family& own = Touch(family);
  const bool is_heard = family == 0 || own.requests < kEstablished;
  own.requests += requests;
  own.ceiling += std::uint64_t{shared} * requests;
  for (std::size_t e = 0; e < experts_; ++e) {
    own.saved[e] += std::uint64_t{worlds[e].resumed} * requests;
    own.states[e] += worlds[e].placed;
  }
  if (!is_heard || shared == 0) return;
  pooled_requests_ += requests;
  for (std::size_t e = 0; e < experts_; ++e) {
    pooled_[e] += requests * static_cast<double>(worlds[e].resumed) / shared;
  }
}

double FamilyBook::PooledShare(std::size_t expert) const {
  return pooled_requests_ > 0 ? pooled_[expert] / pooled_requests_ : 0;
}

std::size_t FamilyBook::LeaderOf(std::uint64_t family) const {
  const Family* const own = Find(family);
  const bool is_known = own != nullptr && own->requests > 0;
  // All families' shares, in blocks of this one's usual request.
  double pool = kPoolRequests;
  if (is_known) {
    pool *= static_cast<double>(std::max<std::uint64_t>(own->ceiling, 1)) /
            static_cast<double>(own->requests);
  }
  if (is_known && own->requests >= kEstablished) pool = 0;
  std::size_t leader = 0;
  double best = -1;
  for (std::size_t e = 0; e < experts_; ++e) {
    const double saved = is_known ? static_cast<double>(own->saved[e]) : 0;
    const double value = saved + pool * PooledShare(e);
    if (value > best) {
      best = value;
      leader = e;
    }
  }
  return leader;
}

void FamilyBook::ForEach(const std::function<bool(std::uint64_t, const Family&)>& visit) const {
  for (auto use = uses_.rbegin(); use != uses_.rend(); ++use) {
    if (!visit(*use, families_.find(*use)->second.family)) return;
  }
}

void FamilyBook::SaveFamily(const Family& family, ByteWriter& out) const {
  for (const std::uint64_t count : {family.requests, family.claims, family.served, family.censored,
                                    family.ceiling, family.thinned}) {
    out.Put(count);
  }
  PutCount(out, family.credit);
  for (std::size_t e = 0; e < experts_; ++e) {
    out.Put(family.saved[e]);
    out.Put(family.states[e]);
  }
  family.distances.Save(out);
}

void FamilyBook::LoadFamily(ByteReader& in, Family& family) const {
  for (std::uint64_t* count : {&family.requests, &family.claims, &family.served, &family.censored,
                               &family.ceiling, &family.thinned}) {
    *count = in.Get<std::uint64_t>();
  }
  family.credit = GetSavedCount(in);
  if (family.credit > 1) in.MarkBad();
  for (std::size_t e = 0; e < experts_; ++e) {
    family.saved[e] = in.Get<std::uint64_t>();
    family.states[e] = in.Get<std::uint64_t>();
  }
  family.distances.Load(in);
}

void FamilyBook::Save(ByteWriter& out) const {
  PutCount(out, pooled_requests_);
  for (std::size_t e = 0; e < experts_; ++e) PutCount(out, pooled_[e]);
  out.Put(static_cast<std::uint32_t>(uses_.size()));
  for (const std::uint64_t family : uses_) {
    out.Put(family);
    SaveFamily(families_.find(family)->second.family, out);
  }
}

void FamilyBook::Load(ByteReader& in) {
  families_.clear();
  uses_.clear();
  pooled_requests_ = GetSavedCount(in);
  for (std::size_t e = 0; e < experts_; ++e) pooled_[e] = GetSavedCount(in);
  const std::size_t bytes_min = (8 + 2 * experts_) * sizeof(std::uint64_t);
  std::uint32_t left = in.GetCount(limits::kFamiliesMax, bytes_min);
  for (; left > 0 && in.ok(); --left) {
    const std::uint64_t id = in.Get<std::uint64_t>();
    if (families_.contains(id)) in.MarkBad();
    Family read;
    LoadFamily(in, read);
    if (left <= families_max_ && in.ok()) Touch(id) = std::move(read);
  }
}

}  // namespace cairn::planner
