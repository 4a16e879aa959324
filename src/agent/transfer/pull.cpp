#include "agent/transfer/pull.hpp"

#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "adapters/files/safe_flags.hpp"
#include "agent/shim/account.hpp"
#include "agent/transfer/part_file.hpp"
#include "agent/transfer/path_walk.hpp"
#include "agent/transfer/rights.hpp"
#include "agent/transfer/wildcards.hpp"
#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr int kTries = 3;  // of a file that changes while it is read
// Folders inside each other, below one that was named. Each is open while those in it are taken.
constexpr int kMostDeep = 256;

std::string Times(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

class Puller {
 public:
  Puller(const FilePull& pull, Account account, Courier& courier, const TransferOutput& output)
      : pull_(pull),
        account_(std::move(account)),
        walk_(account_.uid),
        courier_(courier),
        output_(output) {}

  Result<> Run() {
    for (const auto& pattern : pull_.paths) {
      std::vector<std::string> paths;
      const auto expanded = [&] {
        const ActAs rights(account_);
        return Expand(pattern, walk_, [&](const std::string& path) { paths.push_back(path); });
      }();
      if (!expanded) Complain(expanded.error().message);
      for (const auto& path : paths) Take(path);
    }
    if (problems_ == 0) return {};
    std::string left = fmt::format("{} not fetched", Times(problems_, "path was", "paths were"));
    if (links_ > 0) left += fmt::format("; {} left out", Times(links_, "link was", "links were"));
    return Fail(ErrorCode::kInvalid, "{}", left);
  }

 private:
  void Complain(const std::string& line) {
    ++problems_;
    output_.err(line);
  }

  Fd OpenInside(int folder, const std::string& name) const {
    const ActAs rights(account_);
    return Fd(::openat(folder, name.c_str(), files::SafeFlags(O_RDONLY | O_NONBLOCK | O_NOFOLLOW)));
  }

  Result<Fd> OpenNamed(const std::string& path) {
    const ActAs rights(account_);
    return walk_.Open(path, O_RDONLY | O_NONBLOCK);
  }

  // What was named itself: a link to it counts as it, if it is one that may be followed.
  void Take(const std::string& path) {
    const auto file = OpenNamed(path);
    if (!file) return Complain(file.error().message);
    TakeOpen(*file, path, 0);
  }

  void TakeOpen(const Fd& file, const std::string& path, int depth) {
    struct stat status{};
    if (::fstat(file.Get(), &status) != 0)
      return Complain(fmt::format("{}: {}", EscapePath(path), ErrnoText(errno)));
    if (S_ISDIR(status.st_mode)) return TakeFolder(file, path, depth);
    if (!S_ISREG(status.st_mode))
      return Complain(fmt::format("{}: neither a file nor a folder", EscapePath(path)));
    if (!taken_.insert(path).second) return;  // named twice
    if (auto sent = Send(file, path); !sent) Complain(sent.error().message);
  }

  void TakeFolder(const Fd& folder, const std::string& path, int depth) {
    if (depth > kMostDeep)
      return Complain(fmt::format("{}: more than {} folders deep; left out, name it to fetch it",
                                  EscapePath(path), kMostDeep));
    const auto names = NamesIn(folder.Get(), path);
    if (!names) return Complain(names.error().message);
    for (const auto& name : *names) {
      const std::string inner = path == "/" ? "/" + name : path + "/" + name;
      const Fd file = OpenInside(folder.Get(), name);
      if (file) {
        TakeOpen(file, inner, depth + 1);
      } else if (errno == ELOOP) {
        ++links_;
        output_.err(fmt::format("{}: a symbolic link; not followed", EscapePath(inner)));
      } else if (errno != ENOENT) {  // gone since
        Complain(fmt::format("{}: {}", EscapePath(inner), ErrnoText(errno)));
      }
    }
  }

  Result<> Send(const Fd& file, const std::string& path) {
    for (int attempt = 1;; ++attempt) {
      const auto sent = SendOnce(file, path);
      if (sent || sent.error().code != ErrorCode::kInvalid || attempt == kTries) return sent;
    }
  }

  // As long as it is now: what is written to its end meanwhile does not disturb.
  Result<> SendOnce(const Fd& file, const std::string& path) {
    struct stat status{};
    if (::fstat(file.Get(), &status) != 0) return Fail(WriteError("look at", path, errno));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (char byte = 0; size == 0 && ::pread(file.Get(), &byte, 1, 0) == 1)
      return Fail(ErrorCode::kDenied,
                  "{}: does not say how long it is, as files of the kernel; read it with a script",
                  EscapePath(path));
    if (size > pull_.max_bytes - bytes_)
      return Fail(ErrorCode::kDenied,
                  "{}: {} would be more than the {} that one host may send (--max-size)",
                  EscapePath(path), FormatSize(size), FormatSize(pull_.max_bytes));
    const auto hash = HashOf(file.Get(), size, path);
    if (!hash) return Fail(hash.error());
    const auto sent = courier_.Send(
        *hash, size,
        [&](std::uint64_t offset, char* into, std::size_t room) -> Result<std::size_t> {
          const ssize_t got = ::pread(file.Get(), into, room, static_cast<off_t>(offset));
          if (got > 0) return static_cast<std::size_t>(got);
          return Fail(got == 0 ? ErrorCode::kInvalid : ErrorCode::kUnavailable, "{}",
                      got == 0 ? "became shorter" : ErrnoText(errno));
        });
    if (!sent) return Fail(sent.error().code, "{}: {}", EscapePath(path), sent.error().message);
    bytes_ += size;
    output_.out(FormatPulledLine({path, *hash, size, status.st_mode & 07777}));
    return {};
  }

  const FilePull& pull_;
  const Account account_;
  PathWalk walk_;
  Courier& courier_;
  const TransferOutput& output_;
  std::set<std::string> taken_;
  std::uint64_t bytes_ = 0;
  std::size_t problems_ = 0;
  std::size_t links_ = 0;  // inside folders
};

}  // namespace

Result<> Pull(const FilePull& pull, const std::string& user, Courier& courier,
              const TransferOutput& output) {
  auto account = FindAccount(user);
  if (!account) return Fail(account.error());
  return Puller(pull, std::move(*account), courier, output).Run();
}

}  // namespace muster::agent
