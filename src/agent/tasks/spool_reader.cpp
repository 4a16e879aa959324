#include "agent/tasks/spool_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/crypto/digest.hpp"
#include "agent/files.hpp"

namespace muster::agent {
namespace {

// A window over the file, so that small records do not cost a system call each.
class Window {
 public:
  explicit Window(int fd) : fd_(fd) {}

  // `size` bytes at `at`, or fewer where the file ends. Valid until the next call.
  std::string_view At(std::uint64_t at, std::size_t size) {
    if (at < begin_ || at + size > begin_ + bytes_.size()) Load(at, size);
    if (at < begin_ || at > begin_ + bytes_.size()) return {};
    return std::string_view(bytes_).substr(at - begin_, size);
  }

 private:
  void Load(std::uint64_t at, std::size_t size) {
    begin_ = at;
    bytes_.resize(std::max<std::size_t>(size, kBytes));
    std::size_t have = 0;
    while (have < bytes_.size()) {
      const ssize_t got =
          ::pread(fd_, bytes_.data() + have, bytes_.size() - have, static_cast<off_t>(at + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    bytes_.resize(have);
  }

  static constexpr std::size_t kBytes = 128 << 10;
  int fd_;
  std::uint64_t begin_ = 0;
  std::string bytes_;
};

}  // namespace

std::uint64_t SpoolReader::Advance() {
  auto fd = OpenFile(path_, O_RDONLY);
  if (!fd) return end_.output;
  struct stat status{};
  if (::fstat(fd->Get(), &status) != 0) return end_.output;
  const auto file_size = static_cast<std::uint64_t>(status.st_size);
  Window window(fd->Get());
  while (end_.file + kSpoolHeaderBytes <= file_size) {
    const auto header = DecodeSpoolHeader(window.At(end_.file, kSpoolHeaderBytes));
    if (!header) break;
    const std::uint64_t next = end_.file + kSpoolHeaderBytes + header->size;
    if (next > file_size) break;
    end_ = {next, end_.output + header->size};
  }
  return end_.output;
}

Result<std::vector<LogChunk>> SpoolReader::Read(std::uint64_t from, std::size_t limit) {
  std::vector<LogChunk> chunks;
  const std::uint64_t known = Advance();
  const std::uint64_t to = limit < known - std::min(from, known) ? from + limit : known;
  if (from >= to) return chunks;
  auto fd = OpenFile(path_, O_RDONLY);
  if (!fd) return Fail(fd.error());
  Window window(fd->Get());
  Place place = last_.output <= from ? last_ : Place{};
  while (place.output < to) {
    const auto header = DecodeSpoolHeader(window.At(place.file, kSpoolHeaderBytes));
    if (!header) return Fail(ErrorCode::kUnavailable, "read {}: the spool is damaged", path_);
    last_ = place;
    const std::uint64_t after = place.output + header->size;
    if (after > from) {
      const std::uint64_t first = std::max(place.output, from);
      const std::size_t size = std::min(after, to) - first;
      const auto data = window.At(place.file + kSpoolHeaderBytes + (first - place.output), size);
      if (data.size() != size)
        return Fail(ErrorCode::kUnavailable, "read {}: the spool is shorter than it was", path_);
      chunks.push_back({.task = {},
                        .offset = first,
                        .stream = header->stream,
                        .time = header->time,
                        .data = std::string(data)});
    }
    place = {place.file + kSpoolHeaderBytes + header->size, after};
  }
  if (place.output == to) last_ = place;
  return chunks;
}

Result<LogTotals> SpoolReader::Measure() {
  crypto::Sha256Stream out;
  crypto::Sha256Stream err;
  LogTotals totals;
  const std::uint64_t known = Advance();
  while (totals.bytes < known) {
    auto chunks = Read(totals.bytes, 1 << 20);
    if (!chunks) return Fail(chunks.error());
    for (const auto& chunk : *chunks) {
      (chunk.stream == Stream::kStdout ? out : err).Add(chunk.data);
      totals.bytes += chunk.data.size();
    }
  }
  totals.stdout_sha256 = out.Digest();
  totals.stderr_sha256 = err.Digest();
  return totals;
}

}  // namespace muster::agent
