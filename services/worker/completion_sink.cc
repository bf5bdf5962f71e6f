#include "services/worker/completion_sink.h"

namespace cairn {

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
