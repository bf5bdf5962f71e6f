#include "libs/config/yaml_config.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/config/yaml_scalar.h"

namespace cairn {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Filler {
 public:
  explicit Filler(absl::string_view file) : file_(file) {}

  absl::Status Fill(const YAML::Node& node, const std::string& path, Message* message) {
    if (node.IsNull()) return absl::OkStatus();  // "arena:" with nothing under it
    if (!node.IsMap()) return Fault(node, path, "expected a mapping of fields");
    std::set<std::string> seen;
    for (const auto& item : node) {
      if (!item.first.IsScalar()) return Fault(item.first, path, "a field's name is expected here");
      const std::string name = item.first.Scalar();
      const std::string field_path = path.empty() ? name : absl::StrCat(path, ".", name);
      // An alias may stand for a large subtree any number of times.
      if (++values_ > limits::kConfigValuesMax)
        return Fault(item.first, field_path, "too many values");
      const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
      if (field == nullptr) return Fault(item.first, field_path, "unknown field");
      if (!seen.insert(name).second) return Fault(item.first, field_path, "given twice");
      CAIRN_RETURN_IF_ERROR(SetField(*field, item.second, field_path, message));
    }
    return absl::OkStatus();
  }

  absl::Status Fault(const YAML::Node& node, absl::string_view path,
                     absl::string_view fault) const {
    return Fault(node.Mark().line, path, fault);
  }
  absl::Status Fault(int line, absl::string_view path, absl::string_view fault) const {
    const std::string field = path.empty() ? "" : absl::StrCat("field ", path, ": ");
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line + 1, ": ", field, fault));
  }

 private:
  absl::Status SetField(const FieldDescriptor& field, const YAML::Node& node,
                        const std::string& path, Message* message) {
    if (field.is_repeated()) {
      if (!node.IsSequence()) return Fault(node, path, "expected a list");
      for (const auto& element : node) {
        if (++values_ > limits::kConfigValuesMax) return Fault(element, path, "too many values");
        CAIRN_RETURN_IF_ERROR(SetValue(field, element, path, message));
      }
      return absl::OkStatus();
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsDuration(field)) {
      return Fill(node, path, message->GetReflection()->MutableMessage(message, &field));
    }
    return SetValue(field, node, path, message);
  }

  absl::Status SetValue(const FieldDescriptor& field, const YAML::Node& node,
                        const std::string& path, Message* message) {
    if (!node.IsScalar()) return Fault(node, path, "expected one value");
    const absl::Status status = SetScalar(field, node.Scalar(), message);
    return status.ok() ? status : Fault(node, path, status.message());
  }

  const std::string file_;
  std::size_t values_ = 0;
};

void AppendYaml(const Message& message, int indent, std::string* out) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  for (const FieldDescriptor* field : fields) {
    absl::StrAppend(out, margin, field->name(), ":");
    if (field->is_repeated()) {
      absl::StrAppend(out, "\n");
      for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
        absl::StrAppend(out, margin, "  - ", ScalarText(*field, message, i), "\n");
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsDuration(*field)) {
      absl::StrAppend(out, "\n");
      AppendYaml(message.GetReflection()->GetMessage(message, field), indent + 2, out);
    } else if (field->name() == "salt") {
      absl::StrAppend(out, " \"(hidden)\"\n");
    } else {
      absl::StrAppend(out, " ", ScalarText(*field, message, 0), "\n");
    }
  }
}

}  // namespace

absl::Status ParseYamlConfig(absl::string_view text, absl::string_view file, Message* message) {
  Filler filler(file);
  if (text.size() > limits::kConfigBytesMax) {
    return filler.Fault(0, "", absl::StrCat("larger than ", limits::kConfigBytesMax, " bytes"));
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) return filler.Fault(documents[1], "", "a second document");
    if (documents.empty()) return absl::OkStatus();
    return filler.Fill(documents[0], "", message);
  } catch (const YAML::DeepRecursion& e) {
    return filler.Fault(e.mark.line, "", "nested too deep");
  } catch (const YAML::Exception& e) {  // the parser's own, with its own line
    return filler.Fault(e.mark.line, "", e.msg);
  }
}

absl::Status LoadYamlConfig(const std::string& file, Message* message) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read the config file ", file));
  std::string text;
  for (char piece[4096]; text.size() <= limits::kConfigBytesMax && in;) {
    in.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    return absl::UnavailableError(absl::StrCat("reading the config file ", file, " failed"));
  return ParseYamlConfig(text, file, message);
}

std::string ToYaml(const Message& message) {
  std::string out;
  AppendYaml(message, 0, &out);
  return out;
}

}  // namespace cairn
