#include "cli/files/target_folder.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

#include "adapters/files/beneath.hpp"
#include "adapters/files/temporary.hpp"
#include "domain/pulled_line.hpp"

namespace muster::cli {
namespace {

mode_t OwnUmask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

}  // namespace

Result<TargetFolder> TargetFolder::Make(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  files::Fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const int error = errno;
  std::error_code ignored;
  if (!opened && std::filesystem::is_regular_file(folder, ignored))
    return Fail(ErrorCode::kInvalid, "'{}' is a file; name a folder for the files", folder);
  if (!opened)
    return Fail(ErrorCode::kInvalid, "cannot write to the folder '{}': {}", folder,
                problem ? problem.message() : std::strerror(error));
  return TargetFolder(std::move(opened), folder, OwnUmask());
}

std::string TargetFolder::PathOf(const std::string& name) const {
  return (std::filesystem::path(name_) / name).string();
}

std::unexpected<Error> TargetFolder::Refuse(std::string_view verb, const std::string& name,
                                            int error) const {
  const std::string path = EscapePath(PathOf(name));
  if (error == ELOOP)
    return Fail(ErrorCode::kDenied,
                "cannot {} '{}': a symbolic link is in its place or on the way, and links below "
                "'{}' are not followed; remove the link, or choose another folder",
                verb, path, name_);
  return Fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalid, "cannot {} '{}': {}",
              verb, path, std::strerror(error));
}

Result<files::Fd> TargetFolder::Open(const std::string& name) const {
  // A pipe's writer is not waited for, a terminal not taken.
  files::Fd file = files::OpenBeneath(folder_.Get(), name, O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                      files::Links::kNone);
  struct stat status{};
  if (!file || ::fstat(file.Get(), &status) != 0) return Refuse("read", name, errno);
  if (!S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalid, "'{}' is not a file", EscapePath(PathOf(name)));
  return file;
}

Result<> TargetFolder::Put(const std::string& name, mode_t mode, std::size_t& room,
                           const std::function<Result<>(int)>& fill) const {
  const auto slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  const files::Fd folder = files::MakeBeneath(
      folder_.Get(), slash == std::string::npos ? "." : name.substr(0, slash), 0777, room);
  if (!folder && errno == EDQUOT && room == 0)
    return Fail(ErrorCode::kDenied, "cannot write '{}': too many folders", PathOf(name));
  if (!folder) return Refuse("write", name, errno);
  auto file = files::Temporary::Make(folder.Get(), last);
  if (!file) return Refuse("write", name, errno);
  if (auto filled = fill(file->Get()); !filled) return filled;
  if (::fchmod(file->Get(), Masked(mode)) != 0 || !file->Become(last))
    return Refuse("write", name, errno);
  return {};
}

}  // namespace muster::cli
