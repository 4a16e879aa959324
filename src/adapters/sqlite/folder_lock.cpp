#include "adapters/sqlite/folder_lock.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.hpp"

namespace muster::sqlite {

Result<FolderLock> FolderLock::Take(const std::filesystem::path& folder) {
  const auto path = folder / "lock";
  FolderLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.file_ < 0)
    return Fail(ErrorCode::kUnavailable, "open {}: {}", path.string(), std::strerror(errno));
  if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> holder{};
    const ssize_t size = pread(lock.file_, holder.data(), holder.size(), 0);
    const auto pid = Trim({holder.data(), size > 0 ? static_cast<std::size_t>(size) : 0});
    return Fail(ErrorCode::kConflict, "another musterd (pid {}) uses {}",
                pid.empty() ? "unknown" : pid, folder.string());
  }
  // Who holds the lock is only a hint for people, so a full disk may lose it.
  const std::string pid = fmt::format("{}\n", getpid());
  [[maybe_unused]] const bool told =
      ftruncate(lock.file_, 0) == 0 && pwrite(lock.file_, pid.data(), pid.size(), 0) > 0;
  return lock;
}

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace muster::sqlite
