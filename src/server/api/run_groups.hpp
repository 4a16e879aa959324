#pragma once

#include <cstddef>

#include <boost/json/object.hpp>

#include "server/results/run_results.hpp"

namespace muster::server::api {

constexpr std::size_t kMostGroups = 400;

// The answer about groups, below 200 KB whatever they are: those that find no room are counted.
boost::json::object GroupsView(const RunResults::Grouped& grouped);

}  // namespace muster::server::api
