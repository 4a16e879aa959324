#include "agent/transfer/part_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
constexpr auto kOld = std::chrono::hours(7 * 24);

Result<> AddKept(int fd, std::uint64_t size, crypto::Sha256Stream& hash, const std::string& path) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
  for (std::uint64_t at = 0; at < size;) {
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(size - at, kReadBytes));
    const ssize_t got = ::pread(fd, buffer.get(), room, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Fail(ErrorCode::kUnavailable, "read {}: {}", EscapePath(path), ErrnoText(errno));
    if (got == 0) return Fail(ErrorCode::kInvalid, "{} became shorter", EscapePath(path));
    hash.Add({buffer.get(), static_cast<std::size_t>(got)});
    at += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

Error WriteError(std::string_view verb, const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT)
    return {ErrorCode::kUnavailable,
            fmt::format("{} {}: the disk is full", verb, EscapePath(path))};
  return {ErrorCode::kUnavailable,
          fmt::format("{} {}: {}", verb, EscapePath(path), ErrnoText(error))};
}

Result<std::string> HashOf(int fd, std::uint64_t size, const std::string& path) {
  crypto::Sha256Stream hash;
  if (auto added = AddKept(fd, size, hash, path); !added) return Fail(added.error());
  return hash.Digest();
}

Result<PartFile> PartFile::Open(const std::string& data, const std::string& sha256) {
  const std::string path = fmt::format("{}/files/{}.part", data, ToHex(sha256));
  if (auto made = MakeFolders(data + "/files", 0700); !made) return Fail(made.error());
  for (;;) {
    auto file = OpenFile(path, O_RDWR | O_CREAT, 0600);
    if (!file) return Fail(file.error());
    if (::flock(file->Get(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      return Fail(ErrorCode::kUnavailable, "lock {}: {}", path, ErrnoText(errno));
    }
    // Whoever had it before may have moved it away, to where it belongs.
    struct stat mine{};
    struct stat there{};
    if (::fstat(file->Get(), &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
      return PartFile(std::move(*file), path);
  }
}

Result<PartFile> PartFile::Fetch(const std::string& data, const std::string& sha256,
                                 std::uint64_t size, Courier& courier) {
  auto part = Open(data, sha256);
  if (!part) return part;
  const int fd = part->Get();
  struct stat status{};
  if (::fstat(fd, &status) != 0) return Fail(WriteError("look at", part->path_, errno));
  auto have = static_cast<std::uint64_t>(status.st_size);
  if (have > size) have = 0;
  crypto::Sha256Stream hash;
  if (::ftruncate(fd, static_cast<off_t>(have)) != 0)
    return Fail(WriteError("write", part->path_, errno));
  if (auto kept = AddKept(fd, have, hash, part->path_); !kept) return Fail(kept.error());
  if (::lseek(fd, 0, SEEK_END) < 0) return Fail(WriteError("write", part->path_, errno));
  const auto fetched = courier.Fetch(sha256, size, have, [&](std::string_view piece) -> Result<> {
    hash.Add(piece);
    if (const int error = WriteAll(fd, piece)) return Fail(WriteError("write", part->path_, error));
    return {};
  });
  if (!fetched) {
    // Room is given back to a full disk: it is needed there.
    if (fetched.error().code == ErrorCode::kUnavailable) part->Remove();
    return Fail(fetched.error());
  }
  if (hash.Digest() == sha256) return part;
  part->Remove();
  return Fail(ErrorCode::kInvalid,
              "what came has another SHA-256 than {}; it was discarded, try again", ToHex(sha256));
}

void PartFile::Remove() const { ::unlink(path_.c_str()); }

void TidyParts(const std::string& data) {
  std::error_code problem;
  const auto old = std::filesystem::file_time_type::clock::now() - kOld;
  for (const auto& item : std::filesystem::directory_iterator(data + "/files", problem)) {
    std::error_code ignored;
    if (item.last_write_time(ignored) < old && !ignored)
      std::filesystem::remove(item.path(), ignored);
  }
}

}  // namespace muster::agent
