#include "tools/cairnctl/plan_question.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/message_json.h"

namespace cairn {
namespace {

constexpr std::size_t kListMax = 4096;  // depths of one flag

absl::StatusOr<std::uint64_t> NumberOf(absl::string_view flag, absl::string_view text) {
  std::uint64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": \"", text, "\" is no number"));
}

absl::StatusOr<std::uint64_t> NumberOf(const Invocation& call, absl::string_view flag,
                                       std::uint64_t otherwise) {
  const auto it = call.flags.find(flag);
  return it == call.flags.end() ? otherwise : NumberOf(flag, it->second);
}

absl::StatusOr<std::vector<std::string>> ListOf(const Invocation& call, absl::string_view flag) {
  const auto it = call.flags.find(flag);
  if (it == call.flags.end()) return std::vector<std::string>();
  std::vector<std::string> parts = absl::StrSplit(it->second, ',');
  if (parts.size() <= kListMax) return parts;
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": ", parts.size(), " depths, at most ", kListMax));
}

absl::Status AddBranches(const Invocation& call, placement::v1::PlanRequest& request) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> parts, ListOf(call, "branches"));
  for (const std::string& part : parts) {
    const std::pair<std::string, std::string> branch =
        absl::StrSplit(part, absl::MaxSplits(':', 1));
    placement::v1::BranchPoint& point = *request.add_branches();
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t depth, NumberOf("branches", branch.first));
    point.set_depth(depth);
    if (part.find(':') == std::string::npos) {
      point.set_claims(1);
      continue;
    }
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t claims, NumberOf("branches", branch.second));
    point.set_claims(claims);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<placement::v1::PlanRequest> PlanRequestOf(const Invocation& call,
                                                         std::uint64_t budget_default) {
  placement::v1::PlanRequest request;
  std::uint64_t family = 0;
  if (!absl::SimpleHexAtoi(call.args[0], &family)) {
    return absl::InvalidArgumentError(
        absl::StrCat("FAMILY: \"", call.args[0],
                     "\" is no number of hex digits (cairnctl plan show lists them)"));
  }
  request.set_family(family);
  if (!call.flags.contains("length")) {
    return absl::InvalidArgumentError("--length is needed: of the entry that is asked about");
  }
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t length, NumberOf(call, "length", 0));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t budget, NumberOf(call, "budget", budget_default));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t resume, NumberOf(call, "resume", 0));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t shared, NumberOf(call, "shared", 0));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> existing, ListOf(call, "existing"));
  request.set_length(length);
  request.set_budget(budget);
  request.set_resume_depth(resume);
  request.set_shared_depth(shared);
  for (const std::string& part : existing) {
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t depth, NumberOf("existing", part));
    request.add_existing(depth);
  }
  CAIRN_RETURN_IF_ERROR(AddBranches(call, request));
  return request;
}

std::string ShowFamily(std::uint64_t family) { return absl::StrCat(absl::Hex(family)); }

boost::json::object JsonWithFamilies(const google::protobuf::Message& message) {
  boost::json::object json = JsonOf(message);
  const auto name = [](boost::json::value& family) {
    boost::json::value& id = family.get_object()["family"];
    id = boost::json::string(ShowFamily(id.to_number<std::uint64_t>()));
  };
  if (boost::json::value* one = json.if_contains("family"); one != nullptr && one->is_object()) {
    name(*one);
  }
  if (boost::json::value* list = json.if_contains("families")) {
    for (boost::json::value& family : list->get_array()) name(family);
  }
  return json;
}

std::string ShowPositions(const google::protobuf::RepeatedField<std::uint64_t>& positions) {
  return positions.empty() ? "none" : absl::StrJoin(positions, ", ");
}

}  // namespace cairn
