#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "domain/records.hpp"
#include "ports/store.hpp"
#include "server/api/call.hpp"
#include "server/api/services.hpp"

// Idempotency keys of calls. A key belongs to its caller, method and path: the same key at another
// place is another key.
//
// Some answers hold a secret that no record keeps, made once for each key: it is derived from the
// key and a random salt that is kept with the key, so a caller who lost the answer gets the same
// one again, and a key that was forgotten makes another.
namespace muster::server::api {

// The Idempotency-Key of such a call, and what it made before. Without one all is empty.
struct CallKey {
  std::string key;          // with the call it belongs to
  std::string body_sha256;  // and the salt, as IdempotencyKey has it
  ReadAt<std::optional<IdempotencyKey>> known;
  std::string secret;  // hexadecimal digits; without a key random ones
};

// The Idempotency-Key of a call that starts a run ("" without one), with the call it belongs to,
// and the run it started before. kInvalid: the key is too long.
struct StartKey {
  std::string key = {};
  ReadAt<std::optional<IdempotencyKey>> known = {};
};
Result<StartKey> ReadKey(Services& services, const Call& call, bool dry_run);

// `kind` is one word. kInvalid: the key is too long.
Result<CallKey> ReadCallKey(Services& services, const Call& call, std::string_view kind,
                            std::size_t secret_bytes);

}  // namespace muster::server::api
