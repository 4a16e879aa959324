#pragma once

#include <map>
#include <string>
#include <string_view>

#include "adapters/crypto/seal.hpp"
#include "base/mutex.hpp"
#include "engine/effects.hpp"
#include "ports/store.hpp"

namespace muster::server {

// All secrets as they are sealed, so that an order does not wait for a read of the store; opened
// one by one when they are used. Safe from any thread.
class SecretBook {
 public:
  explicit SecretBook(const crypto::Sealer& sealer) : sealer_(sealer) {}

  // Forgets everything and reads the store. A failure leaves what is known.
  Result<> Load(Store& store) EXCLUDES(mutex_);
  void Take(const engine::SecretNews& news) EXCLUDES(mutex_);

  // The value. kNotFound: there is no such secret, or its key is gone; kInvalid: it is damaged. The
  // message says what to do.
  Result<std::string> Find(std::string_view name) const EXCLUDES(mutex_);

 private:
  const crypto::Sealer& sealer_;
  mutable base::Mutex mutex_;
  std::map<std::string, std::string, std::less<>> sealed_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
