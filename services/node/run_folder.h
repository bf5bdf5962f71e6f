#ifndef CAIRN_SERVICES_NODE_RUN_FOLDER_H_
#define CAIRN_SERVICES_NODE_RUN_FOLDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// RunFolder is the folder where a node is found: its socket, its token (dev mode), its gRPC
// address.
//
//   lock        held while the node lives; says its pid. Stays, since removing a lock is a race
//   node.sock   made and removed by the listener
//   token       32 raw bytes, mode 0600, dev mode only     grpc    "127.0.0.1:41571\n"
//
// Invariants:
//   1. One live process holds a folder. A killed one leaves its files, and the next replaces them.
//   2. A file is there whole or not at all.
//   3. What Write wrote is removed by the destructor, while the lock is still held.
// Threads: one.
class RunFolder {
 public:
  struct Options {
    std::string path;  // Required. Made if missing, with its parents.
    bool is_entered_by_all =
        false;  // mode 0711 instead of 0700: other users' workers find the socket
  };
  // FAILED_PRECONDITION naming the folder: another node has it (with its pid), it is somebody
  // else's, or others may write to it. UNAVAILABLE: what the system said.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Open(const Options& options);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  std::string PathOf(absl::string_view name) const;
  // Replaces the file `name`, mode 0600 or, readable by all, 0644.
  enum class Readers { kOwner, kAll };
  absl::Status Write(absl::string_view name, absl::string_view text, Readers readers);

 private:
  RunFolder(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  const std::string path_;
  const int lock_fd_;
  std::vector<std::string> written_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_RUN_FOLDER_H_
