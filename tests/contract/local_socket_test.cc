#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/local_socket/local_socket.h"
#include "tests/contract/loop_rig.h"
#include "tests/contract/temp_folder.h"

// What only a real unix socket has: paths, modes, other processes, hostile ones.
namespace cairn::contract {
namespace {

class LocalSocketTest : public testing::Test {
 protected:
  ~LocalSocketTest() override {
    rig_.On(loop_, [&] {
      channels_.clear();
      listener_.reset();
    });
    rig_.StopLoop(loop_);
  }
  absl::Status Listen(SocketListenerOptions options) {
    absl::Status status;
    rig_.On(loop_, [&] {
      listener_ = NewSocketListener(loop_, options);
      status = listener_->Start([this](std::unique_ptr<LocalChannel> channel) {
        LocalChannel* const raw = channel.get();
        rig_.Record([&] { channels_.push_back(std::move(channel)); });
        raw->Start(
            [this](LocalChannel::Message m) {
              rig_.Record([&] { messages_.push_back(std::move(m)); });
            },
            [this](absl::Status why) { rig_.Record([&] { closed_.push_back(why); }); });
      });
    });
    return status;
  }
  // A peer that writes what it likes.
  int RawConnect(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  void SendDescriptors(int socket, const std::string& bytes, int count) {
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    std::vector<char> control(CMSG_SPACE(sizeof(int) * static_cast<std::size_t>(count)));
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      std::memcpy(CMSG_DATA(part) + sizeof(int) * static_cast<std::size_t>(i), &null_,
                  sizeof null_);
    }
    EXPECT_EQ(::sendmsg(socket, &header, 0), static_cast<ssize_t>(bytes.size()));
  }
  static std::size_t OpenDescriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
      ++count;
    }
    return count;
  }
  static std::string Frame(std::uint32_t body, std::uint32_t grants, const std::string& bytes) {
    std::string out(8, '\0');
    std::memcpy(out.data(), &body, 4);
    std::memcpy(out.data() + 4, &grants, 4);
    return out + bytes;
  }

  AsioRig rig_;
  Loop& loop_ = rig_.NewLoop();
  TempFolder folder_;
  std::unique_ptr<LocalListener> listener_;
  std::vector<std::unique_ptr<LocalChannel>> channels_;
  std::vector<LocalChannel::Message> messages_;
  std::vector<absl::Status> closed_;
  const int null_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
};

TEST_F(LocalSocketTest, PathOfAnyLengthWorks) {
  std::string folder = folder_ / std::string(100, 'd');
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
    folder += "/" + std::string(100, 'd');
  }
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string path = folder + "/node.sock";
  ASSERT_GT(path.size(), 400u);
  ASSERT_TRUE(Listen({.path = path}).ok());
  rig_.On(loop_, [&] {
    auto dialled = NewSocketDialer(loop_, path)->Dial();
    ASSERT_TRUE(dialled.ok()) << dialled.status();
    LocalChannel::Message message;
    message.body = "deep";
    EXPECT_TRUE((*dialled)->Send(std::move(message)).ok());
  });
  ASSERT_TRUE(rig_.Await([&] { return messages_.size() == 1; }));
  rig_.On(loop_, [&] { listener_.reset(); });
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(LocalSocketTest, ModeFollowsTheOption) {
  struct stat file {};
  ASSERT_TRUE(Listen({.path = folder_ / "private.sock"}).ok());
  ASSERT_EQ(::stat((folder_ / "private.sock").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  ASSERT_TRUE(Listen({.path = folder_ / "public.sock", .serves_all_uids = true}).ok());
  ASSERT_EQ(::stat((folder_ / "public.sock").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0666u);
}

TEST_F(LocalSocketTest, SocketOfAKilledProcessIsReplaced) {
  const std::string path = folder_ / "node.sock";
  const pid_t child = ::fork();
  if (child == 0) {  // binds, as a node does, and dies without a word
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ::_exit(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(Listen({.path = path}).ok());
  ::close(RawConnect(path));
}

TEST_F(LocalSocketTest, FileOfAnotherKindIsNeverRemoved) {
  const std::string path = folder_ / "precious";
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(Listen({.path = path}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(LocalSocketTest, MissingFolderIsAClearError) {
  const absl::Status status = Listen({.path = folder_ / "no/such/node.sock"});
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("no/such/node.sock"), absl::string_view::npos);
}

TEST_F(LocalSocketTest, HostilePeersAreClosedAndLeakNothing) {
  const std::string path = folder_ / "node.sock";
  ASSERT_TRUE(Listen({.path = path}).ok());
  rig_.On(loop_, [] {});
  const std::size_t before = OpenDescriptors();
  std::size_t attacks = 0;
  const auto attack = [&](const std::string& bytes, int descriptors) {
    const int socket = RawConnect(path);
    if (descriptors > 0) {
      SendDescriptors(socket, bytes, descriptors);
    } else {
      EXPECT_EQ(::write(socket, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    ++attacks;
    EXPECT_TRUE(rig_.Await([&] { return closed_.size() == attacks; })) << "attack " << attacks;
    char byte = 0;
    EXPECT_LE(::read(socket, &byte, 1), 0) << "still open";
    ::close(socket);
  };
  attack(Frame(limits::kLocalMessageBytesMax + 1, 0, "x"), 0);
  attack(Frame(0xffffffff, 0xffffffff, "x"), 0);
  attack(Frame(1, limits::kLocalGrantsToListenerMax + 1, "x"), 2);
  attack(Frame(1, 1, "x"), 0);  // claims a descriptor that it does not send
  attack(Frame(2, 1, "x"), 2);  // and one more than it claims, with a half message
  attack(Frame(100'000, 0, "x") + std::string(10, 'y'), 253);  // unasked ones; a half message
  EXPECT_TRUE(messages_.empty());
  rig_.On(loop_, [&] { channels_.clear(); });
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(LocalSocketTest, HalfMessageIsCutOffInTime) {
  const std::string path = folder_ / "node.sock";
  ASSERT_TRUE(Listen({.path = path}).ok());
  const int socket = RawConnect(path);
  ASSERT_EQ(::write(socket, "abc", 3), 3);
  EXPECT_TRUE(rig_.Await([&] { return closed_.size() == 1; }));
  EXPECT_EQ(closed_[0].code(), absl::StatusCode::kInvalidArgument);
  ::close(socket);
}

TEST_F(LocalSocketTest, DeathOfTheOtherProcessClosesTheChannel) {
  const std::string path = folder_ / "node.sock";
  ASSERT_TRUE(Listen({.path = path}).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    RawConnect(path);
    ::pause();
  }
  ASSERT_TRUE(rig_.Await([&] { return channels_.size() == 1; }));
  EXPECT_EQ(channels_[0]->peer().pid, child);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(rig_.Await([&] { return closed_.size() == 1; }));
}

}  // namespace
}  // namespace cairn::contract
