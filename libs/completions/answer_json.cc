#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "libs/completions/completion_json.h"

namespace cairn {
namespace {

namespace json = boost::json;

json::array TokenList(const std::vector<std::uint32_t>& tokens) {
  json::array list;
  for (const std::uint32_t token : tokens) list.push_back(token);
  return list;
}

json::value CheckpointsOf(const CompletionReport& report) {
  if (!report.checkpoints.has_value()) return nullptr;
  json::array positions;
  for (const std::uint64_t position : report.checkpoints->positions) positions.push_back(position);
  return json::object{{"positions", std::move(positions)}, {"source", report.checkpoints->source}};
}

json::object Usage(const CompletionReport& report, const std::vector<std::uint32_t>& tokens) {
  json::array spans;
  for (const CompletionReport::Span& span : report.spans) {
    const bool is_hit = span.tokens_reused > 0;
    spans.push_back(json::object{{"tokens", span.tokens},
                                 {"tokens_reused", span.tokens_reused},
                                 {"hit", span.tokens_reused == span.tokens},
                                 {"source", is_hit ? "local" : "computed"}});
  }
  return json::object{{"prompt_tokens", report.prompt_tokens},
                      {"completion_tokens", report.completion_tokens},
                      {"total_tokens", report.prompt_tokens + report.completion_tokens},
                      {"cairn", json::object{{"prompt_tokens", report.prompt_tokens},
                                             {"tokens_reused_local", report.tokens_reused_local},
                                             {"tokens_reused_remote", 0},
                                             {"tokens_computed", report.tokens_computed},
                                             {"resume_depth", 0},
                                             {"overlap_depth", report.overlap_depth},
                                             {"checkpoints", CheckpointsOf(report)},
                                             {"spans", std::move(spans)},
                                             {"spans_ignored", report.ignored_spans},
                                             {"ttft_ms", report.ttft_ms},
                                             {"completion_token_ids", TokenList(tokens)}}}};
}

json::object Answer(const CompletionReport& report, absl::string_view text) {
  json::value finish = nullptr;
  if (!report.finish_reason.empty()) finish = report.finish_reason;
  json::object choice{{"index", 0},
                      {"text", json::string_view(text.data(), text.size())},
                      {"logprobs", nullptr},
                      {"finish_reason", std::move(finish)}};
  return json::object{{"id", report.id},
                      {"object", "text_completion"},
                      {"created", report.created},
                      {"model", report.model},
                      {"choices", json::array{std::move(choice)}}};
}

}  // namespace

std::string CompletionToJson(const CompletionReport& report, absl::string_view text,
                             const std::vector<std::uint32_t>& tokens) {
  json::object answer = Answer(report, text);
  answer["usage"] = Usage(report, tokens);
  return json::serialize(answer);
}

std::string CompletionEvent(const CompletionReport& report, absl::string_view text, bool with_usage,
                            const std::vector<std::uint32_t>& tokens) {
  json::object answer = Answer(report, text);
  if (with_usage) answer["usage"] = Usage(report, tokens);
  return absl::StrCat("data: ", json::serialize(answer), "\n\n");
}

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnimplemented:
      return 405;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

std::string ErrorToJson(const absl::Status& status) {
  const int code = HttpStatusOf(status);
  const absl::string_view message = status.message();
  return json::serialize(json::object{
      {"error", json::object{{"message", json::string_view(message.data(), message.size())},
                             {"type", code < 500 ? "invalid_request_error" : "server_error"},
                             {"param", nullptr},
                             {"code", code}}}});
}

std::string ModelsToJson(absl::string_view model, std::int64_t created) {
  return json::serialize(json::object{
      {"object", "list"},
      {"data", json::array{json::object{{"id", json::string_view(model.data(), model.size())},
                                        {"object", "model"},
                                        {"created", created},
                                        {"owned_by", "cairn"}}}}});
}

}  // namespace cairn
