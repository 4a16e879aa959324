#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ports/store.hpp"
#include "server/api/call.hpp"
#include "server/api/former_hosts.hpp"
#include "server/api/services.hpp"

// What GET /runs is asked for. The store finds runs by what its indexes have; the rest is looked
// for here, in a bounded number of rows for each answer.
namespace muster::server::api {

struct RunsAsked {
  RunFilter filter = {};
  std::string job = {};
  std::map<std::string, std::string> params = {};  // as `muster start -p` takes them
  std::string prefix = {};                         // of their ids; looks at none of the others
  bool awaiting_me = false;  // only open runs whose approval the caller may give

  // Whether rows of the store are to be looked through.
  bool Looks() const { return !job.empty() || !params.empty(); }
};
// kInvalid: a value is none that the query may have.
Result<RunsAsked> ReadRunsAsked(const Call& call);

// Looks at rows, one after the other, for one answer.
class RunMatch {
 public:
  RunMatch(Store& store, const RunsAsked& asked, GoesOn goes_on)
      : store_(store), asked_(asked), goes_on_(std::move(goes_on)) {}

  // Whether this row is of the job and has the parameters. Reads the plan of the run where the row
  // has only the beginning of a value, unless `goes_on` fails before.
  Result<bool> Fits(const Run& row);
  // Whether it has looked at so much that the answer should end here.
  bool Spent() const { return rows_ >= kMostRows || plans_ >= kMostPlans; }

 private:
  static constexpr std::size_t kMostRows = 5'000;
  static constexpr std::size_t kMostPlans = 200;

  Store& store_;
  const RunsAsked& asked_;
  GoesOn goes_on_;
  std::size_t rows_ = 0;
  std::size_t plans_ = 0;
};

// The runs above an open run, the nearest first, as far as they are open.
Result<std::vector<Run>> OpenRunsAbove(Store& store, const Run& run);

// Open runs that ask for an approval which the caller may give, newest first, below `before` if
// that is set, at most `limit`. Of others their plans are looked at, in memory.
Result<std::vector<Run>> RunsAwaiting(Services& services, const Call& call, const RunsAsked& asked,
                                      RunId before, std::size_t limit);

}  // namespace muster::server::api
