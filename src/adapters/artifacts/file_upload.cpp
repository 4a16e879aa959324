#include "adapters/artifacts/file_upload.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"

namespace muster::artifacts {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
constexpr std::uint64_t kFlushBytes = 32 << 20;

Result<> SyncFolder(const std::string& path) {
  const File folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.Get()) != 0) return Fail(DiskError("sync", path, errno));
  return {};
}

// The file and the way to it: two folders may be new.
Result<> SyncWay(const std::string& path) {
  auto folder = std::filesystem::path(path).parent_path();
  for (int level = 0; level < 3; ++level, folder = folder.parent_path())
    if (auto synced = SyncFolder(folder.string()); !synced) return synced;
  return {};
}

}  // namespace

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

Error DiskError(std::string_view verb, const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT)
    return {ErrorCode::kUnavailable,
            fmt::format("artifacts: {} {}: the disk is full; make room on the server's disk or "
                        "remove old runs, then try again",
                        verb, path)};
  return {ErrorCode::kUnavailable,
          fmt::format("artifacts: {} {}: {}", verb, path, std::strerror(error))};
}

FileUpload::FileUpload(Target target, File file, std::unique_ptr<UploadMarks::Mark> mark)
    : target_(std::move(target)), mark_(std::move(mark)), file_(std::move(file)) {}

Result<std::unique_ptr<FileUpload>> FileUpload::Open(Target target, std::uint64_t offset,
                                                     std::unique_ptr<UploadMarks::Mark> mark) {
  const std::string part = target.part;
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(part).parent_path(), problem);
  if (problem) return Fail(DiskError("create folder for", part, problem.value()));
  const int fresh = offset == 0 ? O_TRUNC : 0;
  File file(::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | fresh, 0600));
  if (!file) return Fail(DiskError("open", part, errno));
  std::unique_ptr<FileUpload> upload(
      new FileUpload(std::move(target), std::move(file), std::move(mark)));
  if (auto resumed = upload->ResumeAt(offset); !resumed) return Fail(resumed.error());
  return upload;
}

Result<> FileUpload::ResumeAt(std::uint64_t offset) {
  struct stat status{};
  if (::fstat(file_.Get(), &status) != 0) return Fail(DiskError("look at", Part(), errno));
  if (static_cast<std::uint64_t>(status.st_size) != offset)
    return Fail(ErrorCode::kConflict, "the upload stands at {} bytes, not at {}", status.st_size,
                offset);
  offset_ = offset;
  flushed_ = offset;
  resumed_ = offset > 0;
  return {};
}

Result<std::string> FileUpload::Hash() {
  if (!resumed_) return hash_.Digest();
  crypto::Sha256Stream hash;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
  for (std::uint64_t at = 0; at < offset_;) {
    const ssize_t got = ::pread(file_.Get(), buffer.get(), kReadBytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Fail(DiskError("read", Part(), got < 0 ? errno : EIO));
    hash.Add({buffer.get(), static_cast<std::size_t>(got)});
    at += static_cast<std::uint64_t>(got);
  }
  return hash.Digest();
}

Result<> FileUpload::Append(std::string_view data) {
  if (data.size() > target_.size - offset_)
    return Fail(ErrorCode::kInvalid, "artifact {}: more than the {} bytes it was said to have",
                ToHex(target_.sha256), target_.size);
  if (!resumed_) hash_.Add(data);
  while (!data.empty()) {
    const ssize_t wrote =
        ::pwrite(file_.Get(), data.data(), data.size(), static_cast<off_t>(offset_));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int error = wrote < 0 ? errno : EIO;
      // The records are on the same disk: they need the room more than an upload that may come
      // again.
      if (error == ENOSPC || error == EDQUOT) ::unlink(Part().c_str());
      return Fail(DiskError("write", Part(), error));
    }
    data.remove_prefix(static_cast<std::size_t>(wrote));
    offset_ += static_cast<std::uint64_t>(wrote);
  }
  // Begun now, so that Finish has little left to wait for.
  if (offset_ - flushed_ >= kFlushBytes) {
    ::sync_file_range(file_.Get(), static_cast<off_t>(flushed_),
                      static_cast<off_t>(offset_ - flushed_), SYNC_FILE_RANGE_WRITE);
    flushed_ = offset_;
  }
  return {};
}

Result<> FileUpload::Finish() {
  if (offset_ < target_.size)
    return Fail(ErrorCode::kInvalid, "artifact {}: {} of {} bytes are there", ToHex(target_.sha256),
                offset_, target_.size);
  const auto found = Hash();
  if (!found) return Fail(found.error());
  if (*found != target_.sha256) {
    ::unlink(Part().c_str());
    return Fail(ErrorCode::kInvalid,
                "the content has the SHA-256 {}, not {}; it was discarded, send it again from the "
                "beginning",
                ToHex(*found), ToHex(target_.sha256));
  }
  // Renamed only when it is on disk: a name that is there stands for the whole content. Another
  // uploader's may be there already, with the same content.
  if (::fsync(file_.Get()) != 0) return Fail(DiskError("sync", Part(), errno));
  if (::rename(Part().c_str(), target_.path.c_str()) != 0)
    return Fail(DiskError("rename", Part(), errno));
  return SyncWay(target_.path);
}

}  // namespace muster::artifacts
