#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/mutex.hpp"

namespace muster::artifacts {

// Which uploads are under way, by any name that is theirs alone: each once at a time. Shared by a
// store and its uploads, as either may go first.
class UploadMarks : public std::enable_shared_from_this<UploadMarks> {
 public:
  // Held by an upload while it lives.
  class Mark {
   public:
    Mark(std::shared_ptr<UploadMarks> marks, std::string name)
        : marks_(std::move(marks)), name_(std::move(name)) {}
    ~Mark() {
      base::Lock lock(marks_->mutex_);
      marks_->held_.erase(name_);
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    const std::shared_ptr<UploadMarks> marks_;
    const std::string name_;
  };

  // Null when another upload holds it.
  std::unique_ptr<Mark> Take(const std::string& name) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    if (!held_.insert(name).second) return nullptr;
    return std::make_unique<Mark>(shared_from_this(), name);
  }
  bool Held(const std::string& name) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return held_.contains(name);
  }

 private:
  base::Mutex mutex_;
  std::set<std::string> held_ GUARDED_BY(mutex_);
};

}  // namespace muster::artifacts
