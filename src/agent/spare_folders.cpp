#include "agent/spare_folders.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/task_folder.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kMostSpares = 128;  // of 12 KB each

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Over what is there: giving blocks back and taking them anew would cost more than the rest.
bool Overwrite(const std::string& path, std::string_view data) {
  const auto fd = OpenFile(path, O_WRONLY | O_CREAT);
  struct stat status{};
  if (!fd || ::fstat(fd->Get(), &status) != 0 || WriteAll(fd->Get(), data) != 0) return false;
  return status.st_size <= static_cast<off_t>(data.size()) ||
         ::ftruncate(fd->Get(), static_cast<off_t>(data.size())) == 0;
}

// A file for outputs to which its task wrote nothing, and which no other user ever owned.
bool IsUntouchedOutput(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && status.st_mode == (S_IFREG | 0600) &&
         status.st_uid == ::geteuid() && status.st_nlink == 1 && status.st_size == 0;
}

// Leaves `order` and files for the next outputs and exit record. None means anything there.
bool Empty(const TaskFolder& folder) {
  const auto remove = [](const std::string& file) {
    return ::unlink(file.c_str()) == 0 || errno == ENOENT;
  };
  for (const auto& file : {folder.Script(), folder.Stdin(), folder.Spool(), folder.Kill(),
                           folder.Cgroup(), folder.NewExit(), folder.Restart()})
    if (!remove(file)) return false;
  if (!IsUntouchedOutput(folder.Output()) && !remove(folder.Output())) return false;
  return ::rename(folder.Exit().c_str(), folder.OldExit().c_str()) == 0 || errno == ENOENT;
}

}  // namespace

Result<> SpareFolders::Open(std::string place) {
  place_ = std::move(place);
  spares_.clear();
  RemoveAll(place_);
  return MakeFolders(place_, 0711);
}

std::string SpareFolders::NextName() { return fmt::format("{}/{}", place_, ++last_); }

Result<> SpareFolders::Make(const std::string& path, std::string_view order) {
  const auto conflict = [&] { return Fail(ErrorCode::kConflict, "{} is there already", path); };
  while (!spares_.empty()) {
    const std::string spare = std::move(spares_.back());
    spares_.pop_back();
    errno = 0;
    // Written while it is spare: a task's folder never holds another one's order.
    if (Overwrite(TaskFolder{spare}.Order(), order) &&
        ::renameat2(AT_FDCWD, spare.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
      return {};
    const int error = errno;
    RemoveAll(spare);
    if (error == EEXIST) return conflict();
  }
  if (::mkdir(path.c_str(), 0711) != 0) {
    if (errno == EEXIST) return conflict();
    return Fail(ErrorCode::kUnavailable, "create folder {}: {}", path, ErrnoText(errno));
  }
  auto wrote = WriteFile(TaskFolder{path}.Order(), order);
  if (!wrote) RemoveAll(path);
  return wrote;
}

void SpareFolders::Remove(const std::string& path, bool reuse) {
  // Renamed first: a crash while it is removed must not leave half a task.
  const std::string spare = NextName();
  if (::rename(path.c_str(), spare.c_str()) != 0) return RemoveAll(path);
  if (reuse && spares_.size() < kMostSpares && !LockHolder({spare}) && Empty({spare}))
    spares_.push_back(spare);
  else
    RemoveAll(spare);
}

}  // namespace muster::agent
