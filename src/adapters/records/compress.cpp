#include "adapters/records/compress.hpp"

#include <memory>

#include <zstd.h>

#include "base/text.hpp"

namespace muster::records {
namespace {

constexpr int kLevel = 1;
constexpr std::size_t kWorthIt = 256;  // below it the frame's header eats what is won
constexpr char kRaw = 0;
constexpr char kZstd = 1;

// Contexts are costly to make and not shareable.
ZSTD_CCtx* CompressContext() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* DecompressContext() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return context.get();
}

}  // namespace

std::optional<std::string> Compress(std::string_view data) {
  if (data.size() < kWorthIt) return std::nullopt;
  std::string out(ZSTD_compressBound(data.size()), '\0');
  const std::size_t size = ZSTD_compressCCtx(CompressContext(), out.data(), out.size(), data.data(),
                                             data.size(), kLevel);
  if (ZSTD_isError(size) != 0 || size >= data.size()) return std::nullopt;
  out.resize(size);
  out.shrink_to_fit();
  return out;
}

Result<std::string> Decompress(std::string_view data, std::size_t most) {
  const auto size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most)
    return Fail(ErrorCode::kInternal, "record: damaged compressed data");
  std::string out(size, '\0');
  const std::size_t got =
      ZSTD_decompressDCtx(DecompressContext(), out.data(), out.size(), data.data(), data.size());
  if (ZSTD_isError(got) != 0 || got != size)
    return Fail(ErrorCode::kInternal, "record: damaged compressed data");
  return out;
}

Result<std::string> Pack(std::string_view data) {
  if (data.size() > kMostPacked)
    return Fail(ErrorCode::kInternal, "record: {} is more than can be read back ({})",
                FormatSize(data.size()), FormatSize(kMostPacked));
  auto compressed = Compress(data);
  std::string out;
  out.reserve(1 + (compressed ? compressed->size() : data.size()));
  out.push_back(compressed ? kZstd : kRaw);
  out.append(compressed ? std::string_view(*compressed) : data);
  return out;
}

Result<std::string> Unpack(std::string_view packed) {
  if (!packed.empty() && packed[0] == kRaw) return std::string(packed.substr(1));
  if (!packed.empty() && packed[0] == kZstd) return Decompress(packed.substr(1), kMostPacked);
  return Fail(ErrorCode::kInternal, "record: packed in an unknown way");
}

}  // namespace muster::records
