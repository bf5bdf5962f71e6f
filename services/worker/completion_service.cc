#include "services/worker/completion_service.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "libs/base/hex.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/completions/completion_json.h"
#include "libs/span/prompt_hasher.h"
#include "services/worker/completion_sink.h"
#include "services/worker/prompt_builder.h"

namespace cairn {
namespace {

constexpr char kJson[] = "application/json";

std::uint64_t RandomSeed() {
  std::uint64_t seed;
  std::memcpy(&seed, RandomBytes(sizeof seed).data(), sizeof seed);
  return seed;
}

SamplingOptions ToSampling(const CompletionBody& body) {
  return {.temperature = static_cast<float>(body.temperature),
          .top_p = static_cast<float>(body.top_p),
          .seed = body.has_seed ? body.seed : RandomSeed()};
}

}  // namespace

CompletionService::CompletionService(Options options, Engine& engine, const Device& device,
                                     const TextTokenizer& tokenizer,
                                     absl::AnyInvocable<Health()> health)
    : options_(std::move(options)),
      engine_(engine),
      device_(device),
      tokenizer_(tokenizer),
      health_(std::move(health)),
      started_(absl::ToUnixSeconds(absl::Now())) {}

void CompletionService::Handle(HttpRequest request, std::shared_ptr<HttpReply> reply) {
  absl::Status status;
  if (request.path == "/v1/completions") {
    status = request.method == "POST" ? Complete(request, reply)
                                      : absl::UnimplementedError("use POST on /v1/completions");
  } else if (request.path == "/v1/models" || request.path == "/health") {
    if (request.method != "GET" && request.method != "HEAD") {
      status = absl::UnimplementedError(absl::StrCat("use GET on ", request.path));
    } else if (request.path == "/health") {
      Health health = health_();
      reply->Send(health.is_ready ? 200 : 503, kJson, std::move(health.body));
    } else {
      reply->Send(200, kJson, ModelsToJson(options_.model, started_));
    }
  } else {
    status = absl::NotFoundError("there is nothing at this path; see POST /v1/completions");
  }
  if (!status.ok()) reply->Send(HttpStatusOf(status), kJson, ErrorToJson(status));
}

absl::Status CompletionService::Complete(const HttpRequest& request,
                                         const std::shared_ptr<HttpReply>& reply) {
  CAIRN_ASSIGN_OR_RETURN(CompletionBody body, ParseCompletion(request.body));
  if (!body.model.empty() && body.model != options_.model) {
    return absl::NotFoundError(absl::StrCat("this worker serves the model \"", options_.model,
                                            "\", not the one asked for"));
  }
  const ModelShape& shape = device_.shape();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<PromptSegment> segments,
                         BuildPrompt(body.segments, tokenizer_, shape.vocabulary, shape.spans));
  CAIRN_ASSIGN_OR_RETURN(PromptHasher prompt, HashPrompt(options_.root,
                                                         {.block_tokens = options_.block_tokens,
                                                          .spans = shape.spans,
                                                          .prefill_only = body.max_tokens == 0,
                                                          .positions_max = shape.positions_max},
                                                         segments));
  HttpCompletionSink::Options sink{.report = {.id = absl::StrCat("cmpl-", ToHex(RandomBytes(12))),
                                              .model = options_.model,
                                              .created = absl::ToUnixSeconds(absl::Now())},
                                   .is_stream = body.stream,
                                   .with_usage = body.stream_usage};
  CAIRN_ASSIGN_OR_RETURN(const CompletionId id, engine_.Submit({.prompt = std::move(prompt),
                                                                .max_tokens = body.max_tokens,
                                                                .sampling = ToSampling(body),
                                                                .stops = std::move(body.stops)},
                                                               std::make_unique<HttpCompletionSink>(
                                                                   std::move(sink), reply)));
  reply->OnGone([this, id] { engine_.Cancel(id); });
  return absl::OkStatus();
}

}  // namespace cairn
