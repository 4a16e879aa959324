#pragma once

#include <string>

#include "engine/turn.hpp"

// Documents that people apply: the engine numbers their versions and keeps which is the latest; the
// documents themselves are the store's.
namespace muster::engine {

void Decide(Turn& turn, const ApplyDocuments& command);

// Deletes the latest version of a document that is no trigger; false when there is none.
bool DropDocumentOf(Turn& turn, const Caller& caller, const std::string& kind,
                    const std::string& name, const std::string& reason);

// What a `kind: host` of that name says; nullptr when there is none.
const DocumentHead* ExpectedHost(const State& state, const std::string& name);

void LoadDocuments(State& state, Snapshot& snapshot);

}  // namespace muster::engine
