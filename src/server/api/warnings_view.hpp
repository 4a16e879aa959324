#pragma once

#include <string>
#include <vector>

#include <boost/json.hpp>

namespace muster::server::api {

// Adds `warnings` to an answer, when there are some.
inline void AddWarnings(boost::json::object& answer, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  boost::json::array list;
  for (const auto& warning : warnings) list.emplace_back(warning);
  answer["warnings"] = std::move(list);
}

}  // namespace muster::server::api
