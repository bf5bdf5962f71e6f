#include "libs/store_rocksdb/rocksdb_store.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameDigits = 20;  // of the largest generation
constexpr char kKey[] = "value";

absl::Status Unavailable(absl::string_view what, absl::string_view path, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": ", why));
}

// The only place where RocksDB's statuses become ours: what cannot be written is a system's matter,
// what cannot be read is lost.
absl::Status Written(const rocksdb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::UnavailableError(status.ToString());
}
absl::Status Read(const rocksdb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::DataLossError(status.ToString());
}

rocksdb::Options OptionsOf() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.max_background_jobs = 1;
  options.info_log_level = rocksdb::InfoLogLevel::FATAL_LEVEL;
  return options;
}

absl::StatusOr<std::unique_ptr<rocksdb::DB>> NewDatabase(const std::string& path) {
  rocksdb::DB* db = nullptr;
  CAIRN_RETURN_IF_ERROR(Written(rocksdb::DB::Open(OptionsOf(), path, &db)));
  return std::unique_ptr<rocksdb::DB>(db);
}

absl::Status WriteValue(const std::string& path, absl::string_view value) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<rocksdb::DB> db, NewDatabase(path));
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;  // Flush makes it durable
  CAIRN_RETURN_IF_ERROR(
      Written(db->Put(unlogged, kKey, rocksdb::Slice(value.data(), value.size()))));
  CAIRN_RETURN_IF_ERROR(Written(db->Flush(rocksdb::FlushOptions())));
  return Written(db->Close());
}

// The names in a folder. (A range-for over a directory_iterator throws when a step fails.)
absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
  }
  if (error) return Unavailable("cannot list", path, error.message());
  return names;
}

// Of a file or folder in the store's folder; false: none of a generation.
bool ParseGeneration(const std::string& name, std::uint64_t* generation) {
  return name.size() == kNameDigits && std::all_of(name.begin(), name.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(name, generation);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RocksdbStore>> RocksdbStore::Open(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Unavailable("cannot make", path, error.message());
  const std::string lock = absl::StrCat(path, "/lock");
  const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Unavailable("cannot open", lock, std::strerror(errno));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return absl::FailedPreconditionError(absl::StrCat(path, " is open in another process"));
  }
  std::unique_ptr<RocksdbStore> store(  // tidy: allow(new) the constructor is private
      new RocksdbStore(path, fd));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(path));
  for (const std::string& name : names) {
    if (!absl::EndsWith(name, ".new") && !absl::EndsWith(name, ".old")) continue;
    std::error_code ignored;  // what stays is tried again when its name is needed
    fs::remove_all(absl::StrCat(path, "/", name), ignored);
  }
  return store;
}

RocksdbStore::~RocksdbStore() { ::close(lock_fd_); }

std::string RocksdbStore::FolderOf(std::uint64_t generation) const {
  return absl::StrFormat("%s/%0*u", path_, static_cast<int>(kNameDigits), generation);
}

absl::Status RocksdbStore::Sync() const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = fd >= 0 && ::fsync(fd) == 0;
  const int failure = errno;
  if (fd >= 0) ::close(fd);
  return is_synced ? absl::OkStatus() : Unavailable("cannot sync", path_, std::strerror(failure));
}

absl::Status RocksdbStore::Put(std::uint64_t generation, absl::string_view value) {
  const std::string folder = FolderOf(generation);
  const std::string draft = folder + ".new";
  std::error_code error;
  fs::remove_all(draft, error);
  absl::Status written = WriteValue(draft, value);
  if (written.ok()) written = Remove(generation);
  if (written.ok()) {
    fs::rename(draft, folder, error);
    written = error ? Unavailable("cannot name", folder, error.message()) : Sync();
  }
  if (!written.ok()) fs::remove_all(draft, error);
  return written;
}

absl::StatusOr<std::vector<std::uint64_t>> RocksdbStore::List() const {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(path_));
  std::vector<std::uint64_t> generations;
  for (const std::string& name : names) {
    std::uint64_t generation = 0;
    if (ParseGeneration(name, &generation)) generations.push_back(generation);
  }
  std::sort(generations.begin(), generations.end());
  return generations;
}

absl::StatusOr<std::string> RocksdbStore::Get(std::uint64_t generation) const {
  const std::string folder = FolderOf(generation);
  std::error_code error;
  if (!fs::exists(folder, error)) return absl::NotFoundError(folder);
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options = OptionsOf();
  options.create_if_missing = false;
  CAIRN_RETURN_IF_ERROR(Read(rocksdb::DB::OpenForReadOnly(options, folder, &opened)));
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::string value;
  CAIRN_RETURN_IF_ERROR(Read(db->Get(rocksdb::ReadOptions(), kKey, &value)));
  return value;
}

absl::Status RocksdbStore::Remove(std::uint64_t generation) {
  const std::string folder = FolderOf(generation);
  const std::string doomed =
      folder + ".old";  // a half-removed one must not look like a damaged one
  std::error_code error;
  if (!fs::exists(folder, error)) return absl::OkStatus();
  fs::remove_all(doomed, error);
  fs::rename(folder, doomed, error);
  if (error) return Unavailable("cannot remove", folder, error.message());
  fs::remove_all(doomed, error);
  return Sync();
}

}  // namespace cairn
