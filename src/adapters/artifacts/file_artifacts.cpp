#include "adapters/artifacts/file_artifacts.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "adapters/artifacts/check_hash.hpp"
#include "adapters/artifacts/file_upload.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster {
namespace {

using artifacts::CheckHash;
using artifacts::DiskError;
using artifacts::File;
using artifacts::kHashBytes;

constexpr const char* kPart = ".part";

WallTime TimeOf(const struct stat& status) {
  return WallTime{status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000};
}

class FileReader final : public ArtifactReader {
 public:
  FileReader(File file, std::uint64_t size, std::string path)
      : file_(std::move(file)), size_(size), path_(std::move(path)) {}

  std::uint64_t Size() const override { return size_; }
  Result<std::string> Read(std::uint64_t offset, std::size_t size) override {
    std::string data;
    if (offset >= size_) return data;
    data.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size, size_ - offset)));
    for (std::size_t have = 0; have < data.size();) {
      const ssize_t got = ::pread(file_.Get(), data.data() + have, data.size() - have,
                                  static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Fail(DiskError("read", path_, got < 0 ? errno : EIO));
      have += static_cast<std::size_t>(got);
    }
    return data;
  }

 private:
  const File file_;
  const std::uint64_t size_;
  const std::string path_;
};

// The names in a folder, sorted.
std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& item : std::filesystem::directory_iterator(folder, problem))
    names.push_back(item.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// Calls `visit` with each file two folders down, in the order of their names, those whose names are
// not before `from`; until it returns false.
template <typename Visit>
void ForEachFile(const std::filesystem::path& root, const std::string& from, Visit visit) {
  for (const auto& first : NamesIn(root)) {
    if (first < from.substr(0, 2)) continue;
    for (const auto& second : NamesIn(root / first)) {
      if (first + second < from.substr(0, 4)) continue;
      for (const auto& name : NamesIn(root / first / second))
        if (name >= from && !visit(root / first / second / name, name)) return;
    }
  }
}

}  // namespace

Result<std::unique_ptr<FileArtifacts>> FileArtifacts::Open(std::filesystem::path folder,
                                                           const Clock& clock, Limits limits) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return Fail(DiskError("create", folder.string(), problem.value()));
  return std::unique_ptr<FileArtifacts>(new FileArtifacts(std::move(folder), clock, limits));
}

std::string FileArtifacts::PathOf(const std::string& sha256) const {
  const std::string hex = ToHex(sha256);
  return (folder_ / hex.substr(0, 2) / hex.substr(2, 2) / hex).string();
}

void FileArtifacts::MarkUsed(const std::string& path) const {
  const auto now = clock_.Read().wall;
  const timespec when{.tv_sec = now.ms / 1000, .tv_nsec = now.ms % 1000 * 1'000'000};
  const timespec times[2] = {when, when};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

Result<std::optional<Artifact>> FileArtifacts::Find(const std::string& sha256) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  const std::string path = PathOf(sha256);
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return Fail(DiskError("look at", path, errno));
  }
  MarkUsed(path);
  return Artifact{sha256, static_cast<std::uint64_t>(status.st_size), clock_.Read().wall};
}

Result<std::unique_ptr<ArtifactReader>> FileArtifacts::Open(const std::string& sha256) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  const std::string path = PathOf(sha256);
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT)
    return Fail(ErrorCode::kNotFound, "there is no artifact {}", ToHex(sha256));
  struct stat status{};
  if (!file || ::fstat(file.Get(), &status) != 0) return Fail(DiskError("open", path, errno));
  MarkUsed(path);
  return std::make_unique<FileReader>(std::move(file), static_cast<std::uint64_t>(status.st_size),
                                      path);
}

// A name of any length and kind becomes part of a file's.
std::string FileArtifacts::PartOf(const std::string& sha256, const std::string& uploader) const {
  constexpr std::size_t kDigits = 32;
  const std::string by = ToHex(crypto::Sha256(uploader)).substr(0, kDigits);
  return fmt::format("{}.{}{}", PathOf(sha256), by, kPart);
}

Result<std::uint64_t> FileArtifacts::Uploaded(const std::string& sha256,
                                              const std::string& uploader) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  const std::string part = PartOf(sha256, uploader);
  struct stat status{};
  if (::stat(part.c_str(), &status) == 0) return static_cast<std::uint64_t>(status.st_size);
  if (errno == ENOENT) return 0;
  return Fail(DiskError("look at", part, errno));
}

Result<> FileArtifacts::CheckRoom(std::uint64_t bytes) const {
  struct statvfs disk{};
  if (::statvfs(folder_.c_str(), &disk) != 0)
    return Fail(DiskError("look at", folder_.string(), errno));
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (bytes <= free && free - bytes >= limits_.keep_free) return {};
  return Fail(ErrorCode::kUnavailable,
              "artifacts: {} more do not fit: {} are free on the disk of {}, of which {} are kept "
              "for the records; make room on the server's disk",
              FormatSize(bytes), FormatSize(free), folder_.string(), FormatSize(limits_.keep_free));
}

Result<std::unique_ptr<ArtifactUpload>> FileArtifacts::Begin(const std::string& sha256,
                                                             const std::string& uploader,
                                                             std::uint64_t size,
                                                             std::uint64_t offset) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  if (size > limits_.max_size)
    return Fail(ErrorCode::kInvalid, "artifacts have at most {}", FormatSize(limits_.max_size));
  const std::string part = PartOf(sha256, uploader);
  auto mark = marks_->Take(part);
  if (!mark)
    return Fail(ErrorCode::kConflict, "artifact {} is being uploaded already by the same caller",
                ToHex(sha256));
  if (offset > size)
    return Fail(ErrorCode::kInvalid, "an upload of {} bytes cannot go on at {}", size, offset);
  if (auto fits = CheckRoom(size - offset); !fits) return Fail(fits.error());
  return artifacts::FileUpload::Open({sha256, PathOf(sha256), part, size}, offset, std::move(mark));
}

Result<std::vector<Artifact>> FileArtifacts::List(const std::string& after, std::size_t limit) {
  std::vector<Artifact> found;
  const std::string last = ToHex(after);
  ForEachFile(folder_, last, [&](const std::filesystem::path& path, const std::string& name) {
    const auto sha256 = FromHex(name);
    struct stat status{};
    if (name == last || !sha256 || sha256->size() != kHashBytes) return true;
    if (::stat(path.c_str(), &status) == 0)
      found.push_back({*sha256, static_cast<std::uint64_t>(status.st_size), TimeOf(status)});
    return found.size() < limit;
  });
  return found;
}

Result<> FileArtifacts::Remove(const std::string& sha256) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  const std::string path = PathOf(sha256);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return Fail(DiskError("remove", path, errno));
}

Result<> FileArtifacts::DropUploads(WallTime moment) {
  Result<> outcome;
  ForEachFile(folder_, "", [&](const std::filesystem::path& path, const std::string& name) {
    struct stat status{};
    if (!name.ends_with(kPart) || ::stat(path.c_str(), &status) != 0) return true;
    if (TimeOf(status) >= moment) return true;
    const auto mark = marks_->Take(path.string());
    if (!mark) return true;
    if (::unlink(path.c_str()) != 0) outcome = Fail(DiskError("remove", path.string(), errno));
    return true;
  });
  return outcome;
}

}  // namespace muster
