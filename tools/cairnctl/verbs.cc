#include "tools/cairnctl/verb.h"

namespace cairn {

extern const Verb kStatusVerb;    // verb_status.cc
extern const Verb kLsVerb;        // verb_ls.cc
extern const Verb kDescribeVerb;  // verb_describe.cc
extern const Verb kExplainVerb;   // verb_explain.cc
extern const Verb kVerifyVerb;    // verb_verify.cc
extern const Verb kEvictVerb;     // verb_evict.cc
extern const Verb kKeysVerb;      // verb_keys.cc

absl::Span<const Verb* const> Verbs() {
  static const Verb* const kVerbs[] = {&kStatusVerb, &kLsVerb,    &kDescribeVerb, &kExplainVerb,
                                       &kVerifyVerb, &kEvictVerb, &kKeysVerb};
  return kVerbs;
}

}  // namespace cairn
