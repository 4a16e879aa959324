#include "cli/files/fetched_files.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "cli/files/local_files.hpp"

namespace muster::cli {
namespace {

constexpr int kMostReads = 8;
constexpr const char* kFetchPage = "1048576";
constexpr std::size_t kMostListLine = 1 << 20;  // a path has 4 KiB

bool IsPathPart(std::string_view part) {
  return !part.empty() && part != "." && part != ".." &&
         part.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

// Writes a content of which hash and size are known, and no more than that.
class ContentWriter {
 public:
  // `file` is its place on this machine.
  ContentWriter(int into, const PulledLine& line, std::string file)
      : into_(into), line_(line), file_(std::move(file)) {}

  // False: no more is wanted; Problem() says why.
  bool Take(std::string_view piece) {
    if (piece.size() > line_.size - at_) {
      problem_ = {ErrorCode::kDenied,
                  fmt::format("{}: is longer than the {} that the host reported",
                              EscapePath(line_.path), FormatSize(line_.size))};
      return false;
    }
    hash_.Add(piece);
    at_ += piece.size();
    while (!piece.empty()) {
      const ssize_t wrote = ::write(into_, piece.data(), piece.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        problem_ = {ErrorCode::kInvalid, fmt::format("cannot write '{}' to this machine's disk: {}",
                                                     file_, std::strerror(errno))};
        return false;
      }
      piece.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
  }

  std::uint64_t At() const { return at_; }
  const std::optional<Error>& Problem() const { return problem_; }
  bool IsWhole() { return at_ == line_.size && hash_.Digest() == line_.sha256; }

 private:
  const int into_;
  const PulledLine& line_;
  const std::string file_;
  crypto::Sha256Stream hash_;
  std::uint64_t at_ = 0;
  std::optional<Error> problem_;
};

bool IsPassing(const Result<>& outcome) {
  return !outcome && (outcome.error().code == ErrorCode::kTimeout ||
                      outcome.error().code == ErrorCode::kUnavailable);
}

}  // namespace

std::optional<std::string> LocalNameOf(const std::string& host, const std::string& path) {
  if (!IsPathPart(host) || !path.starts_with('/')) return {};
  for (const auto part : Split(std::string_view(path).substr(1), '/'))
    if (!IsPathPart(part)) return {};
  return host + path;
}

Result<PulledList> FetchedFiles::ListOf(const std::string& run, const std::string& host) {
  PulledList list;
  std::string text;
  const auto take = [&](std::string_view line) {
    if (line.empty()) return;
    if (auto parsed = ParsePulledLine(line))
      list.lines.push_back(std::move(*parsed));
    else
      ++list.unreadable;
  };
  for (std::uint64_t from = 0; list.lines.size() <= kMostPulledFiles;) {
    auto page = api_.GetRawLog(run, {{"host", host},
                                     {"stream", "stdout"},
                                     {"from", std::to_string(from)},
                                     {"limit", kFetchPage}});
    if (!page) return Fail(page.error());
    text += page->bytes;
    const bool at_end = page->next <= from;
    const auto whole = at_end ? text.size() : text.rfind('\n') + 1;
    for (const auto line : Split(std::string_view(text).substr(0, whole), '\n')) take(line);
    if (at_end) break;
    text.erase(0, whole);
    if (text.size() > kMostListLine)
      return Fail(ErrorCode::kInternal, "the list of files of {} has a line without end", host);
    from = page->next;
  }
  if (list.lines.size() > kMostPulledFiles) list.lines.resize(kMostPulledFiles + 1);
  return list;
}

// Only a file of our own is left in its place: the owner of another one could change it later. If
// it has a second name, its mode is left alone too: that may be a file outside the folder.
bool FetchedFiles::IsHere(const std::string& name, const PulledLine& line) const {
  const auto file = folder_.Open(name);
  struct stat status{};
  if (!file || ::fstat(file->Get(), &status) != 0 || status.st_uid != ::geteuid() ||
      static_cast<std::uint64_t>(status.st_size) != line.size)
    return false;
  const auto hash = HashOpenFile(file->Get(), name);
  if (!hash || hash->sha256 != line.sha256) return false;
  const mode_t mode = folder_.Masked(ModeHere(line.mode));
  if ((status.st_mode & 07777) == mode) return true;
  return status.st_nlink == 1 && ::fchmod(file->Get(), mode) == 0;
}

Result<bool> FetchedFiles::CopyKnown(const PulledLine& line, const std::string& name, int into) {
  const auto known = by_hash_.find(line.sha256);
  if (known == by_hash_.end()) return false;
  const auto from = folder_.Open(known->second);
  if (!from) return false;
  ContentWriter writer(into, line, folder_.PathOf(name));
  std::array<char, 64 << 10> piece{};
  ssize_t got = 0;
  while ((got = ::read(from->Get(), piece.data(), piece.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || !writer.Take({piece.data(), static_cast<std::size_t>(got)})) break;
  }
  if (writer.IsWhole()) return true;
  // It was changed since; the server has the right one.
  by_hash_.erase(known);
  if (::lseek(into, 0, SEEK_SET) == 0 && ::ftruncate(into, 0) == 0) return false;
  return Fail(ErrorCode::kInvalid, "cannot write '{}' to this machine's disk: {}",
              folder_.PathOf(name), std::strerror(errno));
}

Result<> FetchedFiles::Download(const PulledLine& line, const std::string& name, int into) {
  ContentWriter writer(into, line, folder_.PathOf(name));
  for (int left = kMostReads; writer.At() < line.size && left > 0; --left) {
    const std::uint64_t before = writer.At();
    const auto outcome = api_.GetArtifact(
        ToHex(line.sha256), before, [&](std::string_view piece) { return writer.Take(piece); });
    if (writer.Problem()) return Fail(*writer.Problem());
    if (!outcome && !IsPassing(outcome)) return outcome;
    if (writer.At() > before) left = kMostReads;
    if (!outcome) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (!outcome && left == 1) return outcome;
  }
  if (writer.IsWhole()) return {};
  return Fail(ErrorCode::kInternal,
              "{}: the content has another SHA-256 or size than the host reported; try again",
              EscapePath(line.path));
}

Result<FetchedFile> FetchedFiles::Bring(const std::string& host, const PulledLine& line,
                                        HostShare& share) {
  const auto name = LocalNameOf(host, line.path);
  if (!name)
    return Fail(ErrorCode::kDenied, "{}: is no path below a folder", EscapePath(line.path));
  if (auto admitted = share.Admit(line); !admitted) return Fail(admitted.error());
  if (!IsHere(*name, line)) {
    const auto put =
        folder_.Put(*name, ModeHere(line.mode), share.FolderRoom(), [&](int into) -> Result<> {
          const auto copied = CopyKnown(line, *name, into);
          if (!copied) return Fail(copied.error());
          return *copied ? Result<>() : Download(line, *name, into);
        });
    if (!put) return Fail(put.error());
  }
  by_hash_.try_emplace(line.sha256, *name);
  bytes_ += line.size;
  return FetchedFile{host, line, folder_.PathOf(*name)};
}

}  // namespace muster::cli
