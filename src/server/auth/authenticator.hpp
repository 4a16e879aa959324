#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "domain/token.hpp"

namespace muster::server {

// Whoever holds a token.
struct Actor {
  std::string name;
  Role role = Role::kViewer;
  WallTime expires;  // zero: never
};

// Knows tokens by the hash of their secrets: the one of DATA/admin.token from the start, all others
// from the engine's news, which come after the commit and before the answer to whoever asked for
// it. Safe from any thread.
class Authenticator {
 public:
  explicit Authenticator(std::string_view admin_token);

  // The holder of "Bearer …". kDenied says what is wrong with the token, to its holder.
  // kUnavailable: the tokens were not loaded yet, and this one may be among them.
  Result<Actor> Check(std::string_view authorization, WallTime now) const;

  // The holder of the token of this name, whom another server of the cluster has let in; the same
  // codes.
  Result<Actor> Vouched(const std::string& name, WallTime now) const;

  // Tokens made or changed, and names forgotten. `all`: there are no others.
  void Take(const std::vector<Token>& tokens, const std::vector<std::string>& dropped, bool all);

  // Whoever has another token than the admin's is told kUnavailable until the next that are `all`.
  void Unload();

  // Whether the token of this name would be let in.
  bool Usable(const std::string& name, WallTime now) const;

  // Every token but the admin's, by name.
  std::vector<Token> List() const;

 private:
  void Forget(const std::string& name) REQUIRES(mutex_);
  Result<Actor> Holder(const std::string& name, WallTime now) const REQUIRES(mutex_);

  const std::string admin_hash_;
  mutable base::Mutex mutex_;
  bool loaded_ GUARDED_BY(mutex_) = false;
  std::map<std::string, Token> tokens_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::string> names_ GUARDED_BY(mutex_);  // by hash
};

}  // namespace muster::server
