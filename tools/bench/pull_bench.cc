#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "libs/base/status_macros.h"
#include "libs/config/yaml_scalar.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "tools/bench/benches.h"
#include "tools/bench/node_contenders.h"
#include "tools/bench/pull_report.h"
#include "tools/bench/raw_ucx.h"
#include "tools/bench/shared_memory.h"
#include "tools/bench/transport_pair.h"
#include "tools/bench/value_server.h"

namespace cairn::bench {
namespace {

constexpr std::uint64_t kBytesMin = 16 * kKiB;  // so that one ACQUIRE names all blocks
constexpr std::uint64_t kBytesMax = 16 * kMiB;
constexpr std::uint64_t kWindowMax = 8;  // of the largest blocks, all of the target
constexpr int kRounds = 5;
constexpr double kWarmUpSecondsMax = 0.05;
// In the order in which they take turns, so that what is compared stands side by side.
constexpr absl::string_view kContenders[] = {"transport", "ucx",  "node",  "memcached",
                                             "redis",     "host", "memcpy"};

struct Plan {
  double row_seconds = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint32_t> windows;
  std::vector<Operation> operations;
  std::set<std::string> contenders;
};

absl::StatusOr<Plan> PlanOf(const BenchCall& call) {
  Plan plan;
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t millis, call.Number("ms", 900, 1, 600'000));
  plan.row_seconds = static_cast<double>(millis) / 1000;
  const std::string sizes = call.Text("sizes", "64KiB,256KiB,1MiB,4MiB,16MiB");
  for (const absl::string_view text : absl::StrSplit(sizes, ',')) {
    const absl::StatusOr<std::uint64_t> bytes = ParseSize(text);
    if (!bytes.ok() || *bytes < kBytesMin || *bytes > kBytesMax || (*bytes & (*bytes - 1)) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("--sizes are powers of two from ",
                                                     ShowSize(kBytesMin), " to ",
                                                     ShowSize(kBytesMax), ", not \"", text, "\""));
    }
    plan.sizes.push_back(*bytes);
  }
  const std::string windows = call.Text("window", "1,8");
  for (const absl::string_view text : absl::StrSplit(windows, ',')) {
    std::uint32_t window = 0;
    if (!absl::SimpleAtoi(text, &window) || window < 1 || window > kWindowMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("--window is a number from 1 to ", kWindowMax, ", not \"", text, "\""));
    }
    plan.windows.push_back(window);
  }
  std::set<Operation> operations;
  for (const std::string& text :
       std::vector<std::string>(absl::StrSplit(call.Text("only", ""), ',', absl::SkipEmpty()))) {
    if (text == "get" || text == "put") {
      operations.insert(text == "get" ? Operation::kGet : Operation::kPut);
    } else if (std::find(std::begin(kContenders), std::end(kContenders), text) !=
               std::end(kContenders)) {
      plan.contenders.insert(text);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "--only takes get, put, ", absl::StrJoin(kContenders, ", "), ", not \"", text, "\""));
    }
  }
  if (operations.empty()) operations = {Operation::kGet, Operation::kPut};
  // Gets first: puts evict what they read.
  plan.operations.assign(operations.begin(), operations.end());
  if (plan.contenders.empty()) {
    plan.contenders.insert(std::begin(kContenders), std::end(kContenders));
  }
  return plan;
}

class PullRun {
 public:
  PullRun(const BenchCall& call, Plan plan) : call_(call), plan_(std::move(plan)) {}
  ~PullRun() {
    contenders_.clear();
    site_.reset();
    loop_.Stop();
  }

  absl::Status Run() {
    CAIRN_ASSIGN_OR_RETURN(folder_, ScratchFolder::Create());
    CAIRN_ASSIGN_OR_RETURN(pool_, memory_.Create("cairn-bench-source", kWorkingSetBytes));
    CAIRN_ASSIGN_OR_RETURN(target_, memory_.Create("cairn-bench-target", kWorkingSetBytes));
    FillSource(pool_->bytes());
    loop_.Start("bench-client");
    CAIRN_RETURN_IF_ERROR(MakeContenders({.source = pool_->bytes(), .target = target_->bytes()}));
    for (const std::uint64_t bytes : plan_.sizes) {
      CAIRN_RETURN_IF_ERROR(Prepare(bytes));
      for (const Operation operation : plan_.operations) {
        for (const std::uint32_t window : plan_.windows) {
          CAIRN_RETURN_IF_ERROR(RunCell({operation, bytes, window}));
        }
      }
    }
    return absl::OkStatus();
  }

  std::vector<Row>& rows() { return rows_; }
  const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  absl::StatusOr<std::unique_ptr<Contender>> Make(absl::string_view name, const Buffers& buffers) {
    if (name == "transport") return NewTransportPair(*folder_, buffers, loop_);
    if (name == "ucx") return NewRawUcx(*folder_, buffers);
    if (name == "memcpy") return NewSharedMemory(*folder_, buffers, memory_);
    if (name == "memcached") {
      return NewMemcached(*folder_, buffers, FindProgram("memcached", call_.program_path));
    }
    if (name == "redis") {
      return NewRedis(*folder_, buffers, FindProgram("redis-server", call_.program_path));
    }
    if (site_ == nullptr) {
      site_ = std::make_unique<NodeSite>(
          NodeSite::Needs{*folder_, loop_, memory_, *pool_, buffers, call_.termination});
    }
    return name == "node" ? NewNodeOverTcp(*site_) : NewNodeOnHost(*site_);
  }

  absl::Status MakeContenders(const Buffers& buffers) {
    for (const absl::string_view name : kContenders) {
      if (!plan_.contenders.contains(std::string(name))) continue;
      absl::StatusOr<std::unique_ptr<Contender>> made = Make(name, buffers);
      if (absl::IsNotFound(made.status())) {
        call_.err << "skipped: " << made.status().message() << "\n";
        skipped_.emplace_back(name);
        continue;
      }
      CAIRN_RETURN_IF_ERROR(made.status());
      contenders_.push_back(*std::move(made));
    }
    return absl::OkStatus();
  }

  absl::Status Prepare(std::uint64_t bytes) {
    call_.err << ShowSize(bytes) << ": fills\n";
    for (const std::unique_ptr<Contender>& one : contenders_) {
      CAIRN_RETURN_IF_ERROR(one->Prepare(bytes));
    }
    if (site_ != nullptr) CAIRN_RETURN_IF_ERROR(site_->Prepare(bytes));
    return CheckInterrupt();
  }

  // All contenders take turns, so that what disturbs the machine disturbs all of them.
  absl::Status RunCell(const Cell& cell) {
    call_.err << ShowSize(cell.bytes) << ": " << NameOf(cell.operation) << ", window "
              << cell.window << "\n";
    std::vector<Row> rows;
    std::vector<Contender*> running;
    for (const std::unique_ptr<Contender>& one : contenders_) {
      if (!one->Does(cell)) continue;
      running.push_back(one.get());
      rows.push_back({.contender = one->name(), .cell = cell});
    }
    const double seconds = plan_.row_seconds / kRounds;
    for (Contender* one : running) {
      CAIRN_RETURN_IF_ERROR(RunSlice(*one, cell, std::min(seconds, kWarmUpSecondsMax)).status());
    }
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < running.size(); ++i) {
        CAIRN_ASSIGN_OR_RETURN(const Slice slice, RunSlice(*running[i], cell, seconds));
        rows[i].Add(slice);
      }
      CAIRN_RETURN_IF_ERROR(CheckInterrupt());
    }
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    return absl::OkStatus();
  }

  absl::StatusOr<Slice> RunSlice(Contender& contender, const Cell& cell, double seconds) {
    const auto of = [&](const absl::Status& status) {
      return status.ok() ? status
                         : absl::Status(status.code(),
                                        absl::StrCat(contender.name(), ": ", status.message()));
    };
    CAIRN_RETURN_IF_ERROR(of(contender.Ready(cell)));
    Slice slice;
    Meter meter(slice, contender.servers());
    CAIRN_RETURN_IF_ERROR(of(contender.Run(cell, meter.started_at() + seconds, slice)));
    meter.Stop();
    return slice;
  }

  absl::Status CheckInterrupt() {
    const bool is_signalled =
        call_.termination.Wait(absl::ZeroDuration()) == Termination::Event::kSignal;
    return is_signalled ? absl::CancelledError("interrupted") : absl::OkStatus();
  }

  const BenchCall& call_;
  const Plan plan_;
  // Each outlives what stands below it.
  std::unique_ptr<ScratchFolder> folder_;
  MemfdMemorySource memory_{MemfdMemorySource::Options{}};
  std::unique_ptr<OwnedMemory> pool_;
  std::unique_ptr<OwnedMemory> target_;
  AsioLoop loop_;
  std::unique_ptr<NodeSite> site_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  std::vector<Row> rows_;
  std::vector<std::string> skipped_;
};

absl::StatusOr<boost::json::value> RunPull(const BenchCall& call, bool is_quiet) {
  CAIRN_ASSIGN_OR_RETURN(Plan plan, PlanOf(call));
  PullRun run(call, std::move(plan));
  CAIRN_RETURN_IF_ERROR(run.Run());
  const std::vector<Ratio> ratios = RatiosOf(run.rows());
  if (!is_quiet) {
    PrintRows(call.out, run.rows());
    call.out << "\n";
    PrintRatios(call.out, ratios);
  }
  return JsonOf(run.rows(), ratios, run.skipped());
}

constexpr Flag kFlags[] = {
    {"ms", "N", "milliseconds for each row (default 900), in five turns"},
    {"sizes", "LIST", "of blocks (default 64KiB,256KiB,1MiB,4MiB,16MiB)"},
    {"window", "LIST", "operations in flight (default 1,8)"},
    {"only", "LIST", "of contenders, and of get and put (default: all)"},
};

}  // namespace

const Bench kPullBench = {
    .name = "pull",
    .summary = "moving blocks: over tcp and on one host, beside what others do",
    .help =
        "Moves blocks between two processes, in turns:\n"
        "  transport  libs/transport_ucx over tcp: PULL/DATA, OFFER/WANT/DATA/STORED\n"
        "  node       a cairn-node and libs/client over tcp, checksums and all\n"
        "  ucx        UCX active messages by rendezvous, nothing else, same settings\n"
        "  memcached, redis   over one raw socket on loopback (skipped if not installed)\n"
        "  host       a cairn-node and libs/client on one host: copies in place, offers\n"
        "  memcpy     one thread, out of another process's shared segment\n"
        "GB are 1e9 bytes; CPU is user and system time of all threads of a process.",
    .flags = kFlags,
    .run = RunPull,
};

}  // namespace cairn::bench
