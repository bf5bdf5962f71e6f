#ifndef CAIRN_LIBS_ENGINE_SAMPLER_H_
#define CAIRN_LIBS_ENGINE_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace cairn {

// How the next token is chosen. temperature 0: greedy (the highest logit, the lowest id on a tie).
struct SamplingOptions {
  float temperature = 0;  // [0, 2]
  float top_p = 1;        // (0, 1]: the smallest set of likeliest tokens that reaches this share
  std::uint64_t seed = 0;
};

// Chooses tokens. The random number is a function of (seed, choice, output index) alone, so an
// answer does not depend on what else the worker did (engine.md, Exactness). Not thread-safe: keeps
// scratch.
class Sampler {
 public:
  std::uint32_t Sample(const SamplingOptions& options, std::uint32_t choice,
                       std::uint32_t output_index, absl::Span<const float> logits);

 private:
  struct Candidate {
    float logit;
    std::uint32_t token;
  };
  std::vector<Candidate> candidates_;
};

// Uniform in [0, 1), from (seed, choice, output index).
double SampleUniform(std::uint64_t seed, std::uint32_t choice, std::uint32_t output_index);

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_SAMPLER_H_
