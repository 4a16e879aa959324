#include "server/certificates/key_set.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "adapters/files/durable.hpp"
#include "adapters/files/fd.hpp"

namespace muster::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnfinishedKeys = ".keys.new";
constexpr const char* kWholeKeys = ".keys";

std::unexpected<Error> CannotDo(const char* what, const fs::path& path, int error) {
  return Fail(ErrorCode::kUnavailable, "cannot {} {}: {}", what, path.string(),
              std::strerror(error));
}

// Whose it is was looked at before; it may be a link.
files::Fd OpenDataFolder(const fs::path& data) {
  return files::Fd(::open(data.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Result<> RemoveUnfinished(const fs::path& data) {
  std::error_code problem;
  fs::remove_all(data / kUnfinishedKeys, problem);
  if (problem) return CannotDo("remove", data / kUnfinishedKeys, problem.value());
  return {};
}

Result<std::vector<std::string>> FilesIn(const fs::path& folder) {
  std::error_code problem;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, problem))
    names.push_back(entry.path().filename().string());
  if (problem) return CannotDo("read", folder, problem.value());
  return names;
}

Result<> MoveWhole(const fs::path& data) {
  const fs::path whole = data / kWholeKeys;
  const files::Fd to = OpenDataFolder(data);
  if (!to && errno == ENOENT) return {};
  if (!to) return CannotDo("open", data, errno);
  const files::Fd from(
      ::openat(to.Get(), kWholeKeys, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!from && errno == ENOENT) return {};
  if (!from) return CannotDo("open", whole, errno);
  const auto names = FilesIn(whole);
  if (!names) return Fail(names.error());
  for (const auto& name : *names)
    if (::renameat(from.Get(), name.c_str(), to.Get(), name.c_str()) != 0)
      return CannotDo("move", whole / name, errno);
  if (::fsync(to.Get()) != 0 || ::fsync(from.Get()) != 0) return CannotDo("sync", data, errno);
  if (::unlinkat(to.Get(), kWholeKeys, AT_REMOVEDIR) != 0 || ::fsync(to.Get()) != 0)
    return CannotDo("remove", whole, errno);
  return {};
}

}  // namespace

Result<fs::path> BeginKeySet(const fs::path& data) {
  if (auto removed = RemoveUnfinished(data); !removed) return Fail(removed.error());
  fs::path folder = data / kUnfinishedKeys;
  if (::mkdir(folder.c_str(), 0700) != 0) return CannotDo("make", folder, errno);
  return folder;
}

Result<> PutKeySet(const fs::path& data) {
  const files::Fd folder = OpenDataFolder(data);
  if (!folder) return CannotDo("open", data, errno);
  if (const int error = files::RenameSynced(folder.Get(), kUnfinishedKeys, kWholeKeys))
    return CannotDo("rename", data / kUnfinishedKeys, error);
  return MoveWhole(data);
}

Result<> FinishKeySet(const fs::path& data) {
  if (auto moved = MoveWhole(data); !moved) return moved;
  return RemoveUnfinished(data);
}

}  // namespace muster::server
