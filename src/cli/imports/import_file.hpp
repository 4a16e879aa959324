#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/context.hpp"
#include "documents/documents.hpp"

namespace muster::cli {

// A file to import, or stdin for "-". kInvalid: it is a folder, or larger than `most` bytes, of
// which no more are read. kNotFound: it cannot be opened.
Result<documents::Source> ReadImportFile(const std::string& path, std::size_t most);

// Problems on stderr, one on each line; the exit code of a command that found them.
int FailFindings(const std::vector<documents::Problem>& problems);

// Remarks for the person at the keyboard.
void SayFindings(const Context& context, const std::vector<documents::Problem>& remarks);

}  // namespace muster::cli
