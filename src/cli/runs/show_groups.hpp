#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {

struct GroupsChoice {
  std::string stage;    // "": of each host the task that decides
  bool masked = false;  // outputs that differ by host, address, time or process only are equal
  bool diff = false;    // instead of the first lines: how others differ from what most hosts said
};

// GET /runs/ID/groups.
Result<boost::json::value> FetchGroups(ApiClient& api, const std::string& run,
                                       const GroupsChoice& choice);

// Equal outcomes, those that did not go well first, each with a line or two of one host's output,
// or its difference from the majority's, with `before` above the first. Empty when there are none.
Result<ShownText> ShowGroups(const Context& context, ApiClient& api, const std::string& run,
                             const GroupsChoice& choice, std::string_view before);

}  // namespace muster::cli
