#pragma once

#include <filesystem>

#include "adapters/archive/manifest.hpp"
#include "base/result.hpp"

namespace muster::archive {

// Reads a whole archive and compares every part with the manifest. With a folder, which must exist,
// the parts are written into it, each with its mode, and synced. kInvalid: truncated, changed, or
// not an archive of ours; the message is a clause after the file's name. What was unpacked until
// then is for the caller to remove.
Result<Manifest> ReadArchive(const std::filesystem::path& file,
                             const std::filesystem::path* unpack_into);
// The same of an open file, from its beginning.
Result<Manifest> ReadArchive(int file, const std::filesystem::path* unpack_into);

}  // namespace muster::archive
