#include "cli/files/local_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = 1 << 20;

std::unexpected<Error> Cannot(const std::string& path, std::string_view why) {
  return Fail(ErrorCode::kInvalid, "cannot send '{}': {}", path, why);
}

// A file that is not there is a mistake in the command.
std::unexpected<Error> Refused(const Error& error) {
  return Fail(error.code == ErrorCode::kDenied ? error : Error{ErrorCode::kInvalid, error.message});
}

// Its own name, also of "." and "dir/".
std::string NameOf(const std::string& path) {
  std::error_code problem;
  fs::path whole = fs::weakly_canonical(path, problem);
  return problem ? fs::path(path).filename().string() : whole.filename().string();
}

class Collector {
 public:
  Collector(FileRoot root, std::vector<LocalFile>& files, std::vector<std::string>& left_out)
      : root_(std::move(root)), files_(files), left_out_(left_out) {}

  // What is inside a folder may be another user's; what was named is the caller's choice.
  Result<> Add(const std::string& path, const std::string& name) {
    const auto status = root_.Look(path, true);
    if (!status) return Refused(status.error());
    if (!IsUtf8(name)) return Cannot(path, "its name is not UTF-8 text; pack it into an archive");
    const std::uint32_t mode = status->st_mode & 0777;
    if (S_ISREG(status->st_mode)) {
      files_.push_back({path, {.path = name, .size = 0, .mode = mode}, root_});
      return {};
    }
    if (!S_ISDIR(status->st_mode)) return Cannot(path, "it is neither a file nor a folder");
    files_.push_back({path, {.path = name, .mode = mode, .folder = true}, root_});
    if (!root_.IsAnywhere()) return AddInside(path, name);
    const auto sent = FileRoot::Sent(path);
    if (!sent) return Refused(sent.error());
    return Collector(*sent, files_, left_out_).AddInside(path, name);
  }

 private:
  Result<> AddInside(const std::string& folder, const std::string& name) {
    const auto names = root_.List(folder);
    if (!names) return Refused(names.error());
    for (const auto& inner : *names) {
      const std::string path = (fs::path(folder) / inner).string();
      const auto why = WhyLeftOut(path);
      if (!why) return Fail(why.error());
      if (!why->empty()) {
        left_out_.push_back(*why);
        continue;
      }
      if (auto added = Add(path, name.empty() ? inner : name + "/" + inner); !added) return added;
    }
    return {};
  }

  // A link to a folder, to nothing, or of another user to what is not theirs; "" for all else. One
  // that leads out of the folder of a document is refused, not left out: who wrote the document
  // expects something of it.
  Result<std::string> WhyLeftOut(const std::string& path) const {
    const auto itself = root_.Look(path, false);
    if (!itself) return Fail(itself.error());
    if (!S_ISLNK(itself->st_mode)) return "";
    const auto target = root_.Look(path, true);
    if (!target && target.error().code == ErrorCode::kDenied) {
      if (root_.IsSent()) return target.error().message;
      return Fail(target.error());
    }
    if (!target) return fmt::format("{} is a link to nothing", path);
    if (!S_ISREG(target->st_mode)) return fmt::format("{} is a link to a folder", path);
    const uid_t owner = itself->st_uid;
    if (owner != 0 && owner != ::geteuid() && owner != target->st_uid)
      return FileRoot::Distrusted(path, owner);
    return "";
  }

  const FileRoot root_;
  std::vector<LocalFile>& files_;
  std::vector<std::string>& left_out_;
};

}  // namespace

Result<CopyPlan> PlanCopy(const std::vector<std::string>& sources, const std::string& destination,
                          std::vector<std::string>& left_out, const FileRoot& root) {
  CopyPlan plan;
  plan.to = destination;
  if (!destination.starts_with('/'))
    return Fail(ErrorCode::kInvalid,
                "'{}': expected a whole path on the hosts, which begins with /", destination);
  Collector collector(root, plan.files, left_out);
  if (sources.size() == 1) {
    plan.name = NameOf(sources[0]);
    if (auto added = collector.Add(sources[0], ""); !added) return Fail(added.error());
    plan.tree = plan.files[0].entry.folder;
    return plan;
  }
  plan.tree = true;
  for (const auto& source : sources)
    if (auto added = collector.Add(source, NameOf(source)); !added) return Fail(added.error());
  for (auto at = plan.files.begin(); at != plan.files.end(); ++at)
    for (auto other = plan.files.begin(); other != at; ++other)
      if (at->entry.path == other->entry.path)
        return Fail(ErrorCode::kInvalid, "'{}' and '{}' would become the same file", other->path,
                    at->path);
  if (!plan.to.ends_with('/')) plan.to += '/';
  return plan;
}

Result<FileHash> HashFile(const std::string& path, const FileRoot& root) {
  const auto file = root.OpenFile(path);
  if (!file) return Fail(file.error());
  return HashOpenFile(file->Get(), path);
}

Result<FileHash> HashOpenFile(int file, const std::string& path) {
  crypto::Sha256Stream hash;
  FileHash found;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
  ssize_t got = 0;
  while ((got = ::read(file, buffer.get(), kReadBytes)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    hash.Add({buffer.get(), static_cast<std::size_t>(got)});
    found.size += static_cast<std::uint64_t>(got);
  }
  if (got < 0) return Fail(ErrorCode::kInvalid, "cannot read '{}': {}", path, std::strerror(errno));
  found.sha256 = hash.Digest();
  return found;
}

}  // namespace muster::cli
