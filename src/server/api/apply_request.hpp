#pragma once

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "server/planning/applied_files.hpp"

namespace muster::server::api {

// The body of POST /documents. kInvalid names the field and what was expected.
Result<ApplyRequest> ReadApplyRequest(const boost::json::object& body);

}  // namespace muster::server::api
