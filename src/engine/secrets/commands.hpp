#pragma once

#include <optional>
#include <string>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/kinds.hpp"
#include "ports/store.hpp"

// Commands about secrets, and their answers.
namespace muster::engine {

struct SecretAnswer {  // as it is now, or was last; without its value
  Secret secret;
};

// A secret's new value, sealed; version, who and when are filled in. One that is there is replaced.
struct SetSecret {
  using Answer = SecretAnswer;

  Caller caller;
  std::string name;
  std::string sealed;
  ReadAt<std::optional<Secret>> known;  // looked up just before
};

struct RemoveSecret {
  using Answer = SecretAnswer;

  Caller caller;
  std::string name;
  ReadAt<std::optional<Secret>> known;
};

using SecretCommands = Kinds<SetSecret, RemoveSecret>;

}  // namespace muster::engine
