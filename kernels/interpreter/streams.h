#ifndef CAIRN_KERNELS_INTERPRETER_STREAMS_H_
#define CAIRN_KERNELS_INTERPRETER_STREAMS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

// What cudart's handles of streams, events and graphs point at.

namespace cairn::interpreter {

using Call = std::function<cudaError_t()>;

// What a stream has been given and not done yet. Nothing is done until somebody waits for it: who
// forgets to wait finds things undone.
struct Queue {
  std::deque<Call> calls;
  std::uint64_t done = 0;  // so many before `calls`
  std::uint64_t given() const { return done + calls.size(); }
};

}  // namespace cairn::interpreter

struct CUgraph_st {
  std::vector<cairn::interpreter::Call> calls;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};
struct CUstream_st {
  std::shared_ptr<cairn::interpreter::Queue> queue;
  std::unique_ptr<CUgraph_st> captured;  // while it captures
};
struct CUevent_st {
  std::shared_ptr<cairn::interpreter::Queue> queue;  // null: never recorded
  std::uint64_t calls = 0;                           // of it, which come before
};

namespace cairn::interpreter {

// Streams runs them, each in its order. Threads: one at a time.
class Streams {
 public:
  cudaStream_t Open();
  // What it was given is done first.
  cudaError_t Close(cudaStream_t stream);
  // To the end of what the stream was given, or of the graph that it captures.
  cudaError_t Give(cudaStream_t stream, Call call);
  // Does what a queue was given until `calls` are done.
  cudaError_t RunTo(Queue& queue, std::uint64_t calls);
  cudaError_t RunAll();

  void BeginCapture(cudaStream_t stream);
  std::unique_ptr<CUgraph_st> EndCapture(cudaStream_t stream);
  bool is_capturing() const { return captures_ > 0; }
  // A kernel failed, or memory was given back as another kind: no call works any more.
  void Lose() { is_lost_ = true; }
  bool is_lost() const { return is_lost_; }

 private:
  std::vector<std::weak_ptr<Queue>> queues_;
  std::uint32_t captures_ = 0;  // that are under way
  bool is_lost_ = false;
};

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_STREAMS_H_
