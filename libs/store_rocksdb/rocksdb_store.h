#ifndef CAIRN_LIBS_STORE_ROCKSDB_ROCKSDB_STORE_H_
#define CAIRN_LIBS_STORE_ROCKSDB_ROCKSDB_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libs/ports/generation_store.h"

namespace cairn {

// A GenerationStore of RocksDB databases, one a generation: damage to any file costs that
// generation only. (In one database, recovery without a lost file also drops what was written after
// it, and a table that cannot be read ends the listing.)
//
//   lock                    held while the store is open
//   00000000000000000041/   a generation; appears under its name when its bytes are on the disk
//   *.new, *.old            being written, being removed; cleared when the store is opened
//
// Threads: one at a time; RocksDB has some of its own while a value is read or written.
class RocksdbStore : public GenerationStore {
 public:
  // The folder is made if it is missing, with its parents. FAILED_PRECONDITION: another process has
  // it open. UNAVAILABLE: what the system said.
  static absl::StatusOr<std::unique_ptr<RocksdbStore>> Open(const std::string& path);
  ~RocksdbStore() override;
  RocksdbStore(const RocksdbStore&) = delete;
  RocksdbStore& operator=(const RocksdbStore&) = delete;

  absl::Status Put(std::uint64_t generation, absl::string_view value) override;
  absl::StatusOr<std::vector<std::uint64_t>> List() const override;
  absl::StatusOr<std::string> Get(std::uint64_t generation) const override;
  absl::Status Remove(std::uint64_t generation) override;

 private:
  RocksdbStore(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}
  std::string FolderOf(std::uint64_t generation) const;
  absl::Status Sync() const;  // names of the folder, to the disk

  const std::string path_;
  const int lock_fd_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_STORE_ROCKSDB_ROCKSDB_STORE_H_
