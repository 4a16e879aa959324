#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/instant.hpp"
#include "domain/records.hpp"

namespace muster::engine {

// Idempotency keys of this term.
struct KeyMemory {
  struct Remembered {
    IdempotencyKey key;
    CommitNumber commit;
    MonoTime at;
  };
  std::map<std::pair<std::string, std::string>, Remembered> remembered;  // by caller and key
  CommitNumber forgotten_at;  // reads older than this cannot be trusted about keys
};

}  // namespace muster::engine
