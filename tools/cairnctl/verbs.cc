#include "tools/cairnctl/verb.h"

#include "absl/status/status.h"

namespace cairn {

extern const Verb kStatusVerb;        // verb_status.cc
extern const Verb kLsVerb;            // verb_ls.cc
extern const Verb kDescribeVerb;      // verb_describe.cc
extern const Verb kExplainVerb;       // verb_explain.cc
extern const Verb kVerifyVerb;        // verb_verify.cc
extern const Verb kEvictVerb;         // verb_evict.cc
extern const Verb kKeysVerb;          // verb_keys.cc
extern const Verb kPlanShowVerb;      // verb_plan_show.cc
extern const Verb kPlanExplainVerb;   // verb_plan.cc
extern const Verb kPlanSimulateVerb;  // verb_plan.cc
extern const Verb kPlanCompareVerb;   // verb_plan.cc

absl::Span<const Verb* const> Verbs() {
  static const Verb* const kVerbs[] = {&kStatusVerb,      &kLsVerb,          &kDescribeVerb,
                                       &kExplainVerb,     &kVerifyVerb,      &kEvictVerb,
                                       &kPlanShowVerb,    &kPlanExplainVerb, &kPlanSimulateVerb,
                                       &kPlanCompareVerb, &kKeysVerb};
  return kVerbs;
}

ExitCode Told(const Invocation& call, absl::StatusOr<ExitCode> code) {
  if (code.ok() && !call.streams.out.flush()) {
    code = absl::UnavailableError("the answer could not be written");
  }
  if (code.ok()) return *code;
  call.streams.err << "cairnctl " << call.verb << ": " << code.status().message() << "\n";
  if (absl::IsInvalidArgument(code.status())) return kExitUsage;
  return absl::IsNotFound(code.status()) ? kExitNotFound : kExitFailed;
}

}  // namespace cairn
