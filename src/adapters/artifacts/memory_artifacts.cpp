#include "adapters/artifacts/memory_artifacts.hpp"

#include "adapters/artifacts/check_hash.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster {
namespace {

using artifacts::CheckHash;

class Reader final : public ArtifactReader {
 public:
  explicit Reader(std::shared_ptr<const std::string> content) : content_(std::move(content)) {}
  std::uint64_t Size() const override { return content_->size(); }
  Result<std::string> Read(std::uint64_t offset, std::size_t size) override {
    if (offset >= content_->size()) return std::string();
    return content_->substr(static_cast<std::size_t>(offset), size);
  }

 private:
  const std::shared_ptr<const std::string> content_;
};

}  // namespace

std::uint64_t MemoryArtifacts::Shared::Bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [hash, item] : kept) bytes += item.content->size();
  for (const auto& [hash, part] : parts) bytes += part.content.size();
  return bytes;
}

class MemoryArtifacts::Upload final : public ArtifactUpload {
 public:
  Upload(std::shared_ptr<Shared> shared, std::unique_ptr<artifacts::UploadMarks::Mark> mark,
         std::string sha256, std::string part, std::uint64_t size, const Clock& clock)
      : shared_(std::move(shared)),
        mark_(std::move(mark)),
        sha256_(std::move(sha256)),
        part_(std::move(part)),
        size_(size),
        clock_(clock) {}

  std::uint64_t Offset() const override {
    base::Lock lock(shared_->mutex);
    const auto found = shared_->parts.find(part_);
    return found == shared_->parts.end() ? 0 : found->second.content.size();
  }
  Result<> Append(std::string_view data) override {
    base::Lock lock(shared_->mutex);
    Part& part = shared_->parts[part_];
    if (part.content.size() + data.size() > size_)
      return Fail(ErrorCode::kInvalid, "more than the {} bytes it was said to have", size_);
    if (shared_->Bytes() + data.size() > shared_->capacity) {
      shared_->parts.erase(part_);
      return Fail(ErrorCode::kUnavailable, "the disk is full");
    }
    part.content += data;
    part.used = clock_.Read().wall;
    return {};
  }
  Result<> Finish() override {
    base::Lock lock(shared_->mutex);
    Part& part = shared_->parts[part_];
    if (part.content.size() < size_)
      return Fail(ErrorCode::kInvalid, "{} of {} bytes are there", part.content.size(), size_);
    const bool equal = crypto::Sha256(part.content) == sha256_;
    if (equal)
      shared_->kept[sha256_] = {std::make_shared<const std::string>(std::move(part.content)),
                                clock_.Read().wall};
    shared_->parts.erase(part_);
    if (!equal) return Fail(ErrorCode::kInvalid, "the content has another SHA-256");
    return {};
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<artifacts::UploadMarks::Mark> mark_;
  const std::string sha256_;
  const std::string part_;
  const std::uint64_t size_;
  const Clock& clock_;
};

Result<std::optional<Artifact>> MemoryArtifacts::Find(const std::string& sha256) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  base::Lock lock(shared_->mutex);
  const auto found = shared_->kept.find(sha256);
  if (found == shared_->kept.end()) return std::nullopt;
  found->second.used = clock_.Read().wall;
  return Artifact{sha256, found->second.content->size(), found->second.used};
}

Result<std::unique_ptr<ArtifactReader>> MemoryArtifacts::Open(const std::string& sha256) {
  const auto found = Find(sha256);
  if (!found) return Fail(found.error());
  if (!*found) return Fail(ErrorCode::kNotFound, "there is no artifact {}", ToHex(sha256));
  base::Lock lock(shared_->mutex);
  return std::make_unique<Reader>(shared_->kept[sha256].content);
}

Result<std::uint64_t> MemoryArtifacts::Uploaded(const std::string& sha256,
                                                const std::string& uploader) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  base::Lock lock(shared_->mutex);
  const auto found = shared_->parts.find(sha256 + uploader);
  return found == shared_->parts.end() ? 0 : found->second.content.size();
}

Result<std::unique_ptr<ArtifactUpload>> MemoryArtifacts::Begin(const std::string& sha256,
                                                               const std::string& uploader,
                                                               std::uint64_t size,
                                                               std::uint64_t offset) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  if (size > max_size_) return Fail(ErrorCode::kInvalid, "artifacts have at most {}", max_size_);
  const std::string name = sha256 + uploader;
  auto mark = marks_->Take(name);
  if (!mark) return Fail(ErrorCode::kConflict, "it is being uploaded already");
  if (offset > size) return Fail(ErrorCode::kInvalid, "an upload cannot go on at {}", offset);
  base::Lock lock(shared_->mutex);
  if (offset == 0) shared_->parts.erase(name);
  const auto part = shared_->parts.find(name);
  const std::uint64_t have = part == shared_->parts.end() ? 0 : part->second.content.size();
  if (have != offset) return Fail(ErrorCode::kConflict, "the upload stands at {}", have);
  if (shared_->Bytes() + size - offset > shared_->capacity)
    return Fail(ErrorCode::kUnavailable, "it does not fit the disk");
  return std::make_unique<Upload>(shared_, std::move(mark), sha256, name, size, clock_);
}

Result<std::vector<Artifact>> MemoryArtifacts::List(const std::string& after, std::size_t limit) {
  base::Lock lock(shared_->mutex);
  std::vector<Artifact> found;
  for (auto at = shared_->kept.upper_bound(after); at != shared_->kept.end(); ++at) {
    if (found.size() == limit) break;
    found.push_back({at->first, at->second.content->size(), at->second.used});
  }
  return found;
}

Result<> MemoryArtifacts::Remove(const std::string& sha256) {
  if (auto ok = CheckHash(sha256); !ok) return Fail(ok.error());
  base::Lock lock(shared_->mutex);
  shared_->kept.erase(sha256);
  return {};
}

Result<> MemoryArtifacts::DropUploads(WallTime moment) {
  base::Lock lock(shared_->mutex);
  std::erase_if(shared_->parts, [&](const auto& item) {
    return item.second.used < moment && !marks_->Held(item.first);
  });
  return {};
}

}  // namespace muster
