#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "cli/terminal/times.hpp"

namespace muster::cli {

// An audit entry for people: a head line, then what it touched, executed and why, indented. With
// `whole` a script is not cut after some lines.
std::string AuditEntryText(const boost::json::value& entry, bool whole, const Times& times);

}  // namespace muster::cli
