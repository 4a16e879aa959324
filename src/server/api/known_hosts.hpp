#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "server/live/live_view.hpp"

namespace muster::server::api {

// kNotFound about a host of this name, which may say which one was meant.
Error NoSuchHost(const LiveView& live, std::string_view name);
// Its hint alone.
std::string DidYouMeanHost(const LiveView& live, std::string_view name);

}  // namespace muster::server::api
