#ifndef CAIRN_TOOLS_CAIRNCTL_ENTRY_CHOICE_H_
#define CAIRN_TOOLS_CAIRNCTL_ENTRY_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cairn/node/v1/admin.pb.h"
#include "tools/cairnctl/table.h"
#include "tools/cairnctl/verb.h"

namespace cairn {

// 32 raw bytes of 64 hex digits; INVALID_ARGUMENT beginning with `what`.
absl::StatusOr<std::string> DigestOf(absl::string_view what, absl::string_view hex);

inline constexpr Flag kRootFlag = {"root", "HEX", "only this root (as in status); else all roots"};
inline constexpr Flag kAllFlag = {"all", "",
                                  "every entry, of --root or of all roots, instead of KEYs"};

// --root into `choice`; nothing without it.
absl::Status SetRoot(const Invocation& call, node::v1::RootChoice* choice);
// KEYs or --all, and --root.
absl::StatusOr<node::v1::EntryChoice> EntryChoiceOf(const Invocation& call);
// "3 entries of root 12ab", "every entry of every root".
std::string Describe(const node::v1::EntryChoice& choice);

void PrintEntries(std::ostream& out, absl::Span<const node::v1::Entry* const> entries);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_ENTRY_CHOICE_H_
