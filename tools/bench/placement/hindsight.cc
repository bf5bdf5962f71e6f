#include "tools/bench/placement/hindsight.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "libs/placement/limits.h"
#include "libs/placement/trie_greedy.h"
#include "tools/bench/placement/floored_sum.h"

namespace cairn::bench {
namespace {

using Wide = __int128;  // price x states

}  // namespace

Hindsight::Hindsight(absl::Span<const placement::TraceRequest> requests)
    : requests_(requests), usable_(UsableDepths(requests)) {
  Build();
}

void Hindsight::Build() {
  struct Step {
    std::uint64_t parent = 0;
    std::uint64_t claims = 0;
    std::uint32_t depth = 0;  // 0: no request can use it
    std::uint32_t branches = 0;
    std::uint32_t kept = 0;  // itself, or the nearest one above, as a node
  };
  std::uint64_t names = 0;
  for (const placement::TraceRequest& request : requests_) {
    for (const std::uint64_t block : request.blocks) names = std::max(names, block);
  }
  std::vector<Step> steps(names + 1);
  for (std::size_t r = 0; r < requests_.size(); ++r) {
    std::uint64_t parent = 0;
    for (std::uint32_t d = 0; d < usable_[r]; ++d) {
      Step& step = steps[requests_[r].blocks[d]];
      step.parent = parent;
      step.depth = d + 1;
      parent = requests_[r].blocks[d];
    }
    if (parent != 0) ++steps[parent].claims;
    ceiling_ += usable_[r];
  }
  for (const Step& step : steps) {
    if (step.depth > 0) ++steps[step.parent].branches;
  }
  nodes_.push_back({});
  for (std::uint64_t name = 1; name <= names; ++name) {
    Step& step = steps[name];
    if (step.depth == 0) continue;
    const std::uint32_t above = steps[step.parent].kept;
    step.kept = above;
    if (step.claims == 0 && step.branches < 2) continue;  // a state does as well further down
    step.kept = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.parent = above, .depth = step.depth, .claims = step.claims, .name = name});
    states_for_all_ += step.claims > 0 ? 1 : 0;
  }
}

const Hindsight::Priced& Hindsight::AtPrice(std::int64_t price) {
  const auto found = priced_.find(price);
  if (found != priced_.end()) return found->second;
  std::vector<FlooredSum> best;
  best.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    best.emplace_back(node.depth, static_cast<std::int64_t>(node.claims) * kPriceUnit);
  }
  // A state at the node pays where the nearest one above it is not yet as deep as this.
  std::vector<std::int64_t> pays_below(nodes_.size(), 0);
  for (std::size_t n = nodes_.size() - 1; n > 0; --n) {
    pays_below[n] = best[n].Floor(price);
    best[nodes_[n].parent].Add(std::move(best[n]));
  }
  Priced priced{.value = best[0].at_start(), .nodes = {}};
  std::vector<std::uint32_t> nearest(nodes_.size(), 0);
  for (std::size_t n = 1; n < nodes_.size(); ++n) {
    nearest[n] = nearest[nodes_[n].parent];
    if (nearest[n] >= pays_below[n]) continue;
    nearest[n] = nodes_[n].depth;
    priced.nodes.push_back(static_cast<std::uint32_t>(n));
  }
  return priced_.emplace(price, std::move(priced)).first->second;
}

std::vector<std::uint32_t> Hindsight::FillUp(std::vector<std::uint32_t> nodes,
                                             std::uint64_t states) const {
  if (nodes.size() >= states || nodes_.size() > placement::limits::kTrieNodesMax) return nodes;
  placement::TrieProblem trie;
  for (const Node& node : nodes_) {
    trie.push_back({.parent = node.parent,
                    .cost = node.depth,
                    .weight = static_cast<std::int64_t>(node.claims),
                    .is_held = false});
  }
  for (const std::uint32_t node : nodes) trie[node].is_held = true;
  const std::uint64_t left = std::min<std::uint64_t>(states, nodes_.size()) - nodes.size();
  const absl::StatusOr<placement::TriePlan> more =
      placement::GreedyTrie(trie, static_cast<std::uint32_t>(left));
  if (more.ok()) nodes.insert(nodes.end(), more->nodes.begin(), more->nodes.end());
  return nodes;
}

std::uint64_t Hindsight::Play(absl::Span<const std::uint32_t> nodes) const {
  std::uint64_t names = 0;
  for (const Node& node : nodes_) names = std::max(names, node.name);
  std::vector<bool> is_wanted(names + 1, false);
  std::vector<bool> is_there(names + 1, false);
  for (const std::uint32_t node : nodes) is_wanted[nodes_[node].name] = true;
  std::uint64_t saved = 0;
  for (std::size_t r = 0; r < requests_.size(); ++r) {
    const std::vector<std::uint64_t>& blocks = requests_[r].blocks;
    std::uint32_t resume = usable_[r];
    while (resume > 0 && !is_there[blocks[resume - 1]]) --resume;
    saved += resume;
    for (std::uint32_t d = resume; d < requests_[r].full_blocks; ++d) {
      if (blocks[d] <= names && is_wanted[blocks[d]]) is_there[blocks[d]] = true;
    }
  }
  return saved;
}

HindsightPoint Hindsight::At(std::uint64_t states_max) {
  // The least price at which no more than states_max states pay.
  std::int64_t low = -1;                                                 // too many do
  std::int64_t high = static_cast<std::int64_t>(ceiling_) * kPriceUnit;  // none does
  while (high - low > 1) {
    const std::int64_t price = low + (high - low) / 2;
    (AtPrice(price).nodes.size() <= states_max ? high : low) = price;
  }
  HindsightPoint point{.states_max = states_max, .bound = ceiling_, .reached = 0, .states = 0};
  for (const std::int64_t price : {low, high}) {
    if (price < 0) continue;
    const Wide bound = (Wide{AtPrice(price).value} + Wide{price} * states_max) / kPriceUnit;
    if (bound < Wide{point.bound}) point.bound = static_cast<std::uint64_t>(bound);
  }
  const std::vector<std::uint32_t> nodes = FillUp(AtPrice(high).nodes, states_max);
  point.reached = Play(nodes);
  point.states = nodes.size();
  return point;
}

}  // namespace cairn::bench
