#pragma once

#include <string>

#include "engine/turn.hpp"

// Documents that people apply: the engine numbers their versions and keeps which is the latest; the
// documents themselves are the store's.
namespace muster::engine {

void Decide(Turn& turn, const ApplyDocuments& command);

// What a `kind: host` of that name says; nullptr when there is none.
const DocumentHead* ExpectedHost(const State& state, const std::string& name);

}  // namespace muster::engine
