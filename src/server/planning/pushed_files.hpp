#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "documents/budget.hpp"
#include "documents/documents.hpp"
#include "domain/command.hpp"
#include "ports/artifacts.hpp"

// Files that stages put on hosts.
namespace muster::server {

// Whether the store has every file of the push, as large as it says; kInvalid names the first that
// is missing.
Result<> CheckArtifacts(const FilePush& push, ArtifactStore& store);

// Puts the files of each `push` into their stages; `missing` gets the references without any. A
// reference whose files do not fit the budget any more gets none and ends it: kInvalid, and
// `missing` has it last.
Result<> PlacePushes(documents::JobDocument& job,
                     const std::map<std::string, std::vector<FileEntry>>& pushes,
                     documents::ReadBudget& budget, std::vector<documents::FileReference>& missing);

}  // namespace muster::server
