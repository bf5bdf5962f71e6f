#include "libs/completions/completion_json.h"

#include <boost/json.hpp>

#include <cmath>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/base/utf8.h"

namespace cairn {
namespace {

namespace json = boost::json;

absl::Status Bad(absl::string_view field, absl::string_view fault) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", fault));
}

// A field's name as an answer may show it: not too long, and no character cut in two.
std::string Shown(const std::string& name) {
  const absl::string_view start = absl::string_view(name).substr(0, 80);
  return std::string(start.substr(0, WholeUtf8Bytes(start)));
}

absl::StatusOr<std::uint64_t> ToUint(const json::value& value, absl::string_view field,
                                     std::uint64_t max) {
  std::uint64_t number = 0;
  if (value.is_uint64()) {
    number = value.get_uint64();
  } else if (value.is_int64() && value.get_int64() >= 0) {
    number = static_cast<std::uint64_t>(value.get_int64());
  } else {
    return Bad(field, absl::StrCat("expected a whole number from 0 to ", max));
  }
  if (number > max) return Bad(field, absl::StrCat(number, " is over ", max));
  return number;
}

absl::StatusOr<double> ToDouble(const json::value& value, absl::string_view field, double low,
                                double high) {
  if (!value.is_number()) return Bad(field, "expected a number");
  const double number = value.to_number<double>();
  if (!(number >= low && number <= high)) {
    return Bad(field, absl::StrCat(number, " is not within ", low, " and ", high));
  }
  return number;
}

absl::StatusOr<std::string> ToText(const json::value& value, absl::string_view field) {
  if (!value.is_string()) return Bad(field, "expected a string");
  return std::string(value.get_string());
}

absl::StatusOr<bool> ToBool(const json::value& value, absl::string_view field) {
  if (!value.is_bool()) return Bad(field, "expected true or false");
  return value.get_bool();
}

absl::StatusOr<std::vector<std::uint32_t>> ToTokens(const json::value& value,
                                                    const std::string& field) {
  if (!value.is_array()) return Bad(field, "expected a list of token ids");
  const json::array& list = value.get_array();
  if (list.size() > limits::kPromptTokensMax) {
    return Bad(field, absl::StrCat(list.size(), " tokens, over ", limits::kPromptTokensMax));
  }
  std::vector<std::uint32_t> tokens;
  tokens.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t token,
                           ToUint(list[i], absl::StrCat(field, "[", i, "]"), UINT32_MAX));
    tokens.push_back(static_cast<std::uint32_t>(token));
  }
  return tokens;
}

absl::StatusOr<CompletionSegment> ToSegment(const json::value& value, const std::string& field) {
  if (!value.is_object()) return Bad(field, "expected an object with kind, and text or tokens");
  CompletionSegment segment;
  bool has_tokens = false;
  for (const auto& [name_view, item] : value.get_object()) {
    const std::string name(name_view);
    const std::string path = absl::StrCat(field, ".", Shown(name));
    if (name == "kind") {
      CAIRN_ASSIGN_OR_RETURN(segment.kind, ToText(item, path));
    } else if (name == "text") {
      CAIRN_ASSIGN_OR_RETURN(segment.text, ToText(item, path));
    } else if (name == "tokens") {
      CAIRN_ASSIGN_OR_RETURN(segment.tokens, ToTokens(item, path));
      has_tokens = true;
    } else if (name == "base") {
      CAIRN_ASSIGN_OR_RETURN(segment.base, ToUint(item, path, limits::kModelPositionsMax));
    } else {
      return Bad(path, "unknown field");
    }
  }
  if (segment.kind != "prefix" && segment.kind != "span" && segment.kind != "dependent") {
    return Bad(absl::StrCat(field, ".kind"), "expected \"prefix\", \"span\" or \"dependent\"");
  }
  if (segment.text.has_value() == has_tokens) return Bad(field, "give either text or tokens");
  return segment;
}

absl::Status SetSegments(const json::value& value, CompletionBody* body) {
  if (!value.is_array()) return Bad("segments", "expected a list");
  const json::array& list = value.get_array();
  if (list.size() > limits::kRequestSegmentsMax) {
    return Bad("segments",
               absl::StrCat(list.size(), " of them, over ", limits::kRequestSegmentsMax));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(CompletionSegment segment,
                           ToSegment(list[i], absl::StrCat("segments[", i, "]")));
    body->segments.push_back(std::move(segment));
  }
  return absl::OkStatus();
}

absl::Status CheckTextBytes(const CompletionBody& body) {
  std::size_t bytes = 0;
  for (const CompletionSegment& segment : body.segments) {
    if (segment.text.has_value()) bytes += segment.text->size();
  }
  if (bytes <= limits::kRequestTextBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the prompt's text has ", bytes, " bytes, over ", limits::kRequestTextBytesMax));
}

absl::Status SetPrompt(const json::value& value, CompletionBody* body) {
  CompletionSegment segment{.kind = "prefix"};
  if (value.is_string()) {
    segment.text = std::string(value.get_string());
  } else if (value.is_array()) {
    CAIRN_ASSIGN_OR_RETURN(segment.tokens, ToTokens(value, "prompt"));
  } else {
    return Bad("prompt", "expected one string, or one list of token ids");
  }
  body->segments.push_back(std::move(segment));
  return absl::OkStatus();
}

absl::Status SetStops(const json::value& value, CompletionBody* body) {
  if (value.is_null()) return absl::OkStatus();
  if (value.is_string()) {
    body->stops.emplace_back(value.get_string());
  } else if (value.is_array()) {
    for (const json::value& stop : value.get_array()) {
      CAIRN_ASSIGN_OR_RETURN(std::string text, ToText(stop, "stop"));
      body->stops.push_back(std::move(text));
    }
  } else {
    return Bad("stop", "expected a string or a list of strings");
  }
  if (body->stops.size() > limits::kStopStringsMax) {
    return Bad("stop", absl::StrCat("more than ", limits::kStopStringsMax, " strings"));
  }
  for (const std::string& stop : body->stops) {
    if (stop.empty() || stop.size() > limits::kStopStringBytesMax) {
      return Bad("stop", absl::StrCat("a string of ", stop.size(), " bytes; 1 to ",
                                      limits::kStopStringBytesMax, " can be"));
    }
  }
  return absl::OkStatus();
}

absl::Status SetStreamOptions(const json::value& value, CompletionBody* body) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_object()) return Bad("stream_options", "expected an object");
  for (const auto& [name, item] : value.get_object()) {
    if (name != "include_usage") return Bad("stream_options", "only include_usage is known");
    CAIRN_ASSIGN_OR_RETURN(body->stream_usage, ToBool(item, "stream_options.include_usage"));
  }
  return absl::OkStatus();
}

// An option that this worker does not have may still be sent with the value that changes nothing.
absl::Status RequireNeutral(const json::value& value, const std::string& field,
                            const json::value& neutral) {
  if (value.is_null() || value == neutral) return absl::OkStatus();
  const bool are_numbers = value.is_number() && neutral.is_number();  // 0.0 is 0
  if (are_numbers && value.to_number<double>() == neutral.to_number<double>()) {
    return absl::OkStatus();
  }
  return Bad(field, "not supported by this worker");
}

using Setter = std::function<absl::Status(const json::value&, CompletionBody*)>;

const std::map<std::string, Setter>& Setters() {
  static const std::map<std::string, Setter> setters = {
      {"model",
       [](const json::value& v, CompletionBody* b) {
         CAIRN_ASSIGN_OR_RETURN(b->model, ToText(v, "model"));
         return absl::OkStatus();
       }},
      {"prompt", SetPrompt},
      {"segments", SetSegments},
      {"max_tokens",
       [](const json::value& v, CompletionBody* b) {
         if (v.is_null()) return absl::OkStatus();
         CAIRN_ASSIGN_OR_RETURN(const std::uint64_t n,
                                ToUint(v, "max_tokens", limits::kGeneratedTokensMax));
         b->max_tokens = static_cast<std::uint32_t>(n);
         return absl::OkStatus();
       }},
      {"temperature",
       [](const json::value& v, CompletionBody* b) {
         if (v.is_null()) return absl::OkStatus();
         CAIRN_ASSIGN_OR_RETURN(b->temperature, ToDouble(v, "temperature", 0, 2));
         return absl::OkStatus();
       }},
      {"top_p",
       [](const json::value& v, CompletionBody* b) {
         if (v.is_null()) return absl::OkStatus();
         CAIRN_ASSIGN_OR_RETURN(b->top_p, ToDouble(v, "top_p", 1e-6, 1));
         return absl::OkStatus();
       }},
      {"seed",
       [](const json::value& v, CompletionBody* b) {
         if (v.is_null()) return absl::OkStatus();
         CAIRN_ASSIGN_OR_RETURN(b->seed, ToUint(v, "seed", UINT64_MAX));
         b->has_seed = true;
         return absl::OkStatus();
       }},
      {"stop", SetStops},
      {"stream",
       [](const json::value& v, CompletionBody* b) {
         if (v.is_null()) return absl::OkStatus();
         CAIRN_ASSIGN_OR_RETURN(b->stream, ToBool(v, "stream"));
         return absl::OkStatus();
       }},
      {"stream_options", SetStreamOptions},
      {"user", [](const json::value& v, CompletionBody*) { return ToText(v, "user").status(); }},
  };
  return setters;
}

const std::map<std::string, json::value>& NeutralValues() {
  static const std::map<std::string, json::value> values = {{"n", 1},
                                                            {"best_of", 1},
                                                            {"logprobs", nullptr},
                                                            {"echo", false},
                                                            {"suffix", nullptr},
                                                            {"logit_bias", json::object()},
                                                            {"presence_penalty", 0},
                                                            {"frequency_penalty", 0}};
  return values;
}

}  // namespace

absl::StatusOr<CompletionBody> ParseCompletion(absl::string_view text) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 16;
  json::stream_parser parser({}, options);
  const std::size_t read = parser.write_some(text.data(), text.size(), error);
  if (!error && !parser.done()) parser.finish(error);
  if (error || read != text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the body is no JSON: ", error ? error.message() : "text behind its end",
                     " at byte ", read));
  }
  const json::value root = parser.release();
  if (!root.is_object()) return absl::InvalidArgumentError("the body is no JSON object");
  CompletionBody body;
  for (const auto& [name_view, value] : root.get_object()) {
    const std::string name(name_view);
    if (const auto setter = Setters().find(name); setter != Setters().end()) {
      CAIRN_RETURN_IF_ERROR(setter->second(value, &body));
    } else if (const auto neutral = NeutralValues().find(name); neutral != NeutralValues().end()) {
      CAIRN_RETURN_IF_ERROR(RequireNeutral(value, name, neutral->second));
    } else {
      return Bad(Shown(name), "unknown field");
    }
  }
  if (root.get_object().contains("prompt") == root.get_object().contains("segments")) {
    return absl::InvalidArgumentError("give either prompt or segments");
  }
  CAIRN_RETURN_IF_ERROR(CheckTextBytes(body));
  return body;
}

}  // namespace cairn
