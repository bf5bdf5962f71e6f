#ifndef CAIRN_LIBS_TOKENIZER_TOKENIZER_H_
#define CAIRN_LIBS_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "libs/gguf/metadata.h"
#include "libs/ports/tokenizer.h"

namespace cairn {

// Tokenizer is the byte-level BPE that a GGUF file describes (tokenizer.ggml.model "gpt2").
//
// Text is cut into pieces by the rules that tokenizer.ggml.pre names (splitter.h), and merges apply
// within a piece.
// Invariants:
//   1. Text never gives a control, unknown or unused token: "<|im_start|>" in a text is eleven
//      characters like any other. Ids of control tokens come from ControlId only.
//   2. Bytes that are not UTF-8 are pieces of one byte each; they come back from Decode unchanged.
//      (Where the vocabulary lacks a token for a byte, as SmolLM2's does for 21 of them, that byte
//      is left out, as the reference does: HasByte tells.)
//   3. Time is O(n log n) in the text, whatever it holds.
// Ownership: copies what it needs from the metadata.
// Threads:   const after Create; any number of callers.
class Tokenizer : public TextTokenizer {
 public:
  // INVALID_ARGUMENT or UNIMPLEMENTED, naming the key, for a vocabulary that is not as described.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Create(const GgufMetadata& metadata);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  ~Tokenizer() override;

  // INVALID_ARGUMENT for a text longer than limits::kTokenizerTextBytesMax. No BOS is added.
  absl::StatusOr<std::vector<std::uint32_t>> Encode(absl::string_view text) const;
  // The bytes of each id in turn, control tokens by their name; empty for an id that is not in the
  // vocabulary. The result may be cut within a character.
  std::string Decode(absl::Span<const std::uint32_t> ids) const;
  absl::string_view BytesOf(std::uint32_t id) const;

  std::uint32_t size() const;  // ids are below it
  bool IsControl(std::uint32_t id) const;
  // The id of the control token of that name, e.g. "<|im_start|>".
  absl::optional<std::uint32_t> ControlId(absl::string_view name) const;
  absl::optional<std::uint32_t> bos_id() const;
  absl::optional<std::uint32_t> eos_id() const;
  // True if the vocabulary has a token for this byte.
  bool HasByte(std::uint8_t byte) const;

  // TextTokenizer: what an engine needs of it.
  absl::StatusOr<std::vector<std::uint32_t>> EncodeText(absl::string_view text) const override {
    return Encode(text);
  }
  std::string TokenBytes(std::uint32_t id) const override {
    return IsControl(id) ? std::string() : std::string(BytesOf(id));
  }
  bool IsEndOfText(std::uint32_t id) const override { return eos_id() == id; }

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TOKENIZER_TOKENIZER_H_
