#pragma once

#include <optional>

#include "base/mutex.hpp"
#include "base/secret_text.hpp"

namespace muster::etcd {

// The token that the gateways of one coordinator share, as etcd spends a good part of a second on
// each login. Safe from any thread.
class Session {
 public:
  // Nothing before the first login; empty where etcd wants none.
  std::optional<SecretText> Token() const EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return token_;
  }
  void Set(SecretText token) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    token_ = std::move(token);
  }

 private:
  mutable base::Mutex mutex_;
  std::optional<SecretText> token_ GUARDED_BY(mutex_);
};

}  // namespace muster::etcd
