#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::server {

// Whoever holds a token, by name.
struct Actor {
  std::string name;
};

// Knows tokens by their hash. Safe from any thread (it never changes after construction).
class Authenticator {
 public:
  explicit Authenticator(std::string_view admin_token);

  // The holder of "Bearer …", or nothing.
  std::optional<Actor> Check(std::string_view authorization) const;

 private:
  std::string admin_hash_;
};

}  // namespace muster::server
