#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "domain/records.hpp"
#include "ports/store.hpp"
#include "server/api/call.hpp"
#include "server/api/services.hpp"

// Calls whose answer holds a secret that no record keeps, made once for each Idempotency-Key: the
// secret is derived from the key, so a caller who lost the answer gets the same one again.
namespace muster::server::api {

// The Idempotency-Key of such a call, and what it made before. Without one all is empty.
struct CallKey {
  std::string key;  // with its kind before it: one key may make a thing of each kind
  std::string body_sha256;
  ReadAt<std::optional<IdempotencyKey>> known;
  std::string secret;  // hexadecimal digits; without a key random ones
};

// `kind` is one word. kInvalid: the key is too long.
Result<CallKey> ReadCallKey(Services& services, const Call& call, std::string_view kind,
                            std::size_t secret_bytes);

}  // namespace muster::server::api
