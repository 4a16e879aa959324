#include "adapters/archive/writer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
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

constexpr std::size_t kReadSize = 1 << 20;

}  // namespace

struct Writer::Impl {
  std::filesystem::path file;
  std::filesystem::path unfinished;
  Descriptor out;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::vector<char> packed = std::vector<char>(ZSTD_CStreamOutSize());
  Manifest manifest;

  ~Impl() {
    if (!unfinished.empty()) unlink(unfinished.c_str());
  }

  std::unexpected<Error> Trouble() const {
    return Fail(ErrorCode::kUnavailable, "write {}: {}", unfinished.string(), std::strerror(errno));
  }

  Result<> WriteOut(std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const ssize_t written = write(out.number, packed.data() + at, size - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return Trouble();
      at += static_cast<std::size_t>(written);
    }
    return {};
  }

  Result<> Pack(std::string_view bytes, bool end = false) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer room{packed.data(), packed.size(), 0};
      const std::size_t left =
          ZSTD_compressStream2(zstd.get(), &room, &in, end ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0)
        return Fail(ErrorCode::kInternal, "compress: {}", ZSTD_getErrorName(left));
      if (auto written = WriteOut(room.pos); !written) return written;
      if (end ? left == 0 : in.pos == in.size) return {};
    }
  }

  Result<> PackHeader(const TarEntry& entry) {
    const auto header = FormatTarHeader(entry);
    if (!header) return Fail(header.error());
    return Pack({header->data(), header->size()});
  }
  Result<> PackPadding(std::uint64_t size) { return Pack(std::string(TarPadding(size), '\0')); }
};

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&& other) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::Create(const std::filesystem::path& file) {
  auto impl = std::make_unique<Impl>();
  impl->file = file;
  const std::string name = file.string() + ".new";
  unlink(name.c_str());
  impl->out.number = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (impl->out.number < 0)
    return Fail(ErrorCode::kUnavailable, "write {}: {}", name, std::strerror(errno));
  impl->unfinished = name;
  ZSTD_CCtx_setParameter(impl->zstd.get(), ZSTD_c_compressionLevel, 3);
  ZSTD_CCtx_setParameter(impl->zstd.get(), ZSTD_c_checksumFlag, 1);
  return Writer(std::move(impl));
}

void Writer::SetFact(const std::string& name, const std::string& word) {
  impl_->manifest.facts[name] = word;
}

Result<> Writer::Add(const std::string& name, const std::filesystem::path& from) {
  // The folder may belong to another user than this process.
  const Descriptor in{open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  struct stat about{};
  if (in.number < 0 || fstat(in.number, &about) != 0)
    return Fail(ErrorCode::kUnavailable, "read {}: {}", from.string(), std::strerror(errno));
  Part part{.sha256 = {},
            .size = static_cast<std::uint64_t>(about.st_size),
            .mode = about.st_mode & 0777};
  if (auto packed = impl_->PackHeader({name, part.size, part.mode}); !packed) return packed;
  crypto::Sha256Stream hash;
  std::vector<char> buffer(kReadSize);
  for (std::uint64_t left = part.size; left > 0;) {
    const ssize_t got = read(in.number, buffer.data(), std::min<std::uint64_t>(left, kReadSize));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return Fail(ErrorCode::kUnavailable, "read {}: {}", from.string(),
                  got < 0 ? std::strerror(errno) : "it became shorter meanwhile");
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    hash.Add(bytes);
    if (auto packed = impl_->Pack(bytes); !packed) return packed;
    left -= bytes.size();
  }
  if (auto packed = impl_->PackPadding(part.size); !packed) return packed;
  part.sha256 = ToHex(hash.Digest());
  impl_->manifest.parts[name] = std::move(part);
  return {};
}

Result<Manifest> Writer::Finish() {
  Impl& impl = *impl_;
  const std::string manifest = FormatManifest(impl.manifest);
  auto packed = impl.PackHeader({std::string(kManifestName), manifest.size(), 0600});
  if (packed) packed = impl.Pack(manifest);
  if (packed) packed = impl.PackPadding(manifest.size());
  if (packed) packed = impl.Pack(std::string(2 * kTarBlock, '\0'), true);
  if (!packed) return Fail(packed.error());
  if (fsync(impl.out.number) != 0) return impl.Trouble();
  if (rename(impl.unfinished.c_str(), impl.file.c_str()) != 0) return impl.Trouble();
  impl.unfinished.clear();
  const auto folder = std::filesystem::absolute(impl.file).parent_path();
  const Descriptor place{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (place.number < 0 || fsync(place.number) != 0)
    return Fail(ErrorCode::kUnavailable, "sync {}: {}", folder.string(), std::strerror(errno));
  return impl.manifest;
}

}  // namespace muster::archive
