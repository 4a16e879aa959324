#pragma once

#include <chrono>
#include <functional>

#include <boost/json/value.hpp>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "cli/context.hpp"

// A server that is away for a moment, as when another one takes over the lead, is no reason to give
// up.
namespace muster::cli {

using ApiCall = std::function<Result<boost::json::value>()>;

inline constexpr Duration kPatience = std::chrono::seconds(30);

// Calls `call` again while the server does not answer, for as long as `patience`; a third of it
// when there is no server at all. So `call` must be harmless when repeated.
Result<boost::json::value> Persist(const Context& context, Duration patience, const ApiCall& call);

// The same for what must not happen twice: calls `call` again only while nobody has taken it.
Result<boost::json::value> Act(const Context& context, const ApiCall& call);

}  // namespace muster::cli
