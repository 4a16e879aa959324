#pragma once

#include <string>

#include "base/result.hpp"

// The file of --token-file or MUSTER_TOKEN_FILE. A pipe, as of <(command), is as good as a file.
namespace muster::cli {

// The token in it, without blanks around it. kInvalid: it cannot be read, is empty, or others may
// write it and so decide as whom the caller acts.
Result<std::string> ReadTokenFile(const std::string& path);

// What to say about a file that others may read; "" is nothing.
std::string TokenFileWarning(const std::string& path);

}  // namespace muster::cli
