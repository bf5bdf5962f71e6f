#ifndef CAIRN_LIBS_ENGINE_ACTIVE_REQUEST_H_
#define CAIRN_LIBS_ENGINE_ACTIVE_REQUEST_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "libs/base/instant.h"
#include "libs/engine/block_cache.h"
#include "libs/engine/completion.h"
#include "libs/engine/sequence.h"
#include "libs/engine/text_stream.h"

namespace cairn {

// A request inside the engine (engine.h shows how it moves). Engine thread only, once submitted.
struct ActiveRequest {
  enum class State : std::uint8_t { kWaiting, kAcquiring, kRunning, kFinished };

  ActiveRequest(CompletionId id, CompletionCall call, std::unique_ptr<CompletionSink> sink,
                const ModelShape& model, Instant now)
      : id(id),
        max_tokens(call.max_tokens),
        sampling(call.sampling),
        sink(std::move(sink)),
        output(sampling.temperature > 0 || this->sink->wants_logits() ? LogitRows::kLast
                                                                      : LogitRows::kLastToken),
        submitted_at(now),
        text(std::move(call.stops)),
        // The last token is never fed back.
        sequence(std::move(call.prompt),
                 {.generated_max = call.max_tokens == 0 ? 0 : call.max_tokens - 1,
                  .offers_generated = model.is_generated_kv_final}),
        prompt_tokens(static_cast<std::uint32_t>(sequence.layout().tokens().size())) {}

  const CompletionId id;
  const std::uint32_t max_tokens;
  const SamplingOptions sampling;
  const std::unique_ptr<CompletionSink> sink;
  const LogitRows output;  // what its tokens are chosen from
  const Instant submitted_at;
  State state = State::kWaiting;
  TextStream text;
  Sequence sequence;
  const std::uint32_t prompt_tokens;
  std::shared_ptr<ArenaLease> lease;  // while the sequence reads in place
  bool was_acquired = false;          // the first lookup has been counted
  bool was_acquired_again = false;    // its pins had ended before it could leave the arena
  CompletionUsage usage;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_ACTIVE_REQUEST_H_
