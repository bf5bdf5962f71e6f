#ifndef CAIRN_LIBS_PORTS_DEVICE_H_
#define CAIRN_LIBS_PORTS_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/layout/kv_layout.h"

namespace cairn {

// What an engine must know of a loaded model.
struct ModelShape {
  std::uint32_t vocabulary = 0;
  std::uint64_t positions_max = 0;  // context length
  bool spans = true;                // keys.md rule 7
  // Rows that were sampled get the keys and values that prefilling them would give. Where not, they
  // are no one else's: another request's prompt may have the same tokens.
  bool is_generated_kv_final = true;
};

// A run of tokens of one segment that rows attend, in blocks of the layout's block_tokens.
struct AttendedSegment {
  std::uint64_t position = 0;  // of its first token, counted from the rows' origin
  std::uint32_t tokens = 0;    // attended: all of them
  // Base of each block, ceil(tokens / block_tokens) of them. In the pool or in a node's arena,
  // 4 KiB aligned. Slots behind the segment's last token are zero.
  absl::Span<const std::byte* const> blocks;
  // Of each block that lies in the arena (Device::UseArena) what it holds there: as long as it is
  // this, the block may be read and a copy of it kept. 0: of other blocks. Empty: of none.
  absl::Span<const std::uint64_t> versions;
};

// What of a chunk's rows comes back, besides their keys and values.
enum class LogitRows : std::uint8_t {
  kNone,
  kLast,       // the last row's logits
  kAll,        // every row's
  kLastToken,  // of the last row only the token that HighestLogit would choose: no logits move
};

// Where a step's results go, each exactly as large as the chunks ask for.
struct StepOutput {
  // NOLINTNEXTLINE(google-explicit-constructor): most steps ask for logits only
  StepOutput(absl::Span<float> logits = {}, absl::Span<std::uint32_t> tokens = {})
      : logits(logits), tokens(tokens) {}
  absl::Span<float> logits;          // [row][vocabulary], in the order of the chunks
  absl::Span<std::uint32_t> tokens;  // one for each chunk that asks for kLastToken, in order
};

// StepChunk is a run of tokens of one request, within one segment, to be computed in one step.
// Positions count from the rows' origin: their span's first token for a span's rows (which attend
// nothing else), position 0 of the prompt for all others (engine.md, Attention over spans).
struct StepChunk {
  absl::Span<const std::uint32_t> tokens;     // one row each
  std::uint64_t position = 0;                 // of the first row; the others count up
  absl::Span<const AttendedSegment> context;  // whole segments before the own one, in prompt order
  // The own segment up to and including the last row: own.tokens == first_row + tokens.size(). Row
  // i attends its first first_row + i + 1 tokens.
  AttendedSegment own;
  std::uint32_t first_row = 0;  // index in the own segment of the first row
  // Where the rows' keys and values go: the own segment's blocks from first_row / block_tokens on,
  // in the pool. The same memory as own.blocks there.
  absl::Span<std::byte* const> writes;
  LogitRows logit_rows = LogitRows::kNone;
  bool is_generated = false;  // its tokens were sampled: no chunk has those and a prompt's
};

// How large steps may be.
struct StepRoom {
  std::uint32_t blocks = 0;    // that one step attends
  std::uint32_t rows = 0;      // of one step
  std::uint32_t requests = 0;  // that have a row with results in one step
};

// A block of the pool, of which `tokens` tokens are stored; slots behind them are zero.
struct StoredBlock {
  absl::Span<const std::byte> bytes;
  std::uint32_t tokens = 0;
};

// A node's memory, mapped here read-only, that blocks may lie in. Destroying it unmaps.
class SharedArena {
 public:
  virtual ~SharedArena() = default;
  virtual std::vector<absl::Span<const std::byte>> pieces() const = 0;
};

// Device runs a model's layers over a pool of KV blocks. `device_host` is the CPU.
//
// Bits:    a row's KV and logits depend on its own tokens, positions and attended KV only: never on
//          how rows are cut into chunks, which chunks share a step, or where blocks lie.
// Order:   all rows of a step store their keys and values of a layer before any row attends it, so
// a
//          later chunk of a request may attend an earlier one of the same step.
// Threads: one step at a time, from any one thread. May use threads of its own inside.
class Device {
 public:
  virtual ~Device() = default;
  virtual const ModelShape& shape() const = 0;
  virtual const KvLayout& layout() const = 0;
  // Everything here that can change bits (keys.md, numerics): back end, tier, tile and split,
  // tables.
  virtual std::string numerics() const = 0;
  // Takes the memory for such steps now. RESOURCE_EXHAUSTED says what there is none for. Without
  // this call it is taken as steps need it.
  virtual absl::Status Reserve(const StepRoom& room) { return absl::OkStatus(); }
  // Computes `chunks` (at most limits::kStepRowsMax rows).
  //   INVALID_ARGUMENT    names a chunk that breaks the contract above, or wrong room for results
  //   RESOURCE_EXHAUSTED  there is no memory for this step; smaller ones may go on. Tokens that
  //                       were stored before are as they were
  //   anything else       the device has failed, and is of no use any more; the blocks of `writes`
  //                       hold anything
  // On failure results hold anything, and so do the slots of this step's rows.
  virtual absl::Status Run(absl::Span<const StepChunk> chunks, StepOutput output) = 0;
  // What blocks are offered with: the checksum of each, `sums` having as much room. Between steps.
  // A device that has the blocks at hand may be faster than the CPU, which this default is.
  virtual void Sum(absl::Span<const StoredBlock> blocks, absl::Span<Checksum> sums) {
    for (std::size_t i = 0; i < blocks.size(); ++i) sums[i] = ChecksumOf(blocks[i].bytes);
  }
  // The pool that blocks of later chunks may lie in, `memory` cut into blocks of the layout: while
  // block i's word in `takes` stays what it is, every token that rows attend in it was there when
  // Run first saw the block under this word, or was stored by Run since. So a device with memory of
  // its own may keep copies of them between steps. One pool at a time; both spans must be valid
  // until the next call. Blocks elsewhere may hold something else in every step.
  virtual void UsePool(absl::Span<const std::byte> memory, absl::Span<const std::uint64_t> takes) {}
  // The arena that later chunks name versions in; null: none. One at a time; the device may hold it
  // until the next call. Versions of one address never repeat. What is copied of a block that the
  // node was changing is torn, and may be kept all the same: it is the engine that looks at slots'
  // words after each step (promise 4), and throws away all steps that name this version.
  virtual void UseArena(std::shared_ptr<const SharedArena> arena) {}
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_DEVICE_H_
