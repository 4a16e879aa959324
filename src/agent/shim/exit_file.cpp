#include "agent/shim/exit_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::agent {
namespace {

constexpr std::size_t kReservedBytes = 4096;

// Unless the file has it from an earlier task.
bool HasRoom(const Fd& file) {
  struct stat status{};
  if (::fstat(file.Get(), &status) != 0) return false;
  return status.st_size == off_t{kReservedBytes} ||
         (WriteAll(file.Get(), std::string(kReservedBytes, '\0')) == 0 &&
          ::ftruncate(file.Get(), off_t{kReservedBytes}) == 0);
}

// Empties the file for outputs, whose content is in the record. It is the task's user's: neither a
// link in its place nor a lease on it may lead us elsewhere or hold us up.
void GiveBack(const std::string& path) {
  const auto file = OpenFile(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return;
  [[maybe_unused]] const int given_back = ::ftruncate(file->Get(), 0);
}

bool WriteAt(int fd, std::string_view data, off_t at) {
  while (!data.empty()) {
    const ssize_t wrote = ::pwrite(fd, data.data(), data.size(), at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    data.remove_prefix(static_cast<std::size_t>(wrote));
    at += wrote;
  }
  return true;
}

}  // namespace

Result<ExitFile> ExitFile::Reserve(const TaskFolder& folder, const TaskKey& task) {
  ::rename(folder.OldExit().c_str(), folder.NewExit().c_str());
  auto file = OpenFile(folder.NewExit(), O_WRONLY | O_CREAT);
  if (!file) return Fail(file.error());
  if (!HasRoom(*file)) {
    // Reserved room says that the task may have started, and this one will not.
    ::unlink(folder.NewExit().c_str());
    return Fail(ErrorCode::kUnavailable, "no room for {}", folder.Exit());
  }
  return ExitFile(folder, task, std::move(*file));
}

bool ExitFile::Put(const TaskEnd& end) const {
  std::string record = EncodeExitRecord(task_, end);
  if (record.size() > kReservedBytes) GiveBack(folder_.Output());
  record.resize(std::max(record.size(), kReservedBytes));
  if (WriteAt(file_.Get(), record, 0)) return true;
  [[maybe_unused]] const int cut = ::ftruncate(file_.Get(), off_t{kReservedBytes});
  return false;
}

bool ExitFile::Write(TaskEnd end) const {
  if (!Put(end)) {
    if (end.outputs.empty()) return false;
    end.outputs.clear();
    end.reason = JoinReasons(std::move(end.reason), "its outputs are lost: the disk is full");
    if (!Put(end)) return false;
  }
  return ::rename(folder_.NewExit().c_str(), folder_.Exit().c_str()) == 0;
}

std::string JoinReasons(std::string first, std::string_view second) {
  if (first.empty() || second.empty()) return first.append(second);
  return first.append("; ").append(second);
}

}  // namespace muster::agent
