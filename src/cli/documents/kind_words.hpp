#pragma once

#include <string>

// The kinds of documents (documents/kinds.hpp) in texts of the command line.
namespace muster::cli {

std::string SingleKinds();  // "job, host or group"
std::string PluralKinds();  // "jobs, hosts and groups"
std::string KindsHelp();    // a line for each: its name and what it is

}  // namespace muster::cli
