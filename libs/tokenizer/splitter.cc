#define PCRE2_CODE_UNIT_WIDTH 8
#include "libs/tokenizer/splitter.h"

#include <pcre2.h>

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "libs/base/check.h"

namespace cairn {
namespace {

// Unicode's White_Space, spelled out: PCRE2's \s also takes U+180E, which is none since
// Unicode 6.3.
#define CAIRN_SPACE                                                                    \
  "\\x{09}-\\x{0D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}" \
  "\\x{202F}\\x{205F}\\x{3000}"

// The pattern of the GPT-2 release. Its alternatives cover every character, so that anchored
// matches one after the other cut the whole text.
constexpr absl::string_view kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" CAIRN_SPACE
                                    "\\p{L}\\p{N}]+"
                                    "|[" CAIRN_SPACE "]+(?![^" CAIRN_SPACE "])|[" CAIRN_SPACE "]+";

// Digits alone, then GPT-2's pattern between them, said in one pattern: a digit ends a part, and
// white space at the end of a part is followed by nothing.
constexpr absl::string_view kSmollm =
    "\\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?[^" CAIRN_SPACE
    "\\p{L}\\p{N}]+"
    "|[" CAIRN_SPACE "]+(?![^" CAIRN_SPACE "\\p{N}])|[" CAIRN_SPACE "]+";

#undef CAIRN_SPACE

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

std::string MessageOf(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct Splitter::Pattern {
  std::unique_ptr<pcre2_code, CodeDeleter> code;
};

Splitter::Splitter(std::unique_ptr<Pattern> pattern) : pattern_(std::move(pattern)) {}
Splitter::Splitter(Splitter&&) noexcept = default;
Splitter::~Splitter() = default;

absl::StatusOr<Splitter> Splitter::Create(absl::string_view rules) {
  absl::string_view text;
  if (rules == "smollm") text = kSmollm;
  if (rules == "gpt-2") text = kGpt2;
  if (text.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("pre-tokenizer rules '", absl::CHexEscape(rules.substr(0, 80)),
                     "' (tokenizer.ggml.pre) are not supported; supported: gpt-2 smollm"));
  }
  int error = 0;
  PCRE2_SIZE error_offset = 0;
  // Anchored here, not at each match: the compiled-code path does not take it there.
  auto pattern = std::make_unique<Pattern>();
  pattern->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                    PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &error_offset,
                                    nullptr));
  CAIRN_CHECK(pattern->code != nullptr) << MessageOf(error) << " at " << error_offset;
  // Without compiled code (a system that forbids it) the interpreter gives the same, slower.
  pcre2_jit_compile(pattern->code.get(), PCRE2_JIT_COMPLETE);
  return Splitter(std::move(pattern));
}

absl::Status Splitter::Split(absl::string_view text,
                             absl::FunctionRef<void(absl::string_view)> piece) const {
  const std::unique_ptr<pcre2_match_data, MatchDeleter> match(pcre2_match_data_create(1, nullptr));
  if (match == nullptr) return absl::InternalError("out of memory for a match");
  std::size_t at = 0;
  while (at < text.size()) {
    const int found = pcre2_match(pattern_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (found < 0) {
      return absl::InternalError(
          absl::StrCat("splitting text at byte ", at, ": ", MessageOf(found)));
    }
    const std::size_t end = pcre2_get_ovector_pointer(match.get())[1];
    CAIRN_CHECK(end > at) << at;
    piece(text.substr(at, end - at));
    at = end;
  }
  return absl::OkStatus();
}

}  // namespace cairn
