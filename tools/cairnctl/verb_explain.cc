#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/hex.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/entry_choice.h"
#include "tools/cairnctl/input_file.h"
#include "tools/cairnctl/json_fields.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/key_case.h"
#include "tools/cairnctl/message_json.h"
#include "tools/cairnctl/node_client.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

struct Question {
  std::string name;  // of the case; empty: asked on the command line
  std::string root;  // hex
  node::v1::ExplainRequest request;
};

Question QuestionOf(const KeyCase& prompt) {
  Question question{.name = prompt.name, .root = prompt.root.ToHex(), .request = {}};
  // What the root is made of, so that the node can say in what another one differs.
  node::v1::RootClaim& claim = *question.request.mutable_root()->mutable_claim();
  claim.set_model(prompt.identity.model);
  claim.set_weights_digest(prompt.identity.weights_digest);
  claim.set_arch(prompt.identity.arch);
  claim.set_kv_layout(prompt.identity.kv_layout);
  claim.set_rope(prompt.identity.rope);
  claim.set_adapter(prompt.identity.adapter);
  claim.set_numerics(prompt.identity.numerics);
  claim.set_namespace_(prompt.name_space);
  claim.set_salt(prompt.salt);
  claim.set_block_tokens(prompt.block_tokens);
  for (const Key& key : prompt.prompt.keys()) question.request.add_keys(std::string(key.view()));
  return question;
}

absl::StatusOr<std::vector<Question>> QuestionsOfCases(const Invocation& call,
                                                       const JsonFields& fields) {
  const auto wanted = call.flags.find("case");
  std::vector<Question> questions;
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* cases, fields.Array("cases"));
  for (std::size_t i = 0; i < cases->size(); ++i) {
    absl::StatusOr<KeyCase> prompt = ReadKeyCase(cases->at(i));
    if (!prompt.ok()) {
      if (wanted != call.flags.end()) continue;  // asked about another one
      return FieldError(absl::StrCat("cases[", i, "]"), prompt.status().message());
    }
    if (wanted == call.flags.end() || prompt->name == wanted->second) {
      questions.push_back(QuestionOf(*prompt));
    }
  }
  if (!questions.empty()) return questions;
  return absl::NotFoundError(wanted == call.flags.end()
                                 ? "there is no case"
                                 : absl::StrCat("there is no valid case \"", wanted->second, "\""));
}

// {"root": hex, "keys": [hex, ...]}
absl::StatusOr<std::vector<Question>> QuestionOfKeys(const JsonFields& fields) {
  CAIRN_RETURN_IF_ERROR(fields.AllowOnly({"root", "keys"}));
  Question question;
  CAIRN_ASSIGN_OR_RETURN(question.root, fields.String("root"));
  CAIRN_ASSIGN_OR_RETURN(*question.request.mutable_root()->mutable_root(),
                         DigestOf("root", question.root));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* keys, fields.Array("keys"));
  for (const boost::json::value& key : *keys) {
    if (!key.is_string()) return FieldError("keys", "must be strings of hex digits");
    CAIRN_ASSIGN_OR_RETURN(*question.request.add_keys(),
                           DigestOf("keys", std::string(key.get_string())));
  }
  return std::vector<Question>{std::move(question)};
}

absl::StatusOr<std::vector<Question>> QuestionsOfFile(const Invocation& call) {
  CAIRN_ASSIGN_OR_RETURN(const std::string text, ReadInput(call.args[0], call.streams.in));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value input, ParseJson(text));
  CAIRN_ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(input, ""));
  return fields.Has("cases") ? QuestionsOfCases(call, fields) : QuestionOfKeys(fields);
}

absl::StatusOr<std::vector<Question>> QuestionsOf(const Invocation& call) {
  const auto root = call.flags.find("root");
  if (root != call.flags.end()) {
    Question question{.name = "", .root = root->second, .request = {}};
    CAIRN_RETURN_IF_ERROR(SetRoot(call, question.request.mutable_root()));
    for (const std::string& arg : call.args) {
      CAIRN_ASSIGN_OR_RETURN(*question.request.add_keys(), DigestOf("a KEY", arg));
    }
    return std::vector<Question>{std::move(question)};
  }
  if (call.args.size() != 1) return absl::InvalidArgumentError("name one FILE, or --root and KEYs");
  absl::StatusOr<std::vector<Question>> questions = QuestionsOfFile(call);
  if (questions.ok()) return questions;
  const std::string source = call.args[0] == "-" ? "standard input" : call.args[0];
  return absl::Status(questions.status().code(),
                      absl::StrCat(source, ": ", questions.status().message()));
}

std::string WhyOf(const node::v1::KeyExplanation& key) {
  if (key.state() == "present") return absl::StrCat("used ", key.entry().uses(), " times");
  if (key.state() == "filling") return "its bytes are on their way";
  std::string why;
  if (key.state() == "gone") {
    why = absl::StrCat(ShowText(key.gone_why()), " ", ShowDuration(key.gone_since()), " ago");
  } else {
    why = "nobody has offered it, or that is long ago";
  }
  for (const std::string& root : key.present_under()) {
    absl::StrAppend(&why, "; is under root ", ToHex(root));
  }
  return why;
}

std::size_t PresentIn(const node::v1::ExplainResponse& answer) {
  std::size_t present = 0;
  for (const node::v1::KeyExplanation& key : answer.keys()) present += key.state() == "present";
  return present;
}

void Print(std::ostream& out, const Question& question, const node::v1::ExplainResponse& answer) {
  if (!question.name.empty()) out << "case " << ShowText(question.name) << "\n";
  out << "root " << question.root << ": ";
  if (answer.is_root_known()) {
    out << answer.root_entries() << " entries\n";
  } else {
    out << "no session has opened it since the node started\n";
  }
  for (const node::v1::OtherRoot& other : answer.others()) {
    out << "  root " << ToHex(other.root())
        << " differs in: " << absl::StrJoin(other.differs_in(), ", ") << " (" << other.entries()
        << " entries, " << other.keys_present() << " of these keys)\n";
  }
  Table table({"KEY", "STATE", "WHY"});
  for (const node::v1::KeyExplanation& key : answer.keys()) {
    table.Add({ToHex(key.key()), ShowText(key.state()), WhyOf(key)});
  }
  if (table.rows() > 0) table.Print(out);
  out << PresentIn(answer) << " of " << answer.keys_size() << " keys are present\n";
}

ExitCode RunExplain(const Invocation& call) {
  return AskNode(call, kTimeoutDefault, [&](NodeClient& node) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<Question> questions, QuestionsOf(call));
    boost::json::array answers;
    for (const Question& question : questions) {
      CAIRN_ASSIGN_OR_RETURN(const node::v1::ExplainResponse answer,
                             node.Explain(question.request));
      if (call.output == OutputForm::kTable) {
        if (&question != &questions.front()) call.streams.out << "\n";
        Print(call.streams.out, question, answer);
        continue;
      }
      boost::json::object shown;
      shown["name"] = question.name;
      shown["root"] = question.root;
      shown["keys_present"] = PresentIn(answer);
      boost::json::object rest = JsonOf(answer);
      for (auto& member : rest) shown[member.key()] = std::move(member.value());
      answers.push_back(std::move(shown));
    }
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out, boost::json::object{{"cases", std::move(answers)}});
    }
    return kExitDone;
  });
}

constexpr Flag kFlags[] = {
    {"root", "HEX", "the arguments are KEYs of this root, not a FILE"},
    {"case", "NAME", "only this case of FILE"},
};

}  // namespace

extern const Verb kExplainVerb;
const Verb kExplainVerb = {
    .name = "explain",
    .usage = "FILE | --root=HEX KEY...",
    .summary = "why keys hit, or did not",
    .help =
        "Says for each key whether it is present, filling, gone (and why), or was never seen, and\n"
        "which other roots have it: \"differs in: rope\". FILE (- is standard input) is a file of\n"
        "cases as `cairnctl keys` reads them, whose roots and keys are computed here, or\n"
        "{\"root\": hex, \"keys\": [hex]}. Exit code 0, hits or not.\n"
        "RPC: cairn.node.v1.NodeAdmin.Explain, once for each case",
    .args_min = 0,
    .args_max = 16384,
    .flags = kFlags,
    .asks = Asks::kNode,
    .run = RunExplain,
};

}  // namespace cairn
