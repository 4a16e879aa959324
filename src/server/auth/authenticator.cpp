#include "server/auth/authenticator.hpp"

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server {
namespace {

Error Unknown() {
  return {ErrorCode::kDenied,
          "no valid token; send 'Authorization: Bearer TOKEN' (an admin makes one with 'muster "
          "tokens create'; the first admin's is in DATA/admin.token)"};
}

}  // namespace

Authenticator::Authenticator(std::string_view admin_token)
    : admin_hash_(crypto::Sha256(admin_token)) {}

Result<Actor> Authenticator::Check(std::string_view authorization, WallTime now) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return Fail(Unknown());
  const std::string hash = crypto::Sha256(Trim(authorization.substr(kScheme.size())));
  if (EqualSecrets(hash, admin_hash_))
    return Actor{std::string(kBootstrapAdmin), Role::kAdmin, WallTime{}};
  base::Lock lock(mutex_);
  const auto found = names_.find(hash);
  if (found == names_.end()) {
    if (!loaded_) return Fail(ErrorCode::kUnavailable, "the server is starting; try again shortly");
    return Fail(Unknown());
  }
  return Holder(found->second, now);
}

Result<Actor> Authenticator::Vouched(const std::string& name, WallTime now) const {
  if (name == kBootstrapAdmin) return Actor{name, Role::kAdmin, WallTime{}};
  base::Lock lock(mutex_);
  if (tokens_.contains(name)) return Holder(name, now);
  if (!loaded_) return Fail(ErrorCode::kUnavailable, "the server is starting; try again shortly");
  return Fail(ErrorCode::kDenied, "there is no token '{}' any more; ask an admin for a new one",
              name);
}

Result<Actor> Authenticator::Holder(const std::string& name, WallTime now) const {
  const Token& token = tokens_.at(name);
  if (token.revoked)
    return Fail(ErrorCode::kDenied, "token '{}' was revoked at {}; ask an admin for a new one",
                token.name, FormatTime(token.revoked));
  if (token.ExpiredAt(now))
    return Fail(ErrorCode::kDenied, "token '{}' expired at {}; ask an admin for a new one",
                token.name, FormatTime(token.expires));
  return Actor{token.name, token.role, token.expires};
}

void Authenticator::Take(const std::vector<Token>& tokens, const std::vector<std::string>& dropped,
                         bool all) {
  base::Lock lock(mutex_);
  if (all) {
    tokens_.clear();
    names_.clear();
    loaded_ = true;
  }
  for (const auto& name : dropped) Forget(name);
  for (const auto& token : tokens) {
    Forget(token.name);
    names_[token.hash] = token.name;
    tokens_[token.name] = token;
  }
}

void Authenticator::Unload() {
  base::Lock lock(mutex_);
  tokens_.clear();
  names_.clear();
  loaded_ = false;
}

void Authenticator::Forget(const std::string& name) {
  const auto found = tokens_.find(name);
  if (found == tokens_.end()) return;
  names_.erase(found->second.hash);
  tokens_.erase(found);
}

bool Authenticator::Usable(const std::string& name, WallTime now) const {
  if (name == kBootstrapAdmin) return true;
  base::Lock lock(mutex_);
  const auto found = tokens_.find(name);
  return found != tokens_.end() && found->second.UsableAt(now);
}

std::vector<Token> Authenticator::List() const {
  base::Lock lock(mutex_);
  std::vector<Token> list;
  for (const auto& [name, token] : tokens_) list.push_back(token);
  return list;
}

}  // namespace muster::server
