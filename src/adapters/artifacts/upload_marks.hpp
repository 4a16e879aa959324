#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/mutex.hpp"

namespace muster::artifacts {

// Which hashes are being uploaded: one upload of each at a time. Shared by a store and its uploads,
// as either may go first.
class UploadMarks : public std::enable_shared_from_this<UploadMarks> {
 public:
  // Held by an upload while it lives.
  class Mark {
   public:
    Mark(std::shared_ptr<UploadMarks> marks, std::string sha256)
        : marks_(std::move(marks)), sha256_(std::move(sha256)) {}
    ~Mark() {
      base::Lock lock(marks_->mutex_);
      marks_->held_.erase(sha256_);
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    const std::shared_ptr<UploadMarks> marks_;
    const std::string sha256_;
  };

  // Null when another upload holds it.
  std::unique_ptr<Mark> Take(const std::string& sha256) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    if (!held_.insert(sha256).second) return nullptr;
    return std::make_unique<Mark>(shared_from_this(), sha256);
  }
  bool Held(const std::string& sha256) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return held_.contains(sha256);
  }

 private:
  base::Mutex mutex_;
  std::set<std::string> held_ GUARDED_BY(mutex_);
};

}  // namespace muster::artifacts
