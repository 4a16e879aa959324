#pragma once

#include <memory>
#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "domain/run.hpp"

namespace muster::server::api {

// The body of POST /runs, read and checked.
struct RunRequest {
  RunSpec spec;
  std::string exclude;
  bool ignore_missing = false;
  std::string reason;  // for the audit trail
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
};

// A reason is kept for ever: one to 1,000 bytes are enough.
Result<> CheckReason(std::string_view reason);
// A title is a line in lists of up to 500 runs: at most 200 characters.
Result<> CheckTitle(std::string_view title);

// kInvalid names the field and what was expected; unknown fields are errors. `too_large` is set
// when script and stdin together pass kMaxCommandBytes.
Result<RunRequest> ReadRunRequest(const boost::json::object& body, bool& too_large);

}  // namespace muster::server::api
