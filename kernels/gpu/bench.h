#ifndef CAIRN_KERNELS_GPU_BENCH_H_
#define CAIRN_KERNELS_GPU_BENCH_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/device_facts.h"
#include "kernels/gpu/measure.h"
#include "kernels/sk/rt/runtime.h"

namespace cairn::gpu {

using Print = std::function<void(const std::string& line)>;
// Queues one run of what is measured.
using Operation = std::function<rt::Status(rt::Stream&)>;

struct Timing {
  double seconds = 0;   // of one run: the median over batches
  double spread = 0;    // (slowest - fastest batch) / median
  double sm_mhz = 0;    // of a multiprocessor, right behind the last batch
  double of_first = 0;  // times the first variant's seconds: the median over pairs of batches
  std::uint64_t runs = 0;
};

// One measured thing: a run for each of its sets of buffers, in turn.
struct Variant {
  std::string name;
  std::vector<Operation> runs = {};
  Work work = {};  // of one run
  // Bytes over another path than device memory (host-device copies): their rate is told, a bound is
  // not, since the largest copies of the run are their ceiling.
  double moved = 0;
  // Whether runs make a graph. Not those that queue on another stream than the bench's (cuBLAS),
  // and not copies, which programs queue one by one.
  bool is_graph = true;
};

// Bench times operations on one device and prints a row of JSON each.
//
// A batch is a graph of all the variant's runs (each set of buffers once), replayed often enough to
// last some 10 ms, between two looks at the host's clock: launches and the last wait are 0.2 % of
// that. Batches of several variants alternate (ABAB), so that a clock that sinks meets all alike.
// Nothing changes a clock of the device.
class Bench {
 public:
  struct Options {
    double seconds = 105;         // rows that would begin later are left out, and said to be
    double batch_seconds = 0.01;  // 0: one replay a batch
    std::uint32_t batches = 9;
    Print print;
  };
  static rt::Result<std::unique_ptr<Bench>> Open(rt::Device& device, const Options& options);

  // Times and prints a row, named `group` and variant, for each. Returns the timings, empty where
  // there was no time left.
  rt::Result<std::vector<Timing>> Time(const std::string& group,
                                       const std::vector<Variant>& variants);
  // A row about something that was not, or could not be, measured.
  void Say(const std::string& group, const std::string& name, const char* field,
           const std::string& text);
  bool HasTime() const;

  rt::Device& device() { return device_; }
  rt::Stream& stream() { return stream_; }
  const DeviceFacts& facts() const { return facts_; }
  Ceilings& ceilings() { return ceilings_; }
  const Options& options() const { return options_; }
  // How many sets of buffers of this size to rotate.
  std::uint32_t Sets(std::uint64_t bytes) const;
  // Megahertz of a multiprocessor now, behind what is queued.
  rt::Result<double> Clock();

 private:
  Bench(rt::Device& device, rt::Stream stream, DeviceFacts facts, rt::Buffer clock,
        rt::Buffer clock_host, Options options);
  rt::Result<double> RunBatch(const Variant& variant, rt::Graph* graph, std::uint64_t replays);
  void PrintRow(const std::string& group, const Variant& variant, const Timing& timing);

  rt::Device& device_;
  rt::Stream stream_;
  DeviceFacts facts_;
  rt::Buffer clock_, clock_host_;
  Options options_;
  Ceilings ceilings_;
  double begun_;
};

// Device memory of a measurement. The first failure stays, and makes all later calls do nothing.
class Memory {
 public:
  explicit Memory(Bench& bench) : bench_(bench) {}
  rt::Buffer Empty(std::size_t bytes) { return Take(bench_.device().Allocate(bytes)); }
  rt::Buffer Pinned(std::size_t bytes) { return Take(bench_.device().AllocatePinned(bytes)); }
  rt::Buffer Random(std::size_t bytes, std::uint32_t seed);  // of bf16 values; a multiple of 4
  template <class T>
  rt::Buffer Upload(const std::vector<T>& values) {
    return UploadBytes(values.data(), values.size() * sizeof(T));
  }
  const rt::Status& status() const { return status_; }
  void Check(rt::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  rt::Buffer Take(rt::Result<rt::Buffer> buffer);
  rt::Buffer UploadBytes(const void* bytes, std::size_t size);
  Bench& bench_;
  rt::Status status_;
};

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_BENCH_H_
