#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/input_file.h"
#include "tools/cairnctl/json_fields.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/key_case.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

// The answer to one case, and whether it is an error.
std::pair<boost::json::object, bool> Answer(const boost::json::value& input, std::size_t index) {
  absl::StatusOr<boost::json::object> computed = ComputeKeyCase(input);
  if (computed.ok()) return {*std::move(computed), true};
  boost::json::object failed;
  const boost::json::object* object = input.if_object();
  const boost::json::value* name = object == nullptr ? nullptr : object->if_contains("name");
  if (name != nullptr && name->is_string()) {
    failed["name"] = *name;
    failed["error"] = std::string(computed.status().message());
  } else {
    failed["name"] = nullptr;
    failed["error"] = absl::StrCat("cases[", index, "]: ", computed.status().message());
  }
  return {std::move(failed), false};
}

struct Answers {
  boost::json::object document;
  std::size_t cases = 0;
  std::size_t invalid = 0;
};

absl::StatusOr<Answers> AnswerAll(const Invocation& call) {
  CAIRN_ASSIGN_OR_RETURN(const std::string text, ReadInput(call.args[0], call.streams.in));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value input, ParseJson(text));
  CAIRN_ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(input, ""));
  CAIRN_RETURN_IF_ERROR(fields.AllowOnly({"note", "cases"}));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* cases, fields.Array("cases"));
  Answers answers;
  if (fields.Has("note")) answers.document["note"] = input.get_object().at("note");
  boost::json::array out;
  for (std::size_t i = 0; i < cases->size(); ++i) {
    auto [answer, is_valid] = Answer(cases->at(i), i);
    if (!is_valid) ++answers.invalid;
    out.push_back(std::move(answer));
  }
  answers.cases = cases->size();
  answers.document["cases"] = std::move(out);
  return answers;
}

ExitCode RunKeys(const Invocation& call) {
  const absl::StatusOr<Answers> answers = AnswerAll(call);
  if (!answers.ok()) {
    const std::string source = call.args[0] == "-" ? "standard input" : call.args[0];
    call.streams.err << "cairnctl keys: " << source << ": " << answers.status().message() << "\n";
    return kExitFailed;
  }
  PrintJson(call.streams.out, answers->document);
  if (!call.streams.out.flush()) {
    call.streams.err << "cairnctl keys: the answer could not be written\n";
    return kExitFailed;
  }
  if (answers->invalid == 0) return kExitDone;
  call.streams.err << "cairnctl keys: " << answers->invalid << " of " << answers->cases
                   << " cases are invalid\n";
  return kExitFailed;
}

}  // namespace

extern const Verb kKeysVerb;
const Verb kKeysVerb = {
    .name = "keys",
    .usage = "FILE",
    .summary = "compute the keys of a file of cases (offline)",
    .help =
        "Reads a JSON file of cases (- is standard input) and prints the same cases, as JSON, "
        "with\n"
        "every computed field: fingerprint, root, and for each block keys, digests, state_keys.\n"
        "For integrators who make keys themselves. Uses no RPC: nothing has to run.\n\n"
        "  {\"note\": any, \"cases\": [{\n"
        "     \"name\": text,\n"
        "     \"identity\": {\"model\", \"weights_digest\" (hex), \"arch\", \"kv_layout\", "
        "\"rope\",\n"
        "                  \"adapter\", \"numerics\"},\n"
        "     \"namespace\": text, \"salt\": text, \"block_tokens\": number,\n"
        "     \"segments\": [{\"kind\": prefix|span|dependent, \"tokens\": [numbers],\n"
        "                   \"base\": number, \"extras\": [{\"first\", \"count\", \"hash\" "
        "(hex)}]}]\n"
        "     or \"stream\": {\"tokens\": [numbers], \"ssep\": number, \"pdep\": number}}]}\n\n"
        "note, base and extras may be left out; computed fields in the input are ignored. An "
        "invalid\n"
        "case is printed as {name, error}, the others go on, and the exit code is 1.",
    .args_min = 1,
    .args_max = 1,
    .run = RunKeys,
};

}  // namespace cairn
