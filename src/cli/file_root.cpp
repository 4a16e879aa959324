#include "cli/file_root.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "base/text.hpp"
#include "cli/beneath.hpp"

namespace muster::cli {
namespace {

ErrorCode CodeOfErrno(int error) {
  if (error == EXDEV) return ErrorCode::kDenied;
  return error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kInvalid;
}

std::string WordFor(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

}  // namespace

OpenedFile::~OpenedFile() {
  if (fd_ >= 0) ::close(fd_);
}

OpenedFile::OpenedFile(OpenedFile&& other) noexcept : fd_(other.Release()) {}

int OpenedFile::Release() { return std::exchange(fd_, -1); }

FileRoot FileRoot::Anywhere() { return {nullptr, ""}; }

Result<FileRoot> FileRoot::Within(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return Fail(ErrorCode::kNotFound, "cannot open the folder '{}': {}", folder,
                std::strerror(errno));
  return FileRoot(std::make_shared<const OpenedFile>(fd), folder);
}

std::string FileRoot::Named(const std::string& path) const {
  return folder_ == nullptr ? fmt::format("'{}'", path) : fmt::format("'{}' in '{}'", path, name_);
}

Result<OpenedFile> FileRoot::Open(const std::string& path, int flags) const {
  // A pipe's writer is not waited for, a terminal not taken. O_PATH opens neither.
  flags |= O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY);
  const int fd =
      folder_ == nullptr ? ::open(path.c_str(), flags) : OpenBeneath(folder_->Fd(), path, flags);
  if (fd >= 0) return OpenedFile(fd);
  const int error = errno;
  if (error == EXDEV)
    return Fail(ErrorCode::kDenied,
                "'{}' leads out of '{}', and a document may use only files inside it; move the "
                "file there, or allow a wider folder with --root DIR",
                path, name_);
  return Fail(CodeOfErrno(error), "cannot read {}: {}", Named(path), std::strerror(error));
}

Result<OpenedFile> FileRoot::OpenFile(const std::string& path) const {
  auto file = Open(path, O_RDONLY);
  if (!file) return file;
  struct stat status{};
  if (::fstat(file->Fd(), &status) != 0 || !S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalid, "{} is {}, not a file", Named(path), WordFor(status.st_mode));
  return file;
}

Result<std::string> FileRoot::Read(const std::string& path, std::size_t most) const {
  const auto file = OpenFile(path);
  if (!file) return Fail(file.error());
  std::string text;
  char part[64 << 10];
  while (true) {
    const auto got = ::read(file->Fd(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Fail(ErrorCode::kInvalid, "cannot read {}: {}", Named(path), std::strerror(errno));
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > most)
      return Fail(ErrorCode::kInvalid, "{} has more than {}", Named(path), FormatSize(most));
  }
}

Result<struct stat> FileRoot::Look(const std::string& path, bool follow) const {
  const auto file = Open(path, O_PATH | (follow ? 0 : O_NOFOLLOW));
  if (!file) return Fail(file.error());
  struct stat status{};
  if (::fstat(file->Fd(), &status) == 0) return status;
  return Fail(ErrorCode::kInvalid, "cannot read {}: {}", Named(path), std::strerror(errno));
}

Result<std::vector<std::string>> FileRoot::List(const std::string& path) const {
  auto file = Open(path, O_RDONLY | O_DIRECTORY);
  if (!file) return Fail(file.error());
  DIR* folder = ::fdopendir(file->Fd());
  if (folder == nullptr)
    return Fail(ErrorCode::kInvalid, "cannot read {}: {}", Named(path), std::strerror(errno));
  file->Release();
  std::vector<std::string> names;
  while (const auto* entry = ::readdir(folder))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  ::closedir(folder);
  std::ranges::sort(names);
  return names;
}

}  // namespace muster::cli
