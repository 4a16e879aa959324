#pragma once

#include <filesystem>

#include "adapters/artifacts/upload_marks.hpp"
#include "ports/artifacts.hpp"
#include "ports/clock.hpp"

namespace muster {

// Artifacts as files: FOLDER/ab/cd/abcd…  (the hash in hex). An upload is the same with
// ".UPLOADER.part", where UPLOADER is a digest of its name, until its hash was checked; then it is
// synced and renamed. `used` is the file's time. One process
// at a time; whoever looks while it runs sees whole files only.
class FileArtifacts final : public ArtifactStore {
 public:
  struct Limits {
    std::uint64_t max_size = 64ULL << 30;    // of one
    std::uint64_t keep_free = 256ULL << 20;  // bytes an upload must leave on the disk
  };

  // Makes the folder when it is missing. `clock` outlives the store.
  static Result<std::unique_ptr<FileArtifacts>> Open(std::filesystem::path folder,
                                                     const Clock& clock, Limits limits);

  Result<std::optional<Artifact>> Find(const std::string& sha256) override;
  Result<std::unique_ptr<ArtifactReader>> Open(const std::string& sha256) override;
  Result<std::uint64_t> Uploaded(const std::string& sha256, const std::string& uploader) override;
  Result<std::unique_ptr<ArtifactUpload>> Begin(const std::string& sha256,
                                                const std::string& uploader, std::uint64_t size,
                                                std::uint64_t offset) override;
  Result<std::vector<Artifact>> List(const std::string& after, std::size_t limit) override;
  Result<> Remove(const std::string& sha256) override;
  Result<> DropUploads(WallTime moment) override;

 private:
  FileArtifacts(std::filesystem::path folder, const Clock& clock, Limits limits)
      : folder_(std::move(folder)), clock_(clock), limits_(limits) {}

  std::string PathOf(const std::string& sha256) const;
  std::string PartOf(const std::string& sha256, const std::string& uploader) const;
  void MarkUsed(const std::string& path) const;
  Result<> CheckRoom(std::uint64_t bytes) const;

  const std::filesystem::path folder_;
  const Clock& clock_;
  const Limits limits_;
  const std::shared_ptr<artifacts::UploadMarks> marks_ = std::make_shared<artifacts::UploadMarks>();
};

}  // namespace muster
