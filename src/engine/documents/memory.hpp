#pragma once

#include <map>
#include <string>
#include <utility>

#include "domain/document.hpp"

namespace muster::engine {

struct DocumentMemory {
  // The latest of each, by kind and name; also deleted ones, for their numbers.
  std::map<std::pair<std::string, std::string>, DocumentHead> heads;
};

}  // namespace muster::engine
