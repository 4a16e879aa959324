#pragma once

#include <functional>
#include <thread>

#include "adapters/etcd/gateway.hpp"
#include "adapters/etcd/view.hpp"
#include "base/mutex.hpp"

namespace muster::etcd {

// Hears of changes as they happen: a thread that follows the keys from one revision to the next and
// tells `view`. After a broken or silent connection it goes on where it was; when etcd no longer
// has what came since, it reads everything again. Nothing is lost when it hears nothing, only
// later: the keeper reads all keys with each renewal.
class Watcher {
 public:
  // `changed` is called, from its thread, after keys changed. All of these outlive it.
  Watcher(Gateway& gateway, Keys keys, Duration idle, View& view, std::function<void()> changed);
  ~Watcher();

 private:
  void Run();
  Result<> Read();
  Result<> Follow();
  bool OnNews(const WatchNews& news);
  bool Pause() EXCLUDES(mutex_);  // false when it shall end

  Gateway& gateway_;
  const Keys keys_;
  const Duration idle_;
  View& view_;
  const std::function<void()> changed_;

  // The thread's own.
  Position position_;
  Revision next_ = 0;  // the first that was not heard of; 0 when everything must be read

  base::Mutex mutex_;
  base::Condition stopped_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace muster::etcd
