#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace muster::fleet {

// Some of the fleet's hosts: names, ranges and patterns with commas between, "fleet[1-20],fleet9*".
class HostSet {
 public:
  static Result<HostSet> Of(std::string_view text);
  // "HOSTS=VALUE", as options have it; the first '=' divides. `option` is named in an error.
  static Result<std::pair<HostSet, std::string>> Before(std::string_view option,
                                                        std::string_view text);

  bool Has(const std::string& host) const;

 private:
  std::set<std::string, std::less<>> names_;
  std::vector<std::string> patterns_;  // with '*'
};

}  // namespace muster::fleet
