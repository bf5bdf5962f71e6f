#include "kernels/interpreter/streams.h"

#include <algorithm>
#include <utility>

namespace cairn::interpreter {

cudaStream_t Streams::Open() {
  auto stream = std::make_unique<CUstream_st>();
  stream->queue = std::make_shared<Queue>();
  std::erase_if(queues_, [](const auto& queue) { return queue.expired(); });
  queues_.push_back(stream->queue);
  return stream.release();
}

cudaError_t Streams::Close(cudaStream_t stream) {
  const std::unique_ptr<CUstream_st> owned(stream);
  if (owned->captured != nullptr) EndCapture(stream);
  return RunTo(*owned->queue, owned->queue->given());
}

cudaError_t Streams::Give(cudaStream_t stream, Call call) {
  if (is_lost_) return cudaErrorLaunchFailure;
  if (stream->captured != nullptr) {
    stream->captured->calls.push_back(std::move(call));
  } else {
    stream->queue->calls.push_back(std::move(call));
  }
  return cudaSuccess;
}

cudaError_t Streams::RunTo(Queue& queue, std::uint64_t calls) {
  while (!is_lost_ && queue.done < calls) {
    const Call call = std::move(queue.calls.front());
    queue.calls.pop_front();
    ++queue.done;
    is_lost_ = call() != cudaSuccess || is_lost_;
  }
  return is_lost_ ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t Streams::RunAll() {
  for (const std::weak_ptr<Queue>& weak : queues_) {
    if (const std::shared_ptr<Queue> queue = weak.lock()) (void)RunTo(*queue, queue->given());
  }
  return is_lost_ ? cudaErrorLaunchFailure : cudaSuccess;
}

void Streams::BeginCapture(cudaStream_t stream) {
  ++captures_;
  stream->captured = std::make_unique<CUgraph_st>();
}

std::unique_ptr<CUgraph_st> Streams::EndCapture(cudaStream_t stream) {
  if (stream->captured != nullptr) --captures_;
  return std::move(stream->captured);
}

}  // namespace cairn::interpreter
