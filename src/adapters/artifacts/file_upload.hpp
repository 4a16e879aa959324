#pragma once

#include <memory>
#include <string>

#include "adapters/artifacts/upload_marks.hpp"
#include "adapters/crypto/digest.hpp"
#include "ports/artifacts.hpp"

namespace muster::artifacts {

// Owns a descriptor.
class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File();
  int Get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// kUnavailable; a full disk says so.
Error DiskError(std::string_view verb, const std::string& path, int error);

// Writes a part and, once it is whole, gives it its name.
class FileUpload final : public ArtifactUpload {
 public:
  struct Target {
    std::string sha256;
    std::string path;
    std::string part;  // in the same folder
    std::uint64_t size = 0;
  };
  // Opens the part, which must have `offset` bytes (kConflict otherwise). It costs the same for any
  // offset: a host may resume as often as it likes. The bytes of earlier parts are hashed once, in
  // Finish, so an uploader causes no more hashing than it sends.
  static Result<std::unique_ptr<FileUpload>> Open(Target target, std::uint64_t offset,
                                                  std::unique_ptr<UploadMarks::Mark> mark);

  std::uint64_t Offset() const override { return offset_; }
  Result<> Append(std::string_view data) override;
  Result<> Finish() override;

 private:
  FileUpload(Target target, File file, std::unique_ptr<UploadMarks::Mark> mark);
  Result<> ResumeAt(std::uint64_t offset);
  Result<std::string> Hash();
  const std::string& Part() const { return target_.part; }

  const Target target_;
  const std::unique_ptr<UploadMarks::Mark> mark_;
  File file_;
  std::uint64_t offset_ = 0;
  std::uint64_t flushed_ = 0;  // the disk was told to write so far
  bool resumed_ = false;
  crypto::Sha256Stream hash_;  // of all bytes, unless it was resumed
};

}  // namespace muster::artifacts
