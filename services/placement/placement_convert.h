#ifndef CAIRN_SERVICES_PLACEMENT_PLACEMENT_CONVERT_H_
#define CAIRN_SERVICES_PLACEMENT_PLACEMENT_CONVERT_H_

#include <cstdint>
#include <map>
#include <string>

#include "cairn/placement/v1/placement.pb.h"
#include "libs/planner/questions.h"
#include "services/placement/placement_host.h"

// Between the messages of proto/cairn/placement/v1/placement.proto and the planner's own types,
// which the planner checks.
namespace cairn {

planner::Observation ObservationOf(const placement::v1::Observation& observation);
planner::PlanQuestion QuestionOf(const placement::v1::PlanRequest& request);
void Fill(const planner::PlanAnswer& answer, placement::v1::PlanResponse* out);
void Fill(const planner::Explanation& explanation, placement::v1::ExplainResponse* out);
void Fill(const planner::FamilyReport& family, placement::v1::Family* out);

// Every counter by its public name. The one table from fields to names; a new field without a name
// does not compile.
std::map<std::string, std::uint64_t> CountersOf(const PlacementHost::Report& report);

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_PLACEMENT_CONVERT_H_
