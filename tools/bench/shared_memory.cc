#include "tools/bench/shared_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace cairn::bench {
namespace {

class SharedMemory final : public Contender {
 public:
  SharedMemory(std::unique_ptr<ChildProcess> server, std::unique_ptr<PeerMemory> segment,
               const Buffers& buffers)
      : server_(std::move(server)), segment_(std::move(segment)), buffers_(buffers) {}

  std::string name() const override { return "memcpy"; }
  std::vector<pid_t> servers() const override { return {server_->pid()}; }
  bool Does(const Cell& cell) const override { return cell.operation == Operation::kGet; }
  absl::Status Prepare(std::uint64_t bytes) override { return absl::OkStatus(); }
  absl::Status Run(const Cell& cell, double until, Slice& slice) override {
    for (double now = NowSeconds(); now < until; ++next_) {
      const double started = now;
      const std::uint64_t offset = Buffers::SourceOffset(next_, cell.bytes);
      const absl::Span<std::byte> target = buffers_.TargetOf(next_, cell.bytes);
      std::memcpy(target.data(), segment_->bytes().data() + offset, cell.bytes);
      CAIRN_RETURN_IF_ERROR(CheckLanded(target, offset));
      now = NowSeconds();
      slice.Add(cell.bytes, now - started);
    }
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<ChildProcess> server_;
  const std::unique_ptr<PeerMemory> segment_;
  const Buffers buffers_;
  std::uint64_t next_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Contender>> NewSharedMemory(const ScratchFolder& folder,
                                                           const Buffers& buffers,
                                                           MemorySource& memory) {
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<ChildProcess> server,
      ChildProcess::Start({.command = {ProgramFolder() + "/cairn-bench", "serve", "memcpy"},
                           .log_file = folder.PathOf("memcpy.log"),
                           .is_read = true}));
  CAIRN_ASSIGN_OR_RETURN(const std::string fd, server->ReadLine());
  const std::string path = absl::StrCat("/proc/", server->pid(), "/fd/", fd);
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<PeerMemory> segment,
                         memory.Map(MemoryGrant::OfDescriptor(opened), kWorkingSetBytes));
  return std::unique_ptr<Contender>(
      std::make_unique<SharedMemory>(std::move(server), std::move(segment), buffers));
}

absl::Status ServeSharedMemory(MemorySource& memory) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<OwnedMemory> segment,
                         memory.Create("cairn-bench-segment", kWorkingSetBytes));
  FillSource(segment->bytes());
  CAIRN_ASSIGN_OR_RETURN(const MemoryGrant grant, segment->Grant());
  std::cout << grant.fd() << std::endl;
  for (;;) ::pause();
}

}  // namespace cairn::bench
