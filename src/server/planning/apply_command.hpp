#pragma once

#include <set>
#include <vector>

#include "documents/documents.hpp"
#include "domain/token.hpp"
#include "engine/command.hpp"
#include "ports/store.hpp"
#include "server/planning/applied_files.hpp"
#include "server/planning/applied_set.hpp"

// From documents that are applied to what the engine is asked to do.
namespace muster::server {

// Of the kinds that are applied, what is kept and not among them.
Result<std::set<DocumentKey>> ToPrune(Store& store, const std::vector<documents::Document>& puts);

// A kind among them that callers of this role may neither apply nor delete; nullptr: none.
const documents::KindRow* KindDenied(Role role, const std::vector<documents::Document>& puts,
                                     const std::set<DocumentKey>& drops);

// The command, without its caller. `puts` are the request's. An error is the store's.
Result<engine::ApplyDocuments> ApplyCommandOf(Store& store, const ApplyRequest& request,
                                              const std::vector<documents::Document>& puts,
                                              const std::set<DocumentKey>& drops);

// What would become of them.
Result<engine::DocumentsApplied> Foresee(Store& store, const engine::ApplyDocuments& command);

}  // namespace muster::server
