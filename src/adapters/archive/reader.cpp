#include "adapters/archive/reader.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <zstd.h>

#include "adapters/archive/descriptor.hpp"
#include "adapters/archive/tar.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::archive {
namespace {

constexpr std::uint64_t kMostManifest = 16 << 20;

// The archive's bytes, unpacked.
class Unpacker {
 public:
  explicit Unpacker(int file) : file_(file) {}

  // Hands the next `size` bytes to `take`, in pieces.
  Result<> Read(std::uint64_t size, const std::function<Result<>(std::string_view)>& take) {
    while (size > 0) {
      if (at_ == filled_)
        if (auto more = Fill(); !more) return more;
      const std::size_t piece = std::min<std::uint64_t>(size, filled_ - at_);
      if (auto taken = take({room_.data() + at_, piece}); !taken) return taken;
      at_ += piece;
      size -= piece;
    }
    return {};
  }

  // Whether the compressed stream ends here, as its writer ended it.
  Result<> ExpectEnd() {
    while (!ended_) {
      at_ = filled_ = 0;
      if (auto more = Fill(); !more) return more;
    }
    return {};
  }

 private:
  Result<> Fill() {
    at_ = filled_ = 0;
    while (filled_ == 0 && !ended_) {
      if (in_.pos == in_.size)
        if (auto more = ReadFile(); !more) return more;
      ZSTD_outBuffer out{room_.data(), room_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(zstd_.get(), &out, &in_);
      if (ZSTD_isError(left) != 0)
        return Fail(ErrorCode::kInvalid, "is damaged or not a Muster backup ({})",
                    ZSTD_getErrorName(left));
      filled_ = out.pos;
      ended_ = left == 0;
    }
    if (filled_ == 0) return Fail(ErrorCode::kInvalid, "is truncated");
    return {};
  }
  Result<> ReadFile() {
    ssize_t got = -1;
    do got = read(file_, packed_.data(), packed_.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) return Fail(ErrorCode::kUnavailable, "cannot be read: {}", std::strerror(errno));
    if (got == 0) return Fail(ErrorCode::kInvalid, "is truncated");
    in_ = {packed_.data(), static_cast<std::size_t>(got), 0};
    return {};
  }

  int file_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::vector<char> packed_ = std::vector<char>(ZSTD_DStreamInSize());
  std::vector<char> room_ = std::vector<char>(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  bool ended_ = false;
};

Result<> WriteAll(int file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return Fail(ErrorCode::kUnavailable, "cannot be unpacked: write {}: {}", path.string(),
                  std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<Part> ReadPart(Unpacker& unpacker, const TarEntry& entry,
                      const std::filesystem::path* folder) {
  Descriptor out;
  std::filesystem::path path;
  if (folder != nullptr) {
    path = *folder / entry.name;
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    out.number = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, entry.mode);
    if (out.number < 0)
      return Fail(ErrorCode::kUnavailable, "cannot be unpacked: {}: {}", path.string(),
                  std::strerror(errno));
    fchmod(out.number, entry.mode);
  }
  crypto::Sha256Stream hash;
  auto read = unpacker.Read(entry.size, [&](std::string_view bytes) -> Result<> {
    hash.Add(bytes);
    return out.number < 0 ? Result<>() : WriteAll(out.number, bytes, path);
  });
  if (!read) return Fail(read.error());
  if (out.number >= 0 && fsync(out.number) != 0)
    return Fail(ErrorCode::kUnavailable, "cannot be unpacked: sync {}: {}", path.string(),
                std::strerror(errno));
  return Part{.sha256 = ToHex(hash.Digest()), .size = entry.size, .mode = entry.mode};
}

Result<std::string> ReadText(Unpacker& unpacker, std::uint64_t size) {
  if (size > kMostManifest)
    return Fail(ErrorCode::kInvalid, "is damaged: its manifest is too long");
  std::string text;
  auto read = unpacker.Read(size, [&](std::string_view bytes) -> Result<> {
    text += bytes;
    return {};
  });
  if (!read) return Fail(read.error());
  return text;
}

Result<> Skip(Unpacker& unpacker, std::size_t size) {
  return unpacker.Read(size, [](std::string_view) -> Result<> { return {}; });
}

Result<TarBlock> ReadBlock(Unpacker& unpacker) {
  TarBlock block{};
  std::size_t at = 0;
  auto read = unpacker.Read(block.size(), [&](std::string_view bytes) -> Result<> {
    std::memcpy(block.data() + at, bytes.data(), bytes.size());
    at += bytes.size();
    return {};
  });
  if (!read) return Fail(read.error());
  return block;
}

}  // namespace

Result<Manifest> ReadArchive(const std::filesystem::path& file,
                             const std::filesystem::path* unpack_into) {
  const Descriptor in{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (in.number < 0) return Fail(ErrorCode::kNotFound, "cannot be read: {}", std::strerror(errno));
  return ReadArchive(in.number, unpack_into);
}

Result<Manifest> ReadArchive(int file, const std::filesystem::path* unpack_into) {
  if (lseek(file, 0, SEEK_SET) < 0)
    return Fail(ErrorCode::kUnavailable, "cannot be read: {}", std::strerror(errno));
  Unpacker unpacker(file);
  std::map<std::string, Part> found;
  while (true) {
    const auto block = ReadBlock(unpacker);
    if (!block) return Fail(block.error());
    if (IsTarEnd(*block)) return Fail(ErrorCode::kInvalid, "has no manifest");
    const auto entry = ParseTarHeader(*block);
    if (!entry) return Fail(entry.error());
    if (entry->name == kManifestName) {
      const auto text = ReadText(unpacker, entry->size);
      if (!text) return Fail(text.error());
      auto manifest = ParseManifest(*text);
      if (!manifest) return Fail(manifest.error());
      if (manifest->parts != found)
        return Fail(ErrorCode::kInvalid, "was changed: its files are not those of its manifest");
      if (auto ended = unpacker.ExpectEnd(); !ended) return Fail(ended.error());
      return manifest;
    }
    if (!IsSafeName(entry->name))
      return Fail(ErrorCode::kInvalid, "has a file with a name that leads outside");
    auto part = ReadPart(unpacker, *entry, unpack_into);
    if (!part) return Fail(part.error());
    found[entry->name] = std::move(*part);
    if (auto skipped = Skip(unpacker, TarPadding(entry->size)); !skipped)
      return Fail(skipped.error());
  }
}

}  // namespace muster::archive
