#pragma once

#include <deque>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.hpp"

namespace muster::server::api {

// Which files hosts have sent whole to this server, the latest of them: a host that sends a folder
// again, or missed an answer, need not send those again. What was forgotten is sent again. Safe
// from any thread.
class SentFiles {
 public:
  void Add(const std::string& host, const std::string& sha256) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    const auto [place, added] = files_.emplace(host, sha256);
    if (!added) return;
    order_.push_back(*place);
    if (order_.size() <= kMost) return;
    files_.erase(order_.front());
    order_.pop_front();
  }
  bool Has(const std::string& host, const std::string& sha256) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return files_.contains({host, sha256});
  }

 private:
  static constexpr std::size_t kMost = 20'000;  // some 5 MB
  using File = std::pair<std::string, std::string>;

  base::Mutex mutex_;
  std::set<File> files_ GUARDED_BY(mutex_);
  std::deque<File> order_ GUARDED_BY(mutex_);
};

}  // namespace muster::server::api
