#ifndef CAIRN_TOOLS_BENCH_CONTENDER_H_
#define CAIRN_TOOLS_BENCH_CONTENDER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "libs/base/units.h"
#include "tools/bench/meter.h"

namespace cairn::bench {

enum class Operation { kGet, kPut };
inline const char* NameOf(Operation operation) {
  return operation == Operation::kGet ? "get" : "put";
}

// What is moved. Sources and targets are walked in turn, and larger than processors' caches on
// purpose.
inline constexpr std::uint64_t kWorkingSetBytes = 256 * kMiB;

// The content of every source: each word says where it stands, so that what arrives can be told
// apart.
inline std::uint64_t WordAt(std::uint64_t offset) { return offset * 0x9e3779b97f4a7c15ULL + 1; }

inline void FillSource(absl::Span<std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = WordAt(at);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

// DATA_LOSS unless `landed` begins and ends like a copy of the source's bytes at `offset`.
inline absl::Status CheckLanded(absl::Span<const std::byte> landed, std::uint64_t offset) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, landed.data(), sizeof first);
  std::memcpy(&last, landed.data() + landed.size() - sizeof last, sizeof last);
  if (first == WordAt(offset) && last == WordAt(offset + landed.size() - sizeof last)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("wrong bytes where ", offset, " was asked for"));
}

// One cell of the table of `cairn-bench pull`.
struct Cell {
  Operation operation = Operation::kGet;
  std::uint64_t bytes = 0;
  std::uint32_t window = 1;
};

// Where this process keeps what it moves, for all contenders: `source` holds FillSource's bytes and
// never changes; gets land in `target`. Each has kWorkingSetBytes.
struct Buffers {
  absl::Span<const std::byte> source;
  absl::Span<std::byte> target;

  // Offsets are walked with a stride, so that no hardware guesses them.
  static std::uint64_t SourceOffset(std::uint64_t number, std::uint64_t bytes) {
    return number * 7 % (kWorkingSetBytes / bytes) * bytes;
  }
  absl::Span<const std::byte> SourceOf(std::uint64_t number, std::uint64_t bytes) const {
    return source.subspan(SourceOffset(number, bytes), bytes);
  }
  absl::Span<std::byte> TargetOf(std::uint64_t number, std::uint64_t bytes) const {
    return target.subspan(number % (kWorkingSetBytes / bytes) * bytes, bytes);
  }
};

// A way to move blocks between two processes, one of them this one. Threads: the main one.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;  // short, as --only takes it
  virtual std::vector<pid_t> servers() const = 0;
  // Blocks of this size come next.
  virtual absl::Status Prepare(std::uint64_t bytes) = 0;
  virtual bool Does(const Cell& cell) const { return true; }
  // Before a slice, and not measured.
  virtual absl::Status Ready(const Cell& cell) { return absl::OkStatus(); }
  // Moves blocks until NowSeconds() is `until`, and finishes those in flight.
  virtual absl::Status Run(const Cell& cell, double until, Slice& slice) = 0;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_CONTENDER_H_
