#ifndef CAIRN_SERVICES_WORKER_COMPLETION_SINK_H_
#define CAIRN_SERVICES_WORKER_COMPLETION_SINK_H_

#include <memory>
#include <string>
#include <vector>

#include "libs/completions/completion_json.h"
#include "libs/engine/completion.h"
#include "libs/http/http_server.h"

namespace cairn {

// Turns an engine's tokens into an HTTP answer: one JSON object, or server-sent events.
class HttpCompletionSink : public CompletionSink {
 public:
  struct Options {
    CompletionReport report;  // id, model, created
    bool is_stream = false;
    bool with_usage = false;  // in a stream
  };
  HttpCompletionSink(Options options, std::shared_ptr<HttpReply> reply)
      : options_(std::move(options)), reply_(std::move(reply)) {}

  void OnToken(Token token, absl::string_view text) override;
  void OnFinish(FinishReason reason, absl::string_view text, const CompletionUsage& usage) override;

 private:
  Options options_;
  const std::shared_ptr<HttpReply> reply_;
  bool has_begun_ = false;
  std::string text_;
  std::vector<std::uint32_t> tokens_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_COMPLETION_SINK_H_
