#include "server/api/keyed.hpp"

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kSaltBytes = 16;

// Two rounds, so that nothing can be appended to what is hashed first. Keys from before salts were
// kept have none, and their secrets are made without one.
std::string Derive(const std::string& token_key, std::string_view kind, const std::string& caller,
                   std::string_view key, std::string_view salt) {
  const std::string made =
      salt.empty() ? fmt::format("{} {} {} {}", kind, caller.size(), caller, key)
                   : fmt::format("salted {} {} {} {} {}", kind, caller.size(), caller, salt, key);
  return crypto::Sha256(token_key + crypto::Sha256(token_key + made));
}

// A key from before keys named their call.
Result<ReadAt<std::optional<IdempotencyKey>>> FindEither(Services& services,
                                                         const std::string& caller,
                                                         const std::string& key,
                                                         const std::string& older) {
  auto found = services.store.FindKey(caller, key);
  // A key of a client that looks like one of ours must not be taken for it.
  if (!found || found->value || older.find(" /") != std::string::npos) return found;
  auto before = services.store.FindKey(caller, older);
  if (!before) return before;
  if (before->value) found->value = std::move(before->value);
  return found;
}

Result<> CheckKeySize(std::string_view key) {
  if (key.size() > 128) return Fail(ErrorCode::kInvalid, "Idempotency-Key: at most 128 characters");
  return {};
}

std::string CallName(const Call& call, std::string_view key) {
  return fmt::format("{} {} {}", call.request().method, call.PlainPath(), key);
}

}  // namespace

Result<CallKey> ReadCallKey(Services& services, const Call& call, std::string_view kind,
                            std::size_t secret_bytes) {
  const std::string_view key = net::FindHeader(call.request().headers, "Idempotency-Key");
  if (const auto fits = CheckKeySize(key); !fits) return Fail(fits.error());
  CallKey made;
  if (key.empty()) {
    made.secret = ToHex(crypto::RandomBytes(secret_bytes));
    return made;
  }
  const std::string& caller = call.actor().name;
  made.key = CallName(call, key);
  auto known = FindEither(services, caller, made.key, fmt::format("{} {}", kind, key));
  if (!known) return Fail(known.error());
  made.known = std::move(*known);
  // Random, so that the same key makes another secret once it is forgotten.
  const std::string salt = made.known.value ? std::string(KeySalt(made.known.value->body_sha256))
                                            : ToHex(crypto::RandomBytes(kSaltBytes));
  made.body_sha256 = ToHex(crypto::Sha256(call.request().body));
  if (!salt.empty()) made.body_sha256 += ":" + salt;
  made.secret =
      ToHex(Derive(services.identity.token_key, kind, caller, key, salt).substr(0, secret_bytes));
  return made;
}

Result<StartKey> ReadKey(Services& services, const Call& call, bool dry_run) {
  const std::string key(net::FindHeader(call.request().headers, "Idempotency-Key"));
  if (const auto fits = CheckKeySize(key); !fits) return Fail(fits.error());
  if (key.empty()) return StartKey{};
  StartKey made{.key = CallName(call, key), .known = {}};
  if (dry_run) return made;
  auto found = FindEither(services, call.actor().name, made.key, key);
  if (!found) return Fail(found.error());
  made.known = std::move(*found);
  return made;
}

}  // namespace muster::server::api
