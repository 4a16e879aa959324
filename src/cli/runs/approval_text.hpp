#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "cli/terminal/times.hpp"

// What people read about the approvals of a run, made of its visits (GET /runs/ID/visits).
namespace muster::cli {

// "bob, not alice": who may answer what this visit waits for.
std::string WhoMayAnswer(const boost::json::value& visit);

// "ask was approved by bob at 2027-03-28 02:30:00 UTC: looks good"; "" when nobody has answered.
std::string DecisionText(const boost::json::value& visit, const Times& times);

}  // namespace muster::cli
