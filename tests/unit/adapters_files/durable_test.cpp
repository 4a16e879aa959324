#include "adapters/files/durable.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "adapters/files/fd.hpp"
#include "support/eventually.hpp"
#include "support/temp_folder.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;

// A signal that interrupts a write, and does nothing else.
class Interrupts {
 public:
  Interrupts() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR2, &action, &before_);
  }
  ~Interrupts() { ::sigaction(SIGUSR2, &before_, nullptr); }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  struct sigaction before_{};
};

TEST(WriteAll, GoesOnAfterAWriteThatASignalMadeShorter) {
  const Interrupts interrupts;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd read(ends[0]);
  Fd write(ends[1]);
  const std::string data(4 << 20, 'x');  // more than a pipe holds
  int error = -1;
  std::thread writer([&] { error = WriteAll(write.Get(), data); });
  EXPECT_TRUE(Eventually([&] {
    pollfd room{write.Get(), POLLOUT, 0};
    return ::poll(&room, 1, 0) == 0;
  })) << "the pipe is full";
  ::pthread_kill(writer.native_handle(), SIGUSR2);
  std::size_t got = 0;
  std::string buffer(64 << 10, '\0');
  while (got < data.size()) {
    pollfd more{read.Get(), POLLIN, 0};
    if (::poll(&more, 1, 60'000) <= 0) break;
    const ssize_t size = ::read(read.Get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    got += static_cast<std::size_t>(size);
  }
  EXPECT_EQ(got, data.size());
  writer.join();
  EXPECT_EQ(error, 0);
}

TEST(WriteAll, SaysWhyNot) { EXPECT_EQ(WriteAll(-1, "x"), EBADF); }

TEST(RenameSynced, RenamesAndSyncsTheFolder) {
  const TempFolder temp;
  std::ofstream(temp.Path() / "new") << "text";
  const Fd folder(::open(temp.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(RenameSynced(folder.Get(), "new", "name"), 0);
  EXPECT_TRUE(fs::exists(temp.Path() / "name"));
  EXPECT_EQ(RenameSynced(folder.Get(), "new", "name"), ENOENT);
  // Of such a descriptor the kernel renames, but does not sync.
  const Fd path(::open(temp.Path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(RenameSynced(path.Get(), "name", "again"), EBADF);
}

}  // namespace
}  // namespace muster::files
