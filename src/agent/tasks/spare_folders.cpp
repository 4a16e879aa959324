#include "agent/tasks/spare_folders.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/shim/shim_lock.hpp"
#include "agent/tasks/task_folder.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kMostSpares = 128;  // of 12 KB each

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Over what is there: giving blocks back and taking them anew would cost more than the rest.
Result<> Overwrite(const std::string& path, std::string_view data) {
  const auto fd = OpenFile(path, O_WRONLY | O_CREAT);
  if (!fd) return Fail(fd.error());
  struct stat status{};
  int error = ::fstat(fd->Get(), &status) != 0 ? errno : WriteAll(fd->Get(), data);
  const auto size = static_cast<off_t>(data.size());
  if (error == 0 && status.st_size > size && ::ftruncate(fd->Get(), size) != 0) error = errno;
  if (error != 0) return Fail(ErrorCode::kUnavailable, "write {}: {}", path, ErrnoText(error));
  return {};
}

Result<> Rename(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return Fail(ErrorCode::kConflict, "{} is there already", to);
  return Fail(ErrorCode::kUnavailable, "rename {} to {}: {}", from, to, ErrnoText(errno));
}

// A file for outputs to which its task wrote nothing, and which no other user ever owned.
bool IsUntouchedOutput(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && status.st_mode == (S_IFREG | 0600) &&
         status.st_uid == ::geteuid() && status.st_nlink == 1 && status.st_size == 0;
}

// Leaves `order` and files for the next outputs and exit record, none of which means anything
// there. False when that fails, or when the task put something else there.
bool Empty(const TaskFolder& folder) {
  const std::array to_keep = {folder.Order(), folder.OldExit()};
  const std::array to_remove = {folder.Script(),  folder.Output(), folder.Stdin(),
                                folder.Spool(),   folder.Kill(),   folder.Cgroup(),
                                folder.NewExit(), folder.Restart()};
  const auto is_in = [](const auto& paths, const std::string& path) {
    return std::ranges::find(paths, path) != paths.end();
  };
  std::error_code problem;
  for (std::filesystem::directory_iterator item(folder.path, problem), end; item != end;
       item.increment(problem)) {
    const std::string path = item->path().string();
    if (is_in(to_keep, path) || (path == folder.Output() && IsUntouchedOutput(path))) continue;
    const bool gone = path == folder.Exit() ? ::rename(path.c_str(), folder.OldExit().c_str()) == 0
                                            : is_in(to_remove, path) && ::unlink(path.c_str()) == 0;
    if (!gone) return false;
  }
  return !problem;
}

}  // namespace

Result<> SpareFolders::Open(std::string place) {
  place_ = std::move(place);
  spares_.clear();
  RemoveAll(place_);
  return MakeFolders(place_, 0711);
}

std::string SpareFolders::NextName() { return fmt::format("{}/{}", place_, ++last_); }

// Written while it is a spare one: a task's folder never holds half an order, or another one's.
Result<> SpareFolders::Make(const std::string& path, std::string_view order) {
  for (;;) {
    const bool fresh = spares_.empty();
    const std::string spare = fresh ? NextName() : spares_.back();
    if (!fresh) spares_.pop_back();
    Result<> made = fresh ? MakeFolders(spare, 0711) : Result<>();
    if (made) made = Overwrite(TaskFolder{spare}.Order(), order);
    if (made) made = Rename(spare, path);
    if (made) return made;
    RemoveAll(spare);
    if (fresh || made.error().code == ErrorCode::kConflict) return made;
  }
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
