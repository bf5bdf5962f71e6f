#ifndef CAIRN_TESTS_SUPPORT_SMALL_VOCABULARY_H_
#define CAIRN_TESTS_SUPPORT_SMALL_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libs/gguf/gguf_writer.h"
#include "libs/tokenizer/byte_alphabet.h"

namespace cairn {

// A byte-level BPE vocabulary to write into a test's GGUF file: ids 0 to 2 are the control tokens
// <|endoftext|>, <|im_start|>, <|im_end|>; 3 to 258 the bytes; from 259 one token for each merge.
struct SmallVocabulary {
  std::string pre = "smollm";
  std::vector<std::string> tokens = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  std::vector<std::int32_t> types = {3, 3, 3};
  std::vector<std::string> merges;

  SmallVocabulary() {
    const ByteAlphabet alphabet;
    for (int byte = 0; byte < 256; ++byte) {
      AddToken(std::string(alphabet.CharacterOf(static_cast<std::uint8_t>(byte))));
    }
  }
  static std::uint32_t ByteId(char byte) { return 3 + static_cast<std::uint8_t>(byte); }
  std::uint32_t AddToken(const std::string& token, std::int32_t type = 1) {
    tokens.push_back(token);
    types.push_back(type);
    return static_cast<std::uint32_t>(tokens.size() - 1);
  }
  // `left` and `right` as the vocabulary writes them (a space is U+0120); gives the new token's id.
  std::uint32_t AddMerge(const std::string& left, const std::string& right) {
    merges.push_back(left + " " + right);
    return AddToken(left + right);
  }
  void WriteTo(GgufWriter& w) const {
    w.AddString("tokenizer.ggml.model", "gpt2");
    w.AddString("tokenizer.ggml.pre", pre);
    w.AddStrings("tokenizer.ggml.tokens", tokens);
    w.AddInt32s("tokenizer.ggml.token_type", types);
    w.AddStrings("tokenizer.ggml.merges", merges);
    w.AddUint32("tokenizer.ggml.bos_token_id", 1);
    w.AddUint32("tokenizer.ggml.eos_token_id", 2);
  }
};

}  // namespace cairn
#endif  // CAIRN_TESTS_SUPPORT_SMALL_VOCABULARY_H_
