#include "agent/shim/output_keeper.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include "agent/shim/spool.hpp"

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
                           OutputLimits limits, const LineMask::Words& words,
                           const std::string& folder)
    : path_(std::move(spool)),
      limits_(limits),
      line_mask_(words),
      stdout_{Masker(masks, folder), {}, MaskedHash(line_mask_)},
      stderr_{Masker(masks, folder), {}, MaskedHash(line_mask_)} {}

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
  const auto written = kept.substr(0, Append(stream, kept, now));
  if (written.size() < kept.size()) {
    disk_full_ = true;
    dropped_ += kept.size() - written.size();
  }
  Of(stream).hash.Add(written);
  Of(stream).masked_hash.Add(written);
  kept_ += written.size();
}

bool OutputKeeper::OpenSpool() {
  if (spool_) return true;
  auto spool = OpenFile(path_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  if (spool) spool_ = std::move(*spool);
  return spool.has_value();
}

// Returns how many of them are kept.
std::size_t OutputKeeper::Append(Stream stream, std::string_view bytes, WallTime now) {
  if (!OpenSpool()) return 0;
  if (kept_ >= next_disk_check_) {
    if (DiskIsLow(spool_.Get(), limits_.min_free_percent)) return 0;
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
  if (!WriteAllParts(spool_.Get(), std::move(parts))) return KeepWhole(bytes.size());
  file_bytes_ += bytes.size() + records * kSpoolHeaderBytes;
  return bytes.size();
}

// Of records that were written in part: the agent may have seen the whole ones, so they stay. It
// stops at the torn one, whose room is wanted back. Returns how many bytes of output stay.
std::size_t OutputKeeper::KeepWhole(std::size_t bytes) {
  struct stat status{};
  if (::fstat(spool_.Get(), &status) != 0) return 0;
  const auto file_size = static_cast<std::uint64_t>(status.st_size);
  std::size_t whole = 0;
  while (whole < bytes) {
    const std::size_t data = std::min(bytes - whole, kMaxSpoolData);
    if (file_bytes_ + kSpoolHeaderBytes + data > file_size) break;
    file_bytes_ += kSpoolHeaderBytes + data;
    whole += data;
  }
  [[maybe_unused]] const int cut = ::ftruncate(spool_.Get(), static_cast<off_t>(file_bytes_));
  return whole;
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
