#pragma once

#include <string>
#include <vector>

#include "adapters/settings/settings.hpp"
#include "base/instant.hpp"

namespace muster::outside {

// What the server may call by itself; `outside:` in its file.
struct OutsideSettings {
  std::vector<std::string> allow = {"public"};  // as Rule has them
  std::vector<std::string> deny = {};
  std::string ca_file = {};  // PEM; "" is the system's
  Duration connect_timeout = std::chrono::seconds(5);
};

// The section, over the fields of `outside`. A reload takes all of it over.
settings::Setting Describe(OutsideSettings& outside);

}  // namespace muster::outside
