#include "cli/documents/file_root.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "adapters/files/beneath.hpp"
#include "adapters/files/trusted_links.hpp"
#include "base/text.hpp"

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

FileRoot FileRoot::Anywhere() { return {Kind::kAnywhere, nullptr, ""}; }

FileRoot FileRoot::Nowhere() { return {Kind::kNowhere, nullptr, ""}; }

Result<FileRoot> FileRoot::Within(const std::string& folder, const FileRules& rules) {
  auto root = In(Kind::kWithin, folder);
  if (!root) return root;
  root->dot_files_ = rules.dot_files;
  for (const auto& path : rules.credentials) {
    struct stat status{};
    if (!path.empty() && ::stat(path.c_str(), &status) == 0)
      root->credentials_.push_back({status.st_dev, status.st_ino});
  }
  return root;
}

Result<FileRoot> FileRoot::Sent(const std::string& folder) { return In(Kind::kSent, folder); }

Result<FileRoot> FileRoot::In(Kind kind, const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return Fail(ErrorCode::kNotFound, "cannot open the folder '{}': {}", folder,
                std::strerror(errno));
  return FileRoot(kind, std::make_shared<const files::Fd>(fd), folder);
}

std::string FileRoot::Distrusted(const std::string& path, uid_t owner) {
  return fmt::format("{} is a link of another user (uid {}) to what is not that user's", path,
                     owner);
}

std::string FileRoot::Named(const std::string& path) const {
  return kind_ == Kind::kWithin ? fmt::format("'{}' in '{}'", path, name_)
                                : fmt::format("'{}'", path);
}

Result<files::Fd> FileRoot::Open(const std::string& path, int flags) const {
  // A pipe's writer is not waited for, a terminal not taken. O_PATH opens neither.
  flags |= O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY);
  switch (kind_) {
    case Kind::kNowhere:
      return Fail(ErrorCode::kDenied,
                  "'{}': documents from stdin may use no files; name their folder with --root DIR",
                  path);
    case Kind::kSent:
      return OpenSent(path, flags);
    case Kind::kWithin:
      return OpenWithin(path, flags);
    case Kind::kAnywhere:
      break;
  }
  if (files::Fd fd(::open(path.c_str(), flags)); fd) return fd;
  const int error = errno;
  return Fail(CodeOfErrno(error), "cannot read {}: {}", Named(path), std::strerror(error));
}

bool FileRoot::IsCredential(const files::Fd& file) const {
  struct stat status{};
  return ::fstat(file.Get(), &status) == 0 &&
         std::ranges::any_of(credentials_, [&](const FileId& id) {
           return id.device == status.st_dev && id.number == status.st_ino;
         });
}

Result<files::Fd> FileRoot::OpenWithin(const std::string& path, int flags) const {
  files::Fd fd = dot_files_ ? files::OpenBeneath(folder_->Get(), path, flags)
                            : files::OpenWithoutDots(folder_->Get(), path, flags);
  const int error = fd ? 0 : errno;
  if (error == EXDEV)
    return Fail(ErrorCode::kDenied,
                "'{}' leads out of '{}', and a document may use only files inside it; move the "
                "file there, or allow a wider folder with --root DIR",
                path, name_);
  if (error == EPERM && !dot_files_)
    return Fail(ErrorCode::kDenied,
                "{} is, or leads to, a file or folder whose name begins with a dot, and such ones "
                "often hold credentials; --dot-files lets documents use them",
                Named(path));
  if (error != 0)
    return Fail(CodeOfErrno(error), "cannot read {}: {}", Named(path), std::strerror(error));
  // A look at what a name is reads nothing: others may list the folder that it is in.
  if ((flags & O_NOFOLLOW) == 0 && IsCredential(fd))
    return Fail(ErrorCode::kDenied, "{} has your own token, which no document may use",
                Named(path));
  return fd;
}

Result<files::Fd> FileRoot::OpenSent(const std::string& path, int flags) const {
  // As the kernel's limit, which a walk part by part would not meet.
  if (path.size() >= PATH_MAX)
    return Fail(ErrorCode::kInvalid, "cannot read {}: {}", Named(path),
                std::strerror(ENAMETOOLONG));
  auto opened = files::OpenTrusted(folder_->Get(), path.substr(name_.size()), flags, ::geteuid());
  if (opened.file) return std::move(opened.file);
  if (opened.distrusted)
    return Fail(ErrorCode::kDenied, "{}", Distrusted(path, *opened.distrusted));
  return Fail(CodeOfErrno(opened.error), "cannot read {}: {}", Named(path),
              std::strerror(opened.error));
}

Result<files::Fd> FileRoot::OpenFile(const std::string& path) const {
  auto file = Open(path, O_RDONLY);
  if (!file) return file;
  struct stat status{};
  if (::fstat(file->Get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalid, "{} is {}, not a file", Named(path), WordFor(status.st_mode));
  return file;
}

Result<std::string> FileRoot::Read(const std::string& path, std::size_t most) const {
  const auto file = OpenFile(path);
  if (!file) return Fail(file.error());
  std::string text;
  char part[64 << 10];
  while (true) {
    const auto got = ::read(file->Get(), part, sizeof part);
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
  if (::fstat(file->Get(), &status) == 0) return status;
  return Fail(ErrorCode::kInvalid, "cannot read {}: {}", Named(path), std::strerror(errno));
}

Result<std::vector<std::string>> FileRoot::List(const std::string& path) const {
  auto file = Open(path, O_RDONLY | O_DIRECTORY);
  if (!file) return Fail(file.error());
  DIR* folder = ::fdopendir(file->Get());
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
