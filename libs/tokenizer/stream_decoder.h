#ifndef CAIRN_LIBS_TOKENIZER_STREAM_DECODER_H_
#define CAIRN_LIBS_TOKENIZER_STREAM_DECODER_H_

#include <cstdint>
#include <string>

#include "libs/tokenizer/tokenizer.h"

namespace cairn {

// StreamDecoder turns ids into UTF-8 text as they are generated: Push gives only complete
// characters and keeps the bytes of a cut one for later; what cannot become a character is U+FFFD.
// All pushes and the flush together equal ToUtf8(tokenizer.Decode(ids)). Control tokens give their
// name: whoever does not want to see them does not push them.
// Threads: one at a time. The tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string Push(std::uint32_t id);
  // The rest, after the last Push; the decoder is then as new.
  std::string Flush();

 private:
  const Tokenizer& tokenizer_;
  std::string pending_;  // the start of a character: at most 3 bytes between calls
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TOKENIZER_STREAM_DECODER_H_
