#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "adapters/files/fd.hpp"
#include "base/result.hpp"

namespace muster::cli {

// What a document may read in its folder.
struct FileRules {
  bool dot_files = false;                     // parts of paths and links may begin with a dot
  std::vector<std::string> credentials = {};  // files that are not read under any name
};

// Where files of this machine may be read. A person's own argument may name any of them. A document
// may name those inside a folder: its author need not be who applies it. Then ".." above the
// folder, absolute paths, and links that lead out are refused, wherever in a path they stand; links
// inside it are followed. What is checked is what was opened, so that nothing can be swapped in
// between. In a folder that a person sends whole, others may have put links: see Sent. Copies share
// the folder.
//
// Inside its folder a document may not read everything either: names that begin with a dot are
// where programs keep credentials (.git, .config, .ssh, .env), and the caller's own token may be
// there.
class FileRoot {
 public:
  // No bound: paths are as the shell takes them.
  static FileRoot Anywhere();
  // Only inside `folder`, which paths are relative to. kNotFound: it cannot be opened.
  static Result<FileRoot> Within(const std::string& folder, const FileRules& rules = {});
  // Nothing at all: documents that came without a folder.
  static FileRoot Nowhere();
  // What is in `folder`, whose name paths begin with. Links in it may lead anywhere, if they belong
  // to root or to the caller; those of others only to what is theirs too.
  static Result<FileRoot> Sent(const std::string& folder);

  bool IsAnywhere() const { return kind_ == Kind::kAnywhere; }
  bool IsSent() const { return kind_ == Kind::kSent; }
  // Whether files whose names begin with a dot are read.
  bool ReadsDotFiles() const { return dot_files_; }

  // Opens a regular file for reading. kDenied: it may not be read, or a link that is not followed
  // leads to it. kNotFound, kInvalid: it cannot be opened, or is of another kind.
  Result<files::Fd> OpenFile(const std::string& path) const;
  // All of a regular file. kInvalid also: it is larger than `most` bytes.
  Result<std::string> Read(const std::string& path, std::size_t most) const;
  // What is there; with `follow`, where a link at the end leads to.
  Result<struct stat> Look(const std::string& path, bool follow) const;
  // The names in a folder, sorted, without "." and "..".
  Result<std::vector<std::string>> List(const std::string& path) const;

  // For a message: why a link is not followed.
  static std::string Distrusted(const std::string& path, uid_t owner);
  // For a message: "'a.sh'", "'../a.sh' in 'jobs'".
  std::string Named(const std::string& path) const;

 private:
  enum class Kind : std::uint8_t { kNowhere, kAnywhere, kWithin, kSent };
  struct FileId {
    dev_t device;
    ino_t number;
  };

  FileRoot(Kind kind, std::shared_ptr<const files::Fd> folder, std::string name)
      : kind_(kind), folder_(std::move(folder)), name_(std::move(name)) {}

  static Result<FileRoot> In(Kind kind, const std::string& folder);
  Result<files::Fd> OpenSent(const std::string& path, int flags) const;
  Result<files::Fd> OpenWithin(const std::string& path, int flags) const;
  bool IsCredential(const files::Fd& file) const;
  Result<files::Fd> Open(const std::string& path, int flags) const;

  Kind kind_;
  std::shared_ptr<const files::Fd> folder_;  // shared by copies; null: anywhere
  std::string name_;
  bool dot_files_ = true;
  std::vector<FileId> credentials_ = {};
};

}  // namespace muster::cli
