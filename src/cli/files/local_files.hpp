#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/documents/file_root.hpp"
#include "domain/command.hpp"

namespace muster::cli {

// A file or folder on this machine that is to be pushed.
struct LocalFile {
  std::string path;  // here
  FileEntry entry;   // there; its hash is not known yet
  FileRoot root;     // what `path` is opened with, each time
};

// What `muster cp SRC… DEST` means, before anything is hashed or sent.
struct CopyPlan {
  std::vector<LocalFile> files;
  bool tree = false;
  std::string to;
  std::string name;
};

// One file goes to DEST, or into it when DEST ends in '/'. One folder becomes DEST, or a folder in
// it likewise. Several go into DEST. Links to files count as the files. Inside a folder, links to
// folders are left out, and so are links of other users to what is not theirs; `left_out` gets a
// sentence for each. Sources are read inside `root` only. kInvalid and kDenied say what cannot be
// sent.
Result<CopyPlan> PlanCopy(const std::vector<std::string>& sources, const std::string& destination,
                          std::vector<std::string>& left_out,
                          const FileRoot& root = FileRoot::Anywhere());

// The SHA-256 of a file, 32 bytes, and its size.
struct FileHash {
  std::string sha256;
  std::uint64_t size = 0;
};
Result<FileHash> HashFile(const std::string& path, const FileRoot& root = FileRoot::Anywhere());
// Of an open file, from where it is; `path` is for the error only.
Result<FileHash> HashOpenFile(int file, const std::string& path);

}  // namespace muster::cli
