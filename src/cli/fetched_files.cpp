#include "cli/fetched_files.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/local_files.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostReads = 8;
constexpr const char* kFetchPage = "1048576";

bool IsName(std::string_view part) {
  return !part.empty() && part != "." && part != ".." &&
         part.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

bool SameContent(const std::string& path, const PulledLine& line) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem) || fs::file_size(path, problem) != line.size)
    return false;
  const auto hash = HashFile(path);
  return hash && hash->sha256 == line.sha256;
}

std::unexpected<Error> Cannot(const std::string& path, int error) {
  return Fail(ErrorCode::kInvalid, "cannot write '{}': {}", path, std::strerror(error));
}

}  // namespace

std::optional<std::string> LocalPathOf(const std::string& folder, const std::string& host,
                                       const std::string& path) {
  if (!IsName(host) || !path.starts_with('/')) return {};
  fs::path local = fs::path(folder) / host;
  for (const auto part : Split(std::string_view(path).substr(1), '/')) {
    if (!IsName(part)) return {};
    local /= std::string(part);
  }
  return local.string();
}

Result<std::vector<PulledLine>> FetchedFiles::ListOf(const std::string& run,
                                                     const std::string& host) {
  std::string text;
  for (std::uint64_t from = 0;;) {
    auto page = api_.GetRawLog(run, {{"host", host},
                                     {"stream", "stdout"},
                                     {"from", std::to_string(from)},
                                     {"limit", kFetchPage}});
    if (!page) return Fail(page.error());
    text += page->bytes;
    if (page->next == from) break;
    from = page->next;
  }
  std::vector<PulledLine> lines;
  for (const auto line : Split(text, '\n'))
    if (auto parsed = ParsePulledLine(line)) lines.push_back(std::move(*parsed));
  return lines;
}

Result<> FetchedFiles::Download(const PulledLine& line, const std::string& part) {
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Cannot(part, errno);
  std::uint64_t at = 0;
  int write_error = 0;
  Result<> outcome;
  for (int left = kMostReads; at < line.size && left > 0; --left) {
    outcome = api_.GetArtifact(ToHex(line.sha256), at, [&](std::string_view piece) {
      while (!piece.empty()) {
        const ssize_t wrote = ::write(fd, piece.data(), piece.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
          write_error = errno;
          return false;
        }
        piece.remove_prefix(static_cast<std::size_t>(wrote));
        at += static_cast<std::uint64_t>(wrote);
        left = kMostReads;
      }
      return true;
    });
    if (write_error != 0) outcome = Cannot(part, write_error);
    const bool may_pass = !outcome && (outcome.error().code == ErrorCode::kTimeout ||
                                       outcome.error().code == ErrorCode::kUnavailable);
    if (!outcome && !may_pass) break;
    if (!outcome) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  ::close(fd);
  return outcome;
}

Result<FetchedFile> FetchedFiles::Bring(const std::string& host, const PulledLine& line) {
  const auto local = LocalPathOf(folder_, host, line.path);
  if (!local)
    return Fail(ErrorCode::kInvalid, "{}: {} is no path below a folder", host,
                EscapePath(line.path));
  std::error_code problem;
  fs::create_directories(fs::path(*local).parent_path(), problem);
  if (problem) return Cannot(*local, problem.value());
  if (!SameContent(*local, line)) {
    const std::string part = *local + ".part";
    const auto known = by_hash_.find(line.sha256);
    if (known != by_hash_.end())
      fs::copy_file(known->second, part, fs::copy_options::overwrite_existing, problem);
    if (known == by_hash_.end() || problem)
      if (auto got = Download(line, part); !got) {
        ::unlink(part.c_str());
        return Fail(got.error());
      }
    if (!SameContent(part, line)) {
      ::unlink(part.c_str());
      return Fail(ErrorCode::kInternal, "what came for {} has another SHA-256; try again", *local);
    }
    if (::rename(part.c_str(), local->c_str()) != 0) return Cannot(*local, errno);
  }
  ::chmod(local->c_str(), line.mode & 0777);
  by_hash_.try_emplace(line.sha256, *local);
  bytes_ += line.size;
  return FetchedFile{host, line, *local};
}

}  // namespace muster::cli
