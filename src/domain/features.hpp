#pragma once

namespace muster {

// What a node can do that older ones cannot; an order names those it needs (link::Order::needs).
// Those of limits are made by Feature(Resource).
constexpr const char* kFeatureReboot = "reboot";
constexpr const char* kFeatureFiles = "files";

}  // namespace muster
