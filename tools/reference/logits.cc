// cairn-logits MODEL.gguf IDS.json OUT.f32 [--kv f32|bf16] [--tier NAME] [--threads N] [--rows N]
// Writes the worker's logits of every position of a prompt, [ids][vocabulary] float32 without a
// header, for compare_logits.py. The prompt is one prefix segment, computed in chunks of `rows`.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/device_host/host_buffer.h"
#include "libs/device_host/host_device.h"
#include "libs/gguf/gguf_file.h"
#include "libs/mapped_file/mapped_file.h"

namespace {

using cairn::CeilDiv;

struct Arguments {
  std::string model, ids, out;
  cairn::HostDevice::Options device{.threads = 2};
  std::uint32_t rows = 256;
};

absl::Status SetOption(const std::string& name, const std::string& value, Arguments* arguments) {
  if (name == "--kv" && (value == "f32" || value == "bf16")) {
    arguments->device.kv_dtype = value == "f32" ? cairn::KvDtype::kF32 : cairn::KvDtype::kBf16;
  } else if (name == "--tier") {
    arguments->device.tier = value;
  } else if (name == "--threads" && absl::SimpleAtoi(value, &arguments->device.threads) &&
             arguments->device.threads >= 1 && arguments->device.threads <= 256) {
  } else if (name == "--rows" && absl::SimpleAtoi(value, &arguments->rows) &&
             arguments->rows >= 1) {
  } else {
    return absl::InvalidArgumentError("unknown option or value: " + name + " " + value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Arguments> Parse(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    return absl::InvalidArgumentError(
        "usage: cairn-logits MODEL.gguf IDS.json OUT.f32 [--kv f32|bf16] [--tier NAME] [--threads "
        "N] "
        "[--rows N]");
  }
  Arguments arguments{.model = argv[1], .ids = argv[2], .out = argv[3]};
  for (int i = 4; i + 1 < argc; i += 2) {
    CAIRN_RETURN_IF_ERROR(SetOption(argv[i], argv[i + 1], &arguments));
  }
  return arguments;
}

// A flat JSON list of numbers.
absl::StatusOr<std::vector<std::uint32_t>> ReadIds(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError("cannot read " + path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::uint32_t> ids;
  for (const auto word : absl::StrSplit(text, absl::ByAnyChar("[], \n\r\t"), absl::SkipEmpty())) {
    std::uint32_t id = 0;
    if (!absl::SimpleAtoi(word, &id))
      return absl::InvalidArgumentError("not a list of ids: " + path);
    ids.push_back(id);
  }
  if (ids.empty()) return absl::InvalidArgumentError("no ids in " + path);
  return ids;
}

absl::Status Compute(cairn::HostDevice& device, const Arguments& arguments,
                     const std::vector<std::uint32_t>& ids) {
  const std::uint32_t per_block = device.layout().shape().block_tokens;
  const std::size_t blocks = CeilDiv(ids.size(), per_block);
  CAIRN_ASSIGN_OR_RETURN(const cairn::HostBuffer pool,
                         cairn::HostBuffer::Allocate(blocks * device.layout().block_bytes()));
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < blocks; ++i) {
    writes.push_back(pool.data() + i * device.layout().block_bytes());
  }
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  std::ofstream out(arguments.out, std::ios::binary);
  std::vector<float> logits;
  for (std::size_t first = 0; first < ids.size(); first += arguments.rows) {
    const std::size_t rows = std::min<std::size_t>(arguments.rows, ids.size() - first);
    const std::size_t end_block = CeilDiv(first + rows, per_block);
    const std::size_t first_block = first / per_block;
    const cairn::StepChunk chunk{
        .tokens = absl::MakeConstSpan(ids).subspan(first, rows),
        .position = first,
        .own = {.tokens = static_cast<std::uint32_t>(first + rows),
                .blocks = absl::MakeConstSpan(reads).first(end_block)},
        .first_row = static_cast<std::uint32_t>(first),
        .writes = absl::MakeConstSpan(writes).subspan(first_block, end_block - first_block),
        .logit_rows = cairn::LogitRows::kAll};
    logits.resize(rows * device.shape().vocabulary);
    CAIRN_RETURN_IF_ERROR(device.Run({&chunk, 1}, absl::MakeSpan(logits)));
    out.write(reinterpret_cast<const char*>(logits.data()),
              static_cast<std::streamsize>(logits.size() * sizeof(float)));
  }
  out.close();
  return out ? absl::OkStatus() : absl::UnavailableError("cannot write " + arguments.out);
}

absl::Status Run(int argc, char** argv) {
  CAIRN_ASSIGN_OR_RETURN(const Arguments arguments, Parse(argc, argv));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> ids, ReadIds(arguments.ids));
  CAIRN_ASSIGN_OR_RETURN(const cairn::MappedFile file, cairn::MappedFile::Open(arguments.model));
  CAIRN_ASSIGN_OR_RETURN(const cairn::GgufFile gguf, cairn::GgufFile::Parse(file.bytes()));
  CAIRN_ASSIGN_OR_RETURN(const auto device, cairn::HostDevice::Create(gguf, arguments.device));
  return Compute(*device, arguments, ids);
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc, argv);
  if (status.ok()) return 0;
  std::cerr << "cairn-logits: " << status.message() << "\n";
  return 1;
}
