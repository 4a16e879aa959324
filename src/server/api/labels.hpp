#pragma once

#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "domain/host.hpp"

namespace muster::server::api {

// An object of strings as labels; kInvalid says which is none.
Result<Labels> ReadLabels(const boost::json::value& value);

}  // namespace muster::server::api
