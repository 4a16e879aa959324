#include "server/api/keyed.hpp"

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server::api {
namespace {

// Two rounds, so that nothing can be appended to what is hashed first.
std::string Derive(const std::string& token_key, std::string_view kind, const std::string& caller,
                   std::string_view key) {
  const std::string inner =
      crypto::Sha256(fmt::format("{}{} {} {} {}", token_key, kind, caller.size(), caller, key));
  return crypto::Sha256(token_key + inner);
}

}  // namespace

Result<CallKey> ReadCallKey(Services& services, const Call& call, std::string_view kind,
                            std::size_t secret_bytes) {
  const std::string_view key = net::FindHeader(call.request().headers, "Idempotency-Key");
  if (key.size() > 128) return Fail(ErrorCode::kInvalid, "Idempotency-Key: at most 128 characters");
  CallKey made;
  if (key.empty()) {
    made.secret = ToHex(crypto::RandomBytes(secret_bytes));
    return made;
  }
  const std::string& caller = call.actor().name;
  made.key = fmt::format("{} {}", kind, key);
  made.body_sha256 = ToHex(crypto::Sha256(call.request().body));
  made.secret =
      ToHex(Derive(services.identity.token_key, kind, caller, key).substr(0, secret_bytes));
  auto known = services.store.FindKey(caller, made.key);
  if (!known) return Fail(known.error());
  made.known = std::move(*known);
  return made;
}

}  // namespace muster::server::api
