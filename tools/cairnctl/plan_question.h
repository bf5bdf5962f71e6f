#ifndef CAIRN_TOOLS_CAIRNCTL_PLAN_QUESTION_H_
#define CAIRN_TOOLS_CAIRNCTL_PLAN_QUESTION_H_

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cairn/placement/v1/placement.pb.h"
#include "tools/cairnctl/verb.h"

namespace cairn {

// The entry that `cairnctl plan explain|simulate|compare FAMILY` ask about.
inline constexpr Flag kPlanFlags[] = {
    {"length", "TOKENS", "length of the entry that is asked about; required"},
    {"budget", "N", "new states at most (default 2; simulate: up to this many, default 8)"},
    {"resume", "DEPTH", "the deepest state on its path; new ones go below (default 0)"},
    {"existing", "DEPTH,...", "states that it has"},
    {"branches", "DEPTH:CLAIMS,...", "where requests parted, without a state"},
    {"shared", "DEPTH", "how deep it agrees with an earlier entry (default 0)"},
};

// Reads the FAMILY (hex) and kPlanFlags. INVALID_ARGUMENT names the flag and what is wrong with it;
// whether the numbers fit each other is the service's to say.
absl::StatusOr<placement::v1::PlanRequest> PlanRequestOf(const Invocation& call,
                                                         std::uint64_t budget_default);

// A family as people and scripts name it: hex digits, as FAMILY is read.
std::string ShowFamily(std::uint64_t family);
// A message as JsonOf has it, with its family (and those in a list `families`) in that form.
boost::json::object JsonWithFamilies(const google::protobuf::Message& message);

// "1024, 2048"; "none".
std::string ShowPositions(const google::protobuf::RepeatedField<std::uint64_t>& positions);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_PLAN_QUESTION_H_
