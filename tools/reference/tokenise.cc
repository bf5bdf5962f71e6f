// cairn-tokenise MODEL.gguf FILE...: one JSON line for each file,
//   {"ids": [...], "same_bytes": true}
// with same_bytes: whether the ids decode to the file's bytes. Read by compare_tokenizer.py.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/status_macros.h"
#include "libs/gguf/gguf_file.h"
#include "libs/mapped_file/mapped_file.h"
#include "libs/tokenizer/tokenizer.h"

namespace cairn {
namespace {

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(path));
  CAIRN_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Parse(mapped.bytes()));
  return Tokenizer::Create(file.metadata());
}

absl::Status PrintIds(const Tokenizer& tokenizer, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> ids, tokenizer.Encode(text));
  const std::string line =
      absl::StrCat("{\"ids\": [", absl::StrJoin(ids, ", "),
                   "], \"same_bytes\": ", tokenizer.Decode(ids) == text ? "true" : "false", "}\n");
  std::fwrite(line.data(), 1, line.size(), stdout);
  return absl::OkStatus();
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "cairn-tokenise: %s\n", status.ToString().c_str());
  return 1;
}

int Run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: cairn-tokenise MODEL.gguf FILE...\n");
    return 2;
  }
  const absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = LoadTokenizer(argv[1]);
  if (!tokenizer.ok()) return Fail(tokenizer.status());
  for (int i = 2; i < argc; ++i) {
    if (const absl::Status s = PrintIds(**tokenizer, argv[i]); !s.ok()) return Fail(s);
  }
  return 0;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) { return cairn::Run(argc, argv); }
