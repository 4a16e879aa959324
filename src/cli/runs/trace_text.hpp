#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "base/instant.hpp"

namespace muster::cli {

// One line of a trace on the screen.
struct TraceRow {
  std::string what;   // with spaces in front for its depth
  std::string state;  // "" when none is known
  Duration began{};   // after the whole did
  Duration took{};    // up to now when it has not ended
  bool ended = false;
  bool counts = true;  // false: words only, no times
};

struct TraceRows {
  std::string id;
  std::vector<TraceRow> rows;
  Duration whole{};
  std::uint64_t without = 0;  // tasks of the run that the trace has no spans of
};

// The spans of `trace`, OTLP's JSON as the API gives it, as a tree in the order of their
// beginnings; of the tasks of a stage the first `tasks` that matter: what did not succeed, then
// what took longest.
TraceRows RowsOfTrace(const boost::json::value& trace, std::size_t tasks, WallTime now);

// "  ####   ": where a row lies in the whole, at least one mark.
std::string TraceBar(const TraceRow& row, Duration whole, std::size_t width);

}  // namespace muster::cli
