// HTTP bodies of POST /v1/completions: whatever parses is within its limits.
#include <cstdint>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/completions/completion_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto body =
      cairn::ParseCompletion(absl::string_view(reinterpret_cast<const char*>(bytes), size));
  if (!body.ok()) {
    CAIRN_CHECK(!body.status().message().empty());
    return 0;
  }
  CAIRN_CHECK(body->max_tokens <= cairn::limits::kGeneratedTokensMax);
  CAIRN_CHECK(body->stops.size() <= cairn::limits::kStopStringsMax);
  CAIRN_CHECK(body->temperature >= 0 && body->temperature <= 2);
  for (const auto& segment : body->segments) {
    CAIRN_CHECK(segment.kind == "prefix" || segment.kind == "span" || segment.kind == "dependent");
  }
  return 0;
}
