#pragma once

#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "base/result.hpp"

namespace muster::cli {

// An open file or folder, closed with the object.
class OpenedFile {
 public:
  explicit OpenedFile(int fd) : fd_(fd) {}
  ~OpenedFile();
  OpenedFile(OpenedFile&& other) noexcept;
  OpenedFile& operator=(OpenedFile&&) = delete;

  int Fd() const { return fd_; }
  // Gives the descriptor away.
  int Release();

 private:
  int fd_;
};

// Where files of this machine may be read. A person's own argument may name any of them. A document
// may name those inside a folder: its author need not be who applies it. Then ".." above the
// folder, absolute paths, and links that lead out are refused, wherever in a path they stand; links
// inside it are followed. What is checked is what was opened, so that nothing can be swapped in
// between. Copies share the folder.
class FileRoot {
 public:
  // No bound: paths are as the shell takes them.
  static FileRoot Anywhere();
  // Only inside `folder`, which paths are relative to. kNotFound: it cannot be opened.
  static Result<FileRoot> Within(const std::string& folder);

  // Opens a regular file for reading. kDenied: it leads out of the folder. kNotFound, kInvalid: it
  // cannot be opened, or is of another kind.
  Result<OpenedFile> OpenFile(const std::string& path) const;
  // All of a regular file. kInvalid also: it is larger than `most` bytes.
  Result<std::string> Read(const std::string& path, std::size_t most) const;
  // What is there; with `follow`, where a link at the end leads to.
  Result<struct stat> Look(const std::string& path, bool follow) const;
  // The names in a folder, sorted, without "." and "..".
  Result<std::vector<std::string>> List(const std::string& path) const;

  // For a message: "'a.sh'", "'../a.sh' in 'jobs'".
  std::string Named(const std::string& path) const;

 private:
  FileRoot(std::shared_ptr<const OpenedFile> folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  Result<OpenedFile> Open(const std::string& path, int flags) const;

  std::shared_ptr<const OpenedFile> folder_;  // shared by copies; null: anywhere
  std::string name_;
};

}  // namespace muster::cli
