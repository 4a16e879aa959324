#include "server/egress/secret_book.hpp"

namespace muster::server {

Result<> SecretBook::Load(Store& store) {
  auto secrets = store.ListSecrets();
  if (!secrets) return Fail(secrets.error());
  base::Lock lock(mutex_);
  sealed_.clear();
  for (auto& secret : *secrets) sealed_[secret.name] = std::move(secret.sealed);
  return {};
}

void SecretBook::Take(const engine::SecretNews& news) {
  base::Lock lock(mutex_);
  for (const auto& secret : news.secrets) sealed_[secret.name] = secret.sealed;
  for (const auto& name : news.dropped) sealed_.erase(name);
}

Result<std::string> SecretBook::Find(std::string_view name) const {
  std::string sealed;
  {
    base::Lock lock(mutex_);
    const auto found = sealed_.find(name);
    if (found == sealed_.end())
      return Fail(ErrorCode::kNotFound,
                  "there is no secret '{}'; an admin sets it with 'muster secrets set {}'", name,
                  name);
    sealed = found->second;
  }
  const auto value = sealer_.Unseal(name, sealed);
  if (!value)
    return Fail(value.error().code, "secret '{}' cannot be opened ({}); set it again", name,
                value.error().message);
  return value->Reveal();
}

}  // namespace muster::server
