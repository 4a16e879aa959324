#include "agent/files.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "adapters/files/safe_flags.hpp"

namespace muster::agent {
namespace {

std::unexpected<Error> FailErrno(std::string_view verb, const std::string& path, int error) {
  const auto code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return Fail(code, "{} {}: {}", verb, path, ErrnoText(error));
}

bool IsLow(const struct statvfs& disk, unsigned percent) noexcept {
  return static_cast<double>(disk.f_bavail) * 100 < static_cast<double>(disk.f_blocks) * percent;
}

Result<> SyncFolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return Sync(folder.empty() ? "." : folder);
}

}  // namespace

std::string ErrnoText(int error) { return std::strerror(error); }

Result<Fd> OpenFile(const std::string& path, int flags, mode_t mode) {
  const int fd = ::open(path.c_str(), files::SafeFlags(flags), mode);
  if (fd < 0) return FailErrno("open", path, errno);
  return Fd(fd);
}

Result<std::string> ReadFile(const std::string& path) {
  auto fd = OpenFile(path, O_RDONLY);
  if (!fd) return Fail(fd.error());
  return ReadAll(fd->Get(), path);
}

Result<std::string> ReadAll(int fd, const std::string& path) {
  std::string text;
  struct stat status{};
  if (::fstat(fd, &status) == 0) text.reserve(static_cast<std::size_t>(status.st_size));
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0) return text;
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      return FailErrno("read", path, errno);
    }
  }
}

Result<> WriteFile(const std::string& path, std::string_view data, mode_t mode) {
  auto fd = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (!fd) return Fail(fd.error());
  if (const int error = WriteAll(fd->Get(), data)) return FailErrno("write", path, error);
  return {};
}

Result<> ReplaceFile(const std::string& path, std::string_view data, mode_t mode,
                     Durability durability) {
  const std::string fresh = path + ".new";
  auto fd = OpenFile(fresh, O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (!fd) return Fail(fd.error());
  if (const int error = WriteAll(fd->Get(), data)) return FailErrno("write", fresh, error);
  if (durability == Durability::kSynced && ::fsync(fd->Get()) != 0)
    return FailErrno("sync", fresh, errno);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return FailErrno("rename", fresh, errno);
  if (durability == Durability::kSynced) return SyncFolderOf(path);
  return {};
}

Result<> Sync(const std::string& path) {
  auto fd = OpenFile(path, O_RDONLY);
  if (!fd) return Fail(fd.error());
  if (::fsync(fd->Get()) != 0) return FailErrno("sync", path, errno);
  return {};
}

Result<> MakeFolders(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  if (errno == ENOENT) {
    const auto parent = std::filesystem::path(path).parent_path().string();
    if (parent.empty() || parent == path) return FailErrno("create folder", path, ENOENT);
    if (auto made = MakeFolders(parent, mode); !made) return made;
    if (::mkdir(path.c_str(), mode) == 0) return {};
  }
  if (errno == EEXIST && std::filesystem::is_directory(path)) return {};
  return FailErrno("create folder", path, errno);
}

bool Exists(const std::string& path) noexcept { return ::access(path.c_str(), F_OK) == 0; }

bool DiskIsLow(const std::string& path, unsigned percent) noexcept {
  struct statvfs disk{};
  return ::statvfs(path.c_str(), &disk) == 0 && IsLow(disk, percent);
}

bool DiskIsLow(int fd, unsigned percent) noexcept {
  struct statvfs disk{};
  return ::fstatvfs(fd, &disk) == 0 && IsLow(disk, percent);
}

}  // namespace muster::agent
