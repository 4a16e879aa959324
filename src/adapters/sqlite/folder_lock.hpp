#pragma once

#include <filesystem>
#include <utility>

#include "base/result.hpp"

namespace muster::sqlite {

// Holds a data folder for one process, by an exclusive flock on folder/lock; let go when destroyed
// or when the process ends in any way.
class FolderLock {
 public:
  // kConflict names the process that has it.
  static Result<FolderLock> Take(const std::filesystem::path& folder);
  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace muster::sqlite
