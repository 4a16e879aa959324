#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "cli/api_client.hpp"

namespace muster::cli {

// What a run stands still for until a person acts: an answer to an approval, or the end of a pause.
struct PersonWait {
  std::string run;  // the run that waits: the one looked at, or one that it started
  std::string via;  // the stage that started that run or one above it; "" for the run itself
  boost::json::value visit;   // what asks (a visit of GET /runs/ID/visits); null when it is paused
  boost::json::value paused;  // the run, as its summary has it; null when it asks
};

struct PersonWaits {
  // A look ends after so many runs, each of which is a question to the server, or so many waits.
  static constexpr std::size_t kMostRuns = 100;
  static constexpr std::size_t kMostWaits = 50;

  std::vector<PersonWait> waits;
  bool children = false;                 // it waits for the end of runs that it started
  bool busy = false;                     // a host of it, or of such a run, is at work
  bool cut = false;                      // there may be more
  std::set<std::string> looked_at = {};  // ids of runs; none is looked at twice

  bool Full() const { return looked_at.size() >= kMostRuns || waits.size() >= kMostWaits; }
};

// What a run waits for, also in runs that its stages started and wait for. `run` is what
// GET /runs/ID/summary says of it. What cannot be asked now is left out. `go_on` is asked between
// questions to the server; the look ends when it says no.
PersonWaits WaitsForPerson(
    ApiClient& api, const boost::json::value& run,
    const std::function<bool()>& go_on = [] { return true; });

// The same of the run that a visit started, added to `found`. `visit` is one of
// GET /runs/ID/visits; nothing when it has ended, or started none.
void AddWaitsOfChild(ApiClient& api, const boost::json::value& visit, PersonWaits& found);

// "ask asks: go?; muster approve r12 (or reject)", "r12 is paused by ann · go on: muster resume
// r12 · …"; of a run that a stage started "ask of r22 (of sub) asks: …", "r22 (of sub) is paused
// …".
std::string WaitText(const PersonWait& wait);

// Names the wait among others of the same run.
std::string KeyOf(const PersonWait& wait);

}  // namespace muster::cli
