#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster::agent {

// Makes and removes the folders of tasks. A few that are no longer needed are kept and used again
// with their files: file systems take longer to make and remove three of them than to rename one
// (ext4 looks at every inode that was freed in the last minutes before it takes one).
//
// A crash at any point leaves a folder that is whole, or one among the spare ones.
class SpareFolders {
 public:
  // Where spare ones lie, on the same file system as the tasks. Removes those of an earlier start.
  Result<> Open(std::string place);

  // Makes a task's folder that holds `order`, and nothing else that means anything. kConflict when
  // there is such a folder.
  Result<> Make(const std::string& path, std::string_view order);

  // Removes a task's folder, or keeps it to be used again: not while a shim holds its lock, as a
  // task that left processes behind may have one that lives on. It must go (`reuse` false) when
  // such processes may still have its files open, or when its order, which stays in it, holds a
  // secret.
  void Remove(const std::string& path, bool reuse = true);

 private:
  std::string NextName();

  std::string place_;
  std::vector<std::string> spares_;
  std::uint64_t last_ = 0;
};

}  // namespace muster::agent
