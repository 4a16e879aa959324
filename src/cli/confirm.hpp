#pragma once

#include <string_view>

#include "cli/context.hpp"

namespace muster::cli {

// True when the person means it. Only for `all` or many hosts is a question asked: "Start nightly
// on 300 hosts in …?", where `act` is "Start nightly". `plan` is what a dry run answered.
bool Confirmed(const Context& context, std::string_view act, const boost::json::value& plan);

}  // namespace muster::cli
