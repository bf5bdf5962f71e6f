#include "services/worker/completion_sink.h"

#include "absl/strings/str_cat.h"

namespace cairn {
namespace {

const char* NameOf(PlanOrigin origin) {
  switch (origin) {
    case PlanOrigin::kService:
      return "service";
    case PlanOrigin::kCached:
      return "cached";
    case PlanOrigin::kBalanced:
      return "balanced";
  }
  return "";
}

}  // namespace

void HttpCompletionSink::OnToken(Token token, absl::string_view text) {
  tokens_.push_back(token);
  if (!options_.is_stream) {
    text_.append(text.data(), text.size());
    return;
  }
  if (!has_begun_) reply_->BeginStream("text/event-stream");
  has_begun_ = true;
  if (!text.empty()) reply_->StreamPiece(CompletionEvent(options_.report, text, false, {}));
}

void HttpCompletionSink::OnFinish(FinishReason reason, absl::string_view text,
                                  const CompletionUsage& usage) {
  if (reason == FinishReason::kCancelled) {
    if (!has_begun_) {
      const absl::Status why = absl::UnavailableError("the request was cancelled");
      reply_->Send(HttpStatusOf(why), "application/json", ErrorToJson(why));
    }
    return;  // a stream that was begun is cut: its client sees no [DONE]
  }
  if (reason == FinishReason::kFailed) {
    const absl::Status why = absl::InternalError(text);
    if (!has_begun_) {
      reply_->Send(HttpStatusOf(why), "application/json", ErrorToJson(why));
      return;
    }
    reply_->StreamPiece(absl::StrCat("data: ", ErrorToJson(why), "\n\n"));
    reply_->EndStream();  // without the [DONE] of a whole answer
    return;
  }
  CompletionReport& report = options_.report;
  report.finish_reason = reason == FinishReason::kStop ? "stop" : "length";
  report.prompt_tokens = usage.prompt_tokens;
  report.completion_tokens = usage.completion_tokens;
  report.tokens_reused_local = usage.tokens_reused;
  report.tokens_computed = usage.tokens_computed;
  for (const CompletionUsage::Span& span : usage.spans) {
    report.spans.push_back({span.tokens, span.tokens_reused});
  }
  report.ignored_spans = usage.ignored_spans;
  report.ttft_ms = absl::ToDoubleMilliseconds(usage.time_to_first_token);
  report.overlap_depth = usage.overlap_depth;
  if (usage.checkpoints.has_value()) {
    report.checkpoints = {.positions = usage.checkpoints->positions,
                          .source = NameOf(usage.checkpoints->origin)};
  }
  if (!options_.is_stream) {
    text_.append(text.data(), text.size());
    reply_->Send(200, "application/json", CompletionToJson(report, text_, tokens_));
    return;
  }
  if (!has_begun_) reply_->BeginStream("text/event-stream");
  reply_->StreamPiece(CompletionEvent(report, text, options_.with_usage, tokens_));
  reply_->StreamPiece(kStreamEnd);
  reply_->EndStream();
}

}  // namespace cairn
