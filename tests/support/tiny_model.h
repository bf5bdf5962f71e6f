#ifndef CAIRN_TESTS_SUPPORT_TINY_MODEL_H_
#define CAIRN_TESTS_SUPPORT_TINY_MODEL_H_

#include <cstdint>
#include <string>

namespace cairn {

// A small random Llama as a GGUF file: 2 layers, 4 query and 2 KV heads of 16, vocabulary 96, 512
// positions; the same for the same seed on every machine. Weights are Q4_1, Q8_0, F16, BF16 and
// F32.
std::string TinyLlama(std::uint64_t seed);

}  // namespace cairn
#endif  // CAIRN_TESTS_SUPPORT_TINY_MODEL_H_
