#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {

// Which keys a data folder had before a start made those that were missing.
struct KeysBefore {
  bool admin_token = false;
  bool sealing_key = false;
  std::vector<std::string> cas;  // ids of the last start, the one that signed first; may be unknown
};
KeysBefore LookAtKeys(const std::filesystem::path& data);

// What changed since, a sentence each, for the log and the audit trail: keys are made and CAs
// changed in the data folder, where no caller is asked for a name. Nothing of a first start.
std::vector<std::string> KeyNews(const KeysBefore& before, const Identity& identity);

}  // namespace muster::server
