#include "tools/cairnctl/entry_choice.h"

#include "absl/strings/str_cat.h"
#include "libs/base/hex.h"
#include "libs/base/status_macros.h"

namespace cairn {

absl::StatusOr<std::string> DigestOf(absl::string_view what, absl::string_view hex) {
  absl::StatusOr<std::string> bytes = FromHex(hex);
  if (bytes.ok() && bytes->size() == 32) return bytes;
  return absl::InvalidArgumentError(absl::StrCat(what, " is 64 hex digits, not \"",
                                                 ShowText(std::string(hex.substr(0, 80))), "\""));
}

absl::Status SetRoot(const Invocation& call, node::v1::RootChoice* choice) {
  const auto it = call.flags.find("root");
  if (it == call.flags.end()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(*choice->mutable_root(), DigestOf("--root", it->second));
  return absl::OkStatus();
}

absl::StatusOr<node::v1::EntryChoice> EntryChoiceOf(const Invocation& call) {
  node::v1::EntryChoice choice;
  choice.set_is_all(call.flags.contains("all"));
  if (choice.is_all() != call.args.empty()) {
    return absl::InvalidArgumentError("name either KEYs, or --all");
  }
  CAIRN_RETURN_IF_ERROR(SetRoot(call, choice.mutable_root()));
  for (const std::string& arg : call.args) {
    CAIRN_ASSIGN_OR_RETURN(*choice.add_keys(), DigestOf("a KEY", arg));
  }
  return choice;
}

std::string Describe(const node::v1::EntryChoice& choice) {
  const std::string& root = choice.root().root();
  return absl::StrCat(choice.is_all()
                          ? "every entry"
                          : absl::StrCat("the entries of ", choice.keys_size(), " keys"),
                      root.empty() ? " of every root" : absl::StrCat(" of root ", ToHex(root)));
}

void PrintEntries(std::ostream& out, absl::Span<const node::v1::Entry* const> entries) {
  Table table({"KEY", "KIND", "BYTES", "DEPTH", "USES", "AGE", "LAST USE", "HELD", "PRODUCER"});
  for (const node::v1::Entry* entry : entries) {
    table.Add({ToHex(entry->key()), ShowText(entry->kind()), ShowBytes(entry->bytes()),
               absl::StrCat(entry->depth()), absl::StrCat(entry->uses()),
               ShowDuration(entry->age()), ShowDuration(entry->since_last_use()),
               entry->is_held() ? "yes" : "no", ShowText(entry->producer())});
  }
  table.Print(out);
}

}  // namespace cairn
