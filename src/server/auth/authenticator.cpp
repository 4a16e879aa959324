#include "server/auth/authenticator.hpp"

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server {

Authenticator::Authenticator(std::string_view admin_token)
    : admin_hash_(crypto::Sha256(admin_token)) {}

std::optional<Actor> Authenticator::Check(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return std::nullopt;
  const auto token = Trim(authorization.substr(kScheme.size()));
  if (!EqualSecrets(crypto::Sha256(token), admin_hash_)) return std::nullopt;
  return Actor{"admin"};
}

}  // namespace muster::server
