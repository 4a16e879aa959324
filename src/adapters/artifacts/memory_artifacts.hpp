#pragma once

#include <map>

#include "adapters/artifacts/upload_marks.hpp"
#include "ports/artifacts.hpp"
#include "ports/clock.hpp"

namespace muster {

// Artifacts in memory, for tests.
class MemoryArtifacts final : public ArtifactStore {
 public:
  // `clock` outlives the store. `capacity` is its pretended disk.
  explicit MemoryArtifacts(const Clock& clock, std::uint64_t capacity = 1ULL << 30,
                           std::uint64_t max_size = 1ULL << 30)
      : shared_(std::make_shared<Shared>(capacity)), clock_(clock), max_size_(max_size) {}

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
  class Upload;
  struct Kept {
    std::shared_ptr<const std::string> content;  // shared with readers, who may outlast a Remove
    WallTime used;
  };
  struct Part {
    std::string content;
    WallTime used;
  };
  // What uploads share with their store, as either may go first.
  struct Shared {
    explicit Shared(std::uint64_t room) : capacity(room) {}
    std::uint64_t Bytes() const REQUIRES(mutex);

    const std::uint64_t capacity;
    base::Mutex mutex;
    std::map<std::string, Kept> kept GUARDED_BY(mutex);
    std::map<std::string, Part> parts GUARDED_BY(mutex);  // by hash and uploader
  };

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<artifacts::UploadMarks> marks_ = std::make_shared<artifacts::UploadMarks>();
  const Clock& clock_;
  const std::uint64_t max_size_;
};

}  // namespace muster
