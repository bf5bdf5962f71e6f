#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "libs/base/units.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/memory_memfd/memfd_memory.h"

// What libs/ports/memory.h promises, of memory_heap and memory_memfd.
namespace cairn::contract {
namespace {

class MemoryContract : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<MemorySource> source_ =
      GetParam() ? std::unique_ptr<MemorySource>(std::make_unique<HeapMemorySource>())
                 : std::make_unique<MemfdMemorySource>(MemfdMemorySource::Options{});
};

INSTANTIATE_TEST_SUITE_P(Sources, MemoryContract, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "Heap" : "Memfd");
});

TEST_P(MemoryContract, PeerSeesWhatTheOwnerWritesLater) {
  auto owned = source_->Create("test", 3 * kMiB);
  ASSERT_TRUE(owned.ok()) << owned.status();
  const absl::Span<std::byte> bytes = (*owned)->bytes();
  ASSERT_EQ(bytes.size(), 3 * kMiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % kPieceBytes, 0u);
  EXPECT_EQ(bytes[bytes.size() - 1], std::byte{0});
  auto peer = source_->Map(*(*owned)->Grant(), 3 * kMiB);
  ASSERT_TRUE(peer.ok()) << peer.status();
  ASSERT_EQ((*peer)->bytes().size(), bytes.size());
  bytes[0] = std::byte{7};
  bytes[bytes.size() - 1] = std::byte{9};
  EXPECT_EQ((*peer)->bytes()[0], std::byte{7});
  EXPECT_EQ((*peer)->bytes()[bytes.size() - 1], std::byte{9});
}

TEST_P(MemoryContract, MappingOutlivesItsOwner) {
  auto owned = source_->Create("test", 64 * kKiB);
  ASSERT_TRUE(owned.ok());
  (*owned)->bytes()[5] = std::byte{5};
  auto peer = source_->Map(*(*owned)->Grant(), kMiB);
  ASSERT_TRUE(peer.ok());
  owned->reset();
  EXPECT_EQ((*peer)->bytes()[5], std::byte{5});
}

TEST_P(MemoryContract, ManyGrantsAreOfTheSameMemory) {
  auto owned = source_->Create("test", 64 * kKiB);
  ASSERT_TRUE(owned.ok());
  auto a = source_->Map(*(*owned)->Grant(), kMiB);
  auto b = source_->Map(*(*owned)->Grant(), kMiB);
  ASSERT_TRUE(a.ok() && b.ok());
  (*owned)->bytes()[1] = std::byte{1};
  EXPECT_EQ((*a)->bytes()[1], (*b)->bytes()[1]);
}

TEST_P(MemoryContract, SizesAreBounded) {
  EXPECT_FALSE(source_->Create("test", 0).ok());
  EXPECT_FALSE(source_->Create("test", std::uint64_t{1} << 60).ok());
  auto owned = source_->Create("test", 64 * kKiB);
  ASSERT_TRUE(owned.ok());
  EXPECT_EQ(source_->Map(*(*owned)->Grant(), 64 * kKiB - 1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(source_->Map(MemoryGrant(), kMiB).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(HeapMemoryTest, FlawedGrantsAreRefused) {
  HeapMemorySource source;
  for (const HeapFlaw flaw : {HeapFlaw::kUnsealed, HeapFlaw::kSparse}) {
    EXPECT_EQ(source.Map(FlawedHeapGrant(kMiB, flaw), kMiB).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// A memfd as a peer may make it.
MemoryGrant Memfd(std::uint64_t bytes, int seals, bool is_whole) {
  const int fd = ::memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(bytes)), 0);
  if (is_whole) {
    const std::string zeros(bytes, '\0');
    EXPECT_EQ(::pwrite(fd, zeros.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  if (seals != 0) {
    EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, seals), 0);
  }
  return MemoryGrant::OfDescriptor(fd);
}

TEST(MemfdMemoryTest, PeersMemoryMustBeSealedWholeAndAMemfd) {
  MemfdMemorySource source({});
  constexpr int kAll = F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
  EXPECT_TRUE(source.Map(Memfd(kMiB, kAll, true), kMiB).ok());
  for (const int missing : {F_SEAL_FUTURE_WRITE, F_SEAL_SHRINK, F_SEAL_GROW}) {
    EXPECT_EQ(source.Map(Memfd(kMiB, kAll & ~missing, true), kMiB).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(source.Map(Memfd(kMiB, kAll, false), kMiB).status().message(),
            "granted memory is not populated: each of its pages must have been written to");
  EXPECT_FALSE(source.Map(Memfd(0, kAll, false), kMiB).ok());
  int pipe_fds[2];
  ASSERT_EQ(::pipe(pipe_fds), 0);
  ::close(pipe_fds[1]);
  EXPECT_FALSE(source.Map(MemoryGrant::OfDescriptor(pipe_fds[0]), kMiB).ok());
  EXPECT_FALSE(source.Map(MemoryGrant::OfDescriptor(::open("/dev/zero", O_RDONLY)), kMiB).ok());
}

TEST(MemfdMemoryTest, PagesBeyondTheEndAreNotPagesOfTheFile) {
  const int fd = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_GE(fd, 0);
  MemoryGrant grant = MemoryGrant::OfDescriptor(fd);
  ASSERT_EQ(::ftruncate(fd, kMiB), 0);
  // As many blocks as the file has bytes, none of them where a reader would look.
  ASSERT_EQ(::fallocate(fd, FALLOC_FL_KEEP_SIZE, kMiB, kMiB), 0);
  ASSERT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), 0);
  MemfdMemorySource source({});
  EXPECT_EQ(source.Map(std::move(grant), kMiB).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MemfdMemoryTest, GrantCanNeitherBeWrittenNorShrunkNorGrown) {
  MemfdMemorySource source({});
  auto owned = source.Create("test", kMiB);
  ASSERT_TRUE(owned.ok());
  (*owned)->bytes()[0] = std::byte{3};
  const MemoryGrant grant = *(*owned)->Grant();
  EXPECT_EQ(::mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, grant.fd(), 0), MAP_FAILED);
  EXPECT_EQ(::ftruncate(grant.fd(), 0), -1);
  EXPECT_EQ(::ftruncate(grant.fd(), 2 * kMiB), -1);
  EXPECT_EQ(::pwrite(grant.fd(), "x", 1, 0), -1);
  EXPECT_EQ(::fallocate(grant.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(::fcntl(grant.fd(), F_ADD_SEALS, F_SEAL_WRITE), -1) << "the set of seals is sealed";
  // Also through another descriptor of it.
  const std::string self = "/proc/self/fd/" + std::to_string(grant.fd());
  const int again = ::open(self.c_str(), O_RDWR | O_CLOEXEC);
  if (again >= 0) {
    EXPECT_EQ(::mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0), MAP_FAILED);
    EXPECT_EQ(::pwrite(again, "x", 1, 0), -1);
    ::close(again);
  }
  void* const read = ::mmap(nullptr, kMiB, PROT_READ, MAP_SHARED, grant.fd(), 0);
  ASSERT_NE(read, MAP_FAILED);
  EXPECT_EQ(::mprotect(read, kMiB, PROT_READ | PROT_WRITE), -1);
  ::munmap(read, kMiB);
  (*owned)->bytes()[0] = std::byte{4};  // the owner goes on
}

TEST(MemfdMemoryTest, EveryPageIsAllocatedBeforeCreateReturns) {
  MemfdMemorySource source({});
  auto owned = source.Create("test", 8 * kMiB);
  ASSERT_TRUE(owned.ok());
  unsigned char resident[8 * kMiB / 4096];
  ASSERT_EQ(::mincore((*owned)->bytes().data(), 8 * kMiB, resident), 0);
  for (const unsigned char page : resident) ASSERT_TRUE((page & 1) != 0);
}

TEST(MemfdMemoryTest, NameShowsInMaps) {
  MemfdMemorySource source({});
  auto owned = source.Create("cairn-arena-0", kMiB);
  ASSERT_TRUE(owned.ok());
  std::ifstream maps("/proc/self/maps");
  bool has_name = false;
  for (std::string line; std::getline(maps, line);) {
    has_name |= absl::StrContains(line, "cairn-arena-0");
  }
  EXPECT_TRUE(has_name);
}

TEST(MemfdMemoryTest, ForkedChildInheritsNoMapping) {
  MemfdMemorySource source({});
  auto owned = source.Create("test", kMiB);
  ASSERT_TRUE(owned.ok());
  const void* const address = (*owned)->bytes().data();
  const pid_t child = ::fork();
  if (child == 0) {
    unsigned char page = 0;
    ::_exit(::mincore(const_cast<void*>(address), 4096, &page) == -1 && errno == ENOMEM ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cairn::contract
