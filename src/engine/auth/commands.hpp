#pragma once

#include <optional>
#include <string>
#include <variant>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/kinds.hpp"
#include "ports/store.hpp"

// Commands about API tokens, and their answers.
namespace muster::engine {

struct TokenAnswer {
  Token token;
};

struct CreateToken {
  using Answer = std::variant<TokenAnswer, KeyRefused>;

  Caller caller;
  Token token;           // named, hashed, with role and expiry
  std::string key = {};  // Idempotency-Key, as for StartRun
  std::string body_sha256 = {};
  ReadAt<std::optional<IdempotencyKey>> known = {};
};

struct RevokeToken {
  using Answer = TokenAnswer;

  Caller caller;
  std::string name;
  std::string reason;
};

using AuthCommands = Kinds<CreateToken, RevokeToken>;

}  // namespace muster::engine
