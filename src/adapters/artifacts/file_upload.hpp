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

// Writes PATH.part and, once it is whole, makes it PATH.
class FileUpload final : public ArtifactUpload {
 public:
  struct Target {
    std::string sha256;
    std::string path;
    std::uint64_t size = 0;
  };
  // Opens the part and hashes what is kept of it. kConflict when that is not `offset` bytes.
  static Result<std::unique_ptr<FileUpload>> Open(Target target, std::uint64_t offset,
                                                  std::unique_ptr<UploadMarks::Mark> mark);

  std::uint64_t Offset() const override { return offset_; }
  Result<> Append(std::string_view data) override;
  Result<> Finish() override;

 private:
  FileUpload(Target target, File file, std::unique_ptr<UploadMarks::Mark> mark);
  Result<> HashKept(std::uint64_t offset);
  std::string Part() const { return target_.path + ".part"; }

  const Target target_;
  const std::unique_ptr<UploadMarks::Mark> mark_;
  File file_;
  std::uint64_t offset_ = 0;
  std::uint64_t flushed_ = 0;  // the disk was told to write so far
  crypto::Sha256Stream hash_;
};

}  // namespace muster::artifacts
