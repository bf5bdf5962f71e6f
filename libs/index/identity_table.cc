#include "libs/index/identity_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"

namespace cairn {
namespace {

constexpr std::size_t kShownBytesMax = 256;

KnownField Remember(const IdentityField& field) {
  return KnownField{
      .name = std::string(field.name),
      .shown = field.is_secret ? "" : absl::CHexEscape(field.value.substr(0, kShownBytesMax)),
      .digest = Sha256Of(field.value)};
}

const KnownField* FindField(absl::Span<const KnownField> fields, absl::string_view name) {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [name](const auto& field) { return field.name == name; });
  return it == fields.end() ? nullptr : &*it;
}

// Names of the fields of `a` that `b` lacks or has otherwise, then of those that only `b` has.
std::vector<std::string> NamesThatDiffer(absl::Span<const KnownField> a,
                                         absl::Span<const KnownField> b) {
  std::vector<std::string> names;
  for (const KnownField& field : a) {
    const KnownField* other = FindField(b, field.name);
    if (other == nullptr || other->digest != field.digest) names.push_back(field.name);
  }
  for (const KnownField& field : b) {
    if (FindField(a, field.name) == nullptr) names.push_back(field.name);
  }
  return names;
}

}  // namespace

IdentityTable::IdentityTable(const Options& options) : options_(options) {
  CAIRN_CHECK(options.roots_max > 0 && options.roots_max <= limits::kRootsMax) << options.roots_max;
}

absl::StatusOr<RootId> IdentityTable::Open(const Root& root,
                                           absl::Span<const IdentityField> fields) {
  if (fields.size() > limits::kIdentityFieldsMax) {
    return absl::InvalidArgumentError(absl::StrCat("identity of ", fields.size(), " fields"));
  }
  for (const IdentityField& field : fields) {
    if (field.value.size() > limits::kIdentityFieldBytesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("identity field ", field.name, " is too long: ", field.value.size()));
    }
  }
  if (const auto it = by_root_.find(root); it != by_root_.end()) {
    KnownRoot& known = by_id_.find(it->second)->second;
    if (known.sessions == 0) closed_.erase(known.last_change);
    ++known.sessions;
    known.last_change = ++changes_;
    return it->second;
  }
  if (by_id_.size() >= options_.roots_max && !ForgetOne()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("all ", options_.roots_max, " identities have open sessions"));
  }
  if (last_id_ == UINT32_MAX) return absl::ResourceExhaustedError("out of root numbers");
  const RootId id(++last_id_);
  KnownRoot known{.id = id, .root = root, .sessions = 1, .last_change = ++changes_};
  for (const IdentityField& field : fields) known.fields.push_back(Remember(field));
  by_id_.emplace(id, std::move(known));
  by_root_.emplace(root, id);
  return id;
}

void IdentityTable::Close(RootId id) {
  const auto it = by_id_.find(id);
  CAIRN_CHECK(it != by_id_.end()) << id.value();
  KnownRoot& known = it->second;
  CAIRN_CHECK(known.sessions > 0) << id.value();
  known.last_change = ++changes_;
  if (--known.sessions == 0) closed_.emplace(known.last_change, id);
}

// False if every root has a session.
bool IdentityTable::ForgetOne() {
  if (closed_.empty()) return false;
  const auto it = by_id_.find(closed_.begin()->second);
  by_root_.erase(it->second.root);
  by_id_.erase(it);
  closed_.erase(closed_.begin());
  return true;
}

const KnownRoot* IdentityTable::Find(const Root& root) const {
  const auto it = by_root_.find(root);
  return it == by_root_.end() ? nullptr : Find(it->second);
}

const KnownRoot* IdentityTable::Find(RootId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second;
}

std::vector<RootId> IdentityTable::Ids() const {
  std::vector<RootId> out;
  for (const auto& [id, known] : by_id_) out.push_back(id);
  return out;
}

std::vector<IdentityTable::Difference> IdentityTable::MostAlike(RootId id, std::size_t most) const {
  const KnownRoot* asked = Find(id);
  if (asked == nullptr) return {};
  return MostAlikeTo(asked->fields, id, most);
}

std::vector<IdentityTable::Difference> IdentityTable::MostAlike(
    absl::Span<const IdentityField> fields, std::size_t most) const {
  std::vector<KnownField> asked;
  for (const IdentityField& field : fields) asked.push_back(Remember(field));
  return MostAlikeTo(asked, RootId(), most);  // no root has the number 0
}

std::vector<IdentityTable::Difference> IdentityTable::MostAlikeTo(
    absl::Span<const KnownField> fields, RootId except, std::size_t most) const {
  struct Candidate {
    Difference difference;
    std::uint64_t last_change;
  };
  std::vector<Candidate> found;
  for (const auto& [other, known] : by_id_) {
    if (other == except) continue;
    found.push_back(Candidate{{other, NamesThatDiffer(fields, known.fields)}, known.last_change});
  }
  const std::size_t kept = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    [](const Candidate& a, const Candidate& b) {
                      if (a.difference.fields.size() != b.difference.fields.size()) {
                        return a.difference.fields.size() < b.difference.fields.size();
                      }
                      return a.last_change > b.last_change;
                    });
  std::vector<Difference> out;
  for (std::size_t i = 0; i < kept; ++i) out.push_back(std::move(found[i].difference));
  return out;
}

}  // namespace cairn
