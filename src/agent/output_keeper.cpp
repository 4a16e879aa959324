#include "agent/output_keeper.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include "agent/spool.hpp"

namespace muster::agent {
namespace {

constexpr std::uint64_t kDiskCheckEvery = 1 << 20;
constexpr std::size_t kMaxParts = 1024;  // of one writev, as Linux has it

// Everything, in spite of short writes.
bool WriteAllParts(int fd, std::vector<iovec> parts) {
  std::size_t first = 0;
  while (first < parts.size()) {
    const auto count = std::min<std::size_t>(parts.size() - first, kMaxParts);
    ssize_t wrote = ::writev(fd, &parts[first], static_cast<int>(count));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    while (wrote > 0) {
      auto& part = parts[first];
      const auto step = std::min(part.iov_len, static_cast<std::size_t>(wrote));
      part.iov_base = static_cast<char*>(part.iov_base) + step;
      part.iov_len -= step;
      wrote -= static_cast<ssize_t>(step);
      if (part.iov_len == 0) ++first;
    }
  }
  return true;
}

}  // namespace

OutputKeeper::OutputKeeper(std::string spool, const std::vector<std::string>& masks,
                           OutputLimits limits, const LineMask::Words& words)
    : path_(std::move(spool)),
      limits_(limits),
      line_mask_(words),
      stdout_{Masker(masks), {}, MaskedHash(line_mask_)},
      stderr_{Masker(masks), {}, MaskedHash(line_mask_)} {}

void OutputKeeper::Take(Stream stream, std::string_view bytes, WallTime now) {
  auto& masker = Of(stream).masker;
  if (masker.Idle()) return Keep(stream, bytes, now);
  masked_.clear();
  masker.Feed(bytes, masked_);
  Keep(stream, masked_, now);
}

void OutputKeeper::Close(Stream stream, WallTime now) {
  masked_.clear();
  Of(stream).masker.Finish(masked_);
  Keep(stream, masked_, now);
}

void OutputKeeper::Keep(Stream stream, std::string_view bytes, WallTime now) {
  const std::uint64_t room = limits_.max_output - kept_;
  const auto kept = bytes.substr(0, std::min<std::uint64_t>(bytes.size(), disk_full_ ? 0 : room));
  dropped_ += bytes.size() - kept.size();
  if (kept.empty()) return;
  if (!Append(stream, kept, now)) {
    disk_full_ = true;
    dropped_ += kept.size();
    return;
  }
  Of(stream).hash.Add(kept);
  Of(stream).masked_hash.Add(kept);
  kept_ += kept.size();
}

bool OutputKeeper::OpenSpool() {
  if (spool_) return true;
  auto spool = OpenFile(path_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  if (spool) spool_ = std::move(*spool);
  return spool.has_value();
}

bool OutputKeeper::Append(Stream stream, std::string_view bytes, WallTime now) {
  if (!OpenSpool()) return false;
  if (kept_ >= next_disk_check_) {
    if (DiskIsLow(spool_.Get(), limits_.min_free_percent)) return false;
    next_disk_check_ = kept_ + kDiskCheckEvery;
  }
  const std::size_t records = (bytes.size() + kMaxSpoolData - 1) / kMaxSpoolData;
  std::vector<std::array<char, kSpoolHeaderBytes>> headers;
  headers.reserve(records);
  std::vector<iovec> parts;
  parts.reserve(records * 2);
  for (auto rest = bytes; !rest.empty();) {
    const auto data = rest.substr(0, kMaxSpoolData);
    rest.remove_prefix(data.size());
    headers.push_back(EncodeSpoolHeader(
        {.size = static_cast<std::uint32_t>(data.size()), .stream = stream, .time = now}));
    parts.push_back({headers.back().data(), kSpoolHeaderBytes});
    parts.push_back({const_cast<char*>(data.data()), data.size()});
  }
  if (!WriteAllParts(spool_.Get(), std::move(parts))) {
    // A part may have been written; readers stop at it, but the room it takes is wanted back.
    [[maybe_unused]] const int cut = ::ftruncate(spool_.Get(), static_cast<off_t>(file_bytes_));
    return false;
  }
  file_bytes_ += bytes.size() + records * kSpoolHeaderBytes;
  return true;
}

LogTotals OutputKeeper::Totals() const {
  return {.bytes = kept_,
          .dropped = dropped_,
          .gap = disk_full_,
          .stdout_sha256 = stdout_.hash.Digest(),
          .stderr_sha256 = stderr_.hash.Digest(),
          .masked_sha256 = JoinMasked(stdout_.masked_hash, stderr_.masked_hash)};
}

}  // namespace muster::agent
