#ifndef CAIRN_SERVICES_WORKER_COMPLETION_SERVICE_H_
#define CAIRN_SERVICES_WORKER_COMPLETION_SERVICE_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "libs/base/ids.h"
#include "libs/engine/engine.h"
#include "libs/http/http_server.h"
#include "libs/ports/device.h"
#include "libs/ports/tokenizer.h"

namespace cairn {

// The worker's HTTP API over one engine:
//   POST /v1/completions   GET /v1/models   GET /health
// Threads: Handle on the HTTP server's.
class CompletionService {
 public:
  struct Options {
    std::string model;
    Root root;
    std::uint32_t block_tokens = 0;
  };
  // What /health says: 200 if ready, else 503.
  struct Health {
    bool is_ready = true;
    std::string body;  // JSON
  };
  // All references outlive the service.
  CompletionService(Options options, Engine& engine, const Device& device,
                    const TextTokenizer& tokenizer, absl::AnyInvocable<Health()> health);

  void Handle(HttpRequest request, std::shared_ptr<HttpReply> reply);

 private:
  absl::Status Complete(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);

  const Options options_;
  Engine& engine_;
  const Device& device_;
  const TextTokenizer& tokenizer_;
  absl::AnyInvocable<Health()> health_;
  const std::int64_t started_;  // seconds since 1970
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_COMPLETION_SERVICE_H_
