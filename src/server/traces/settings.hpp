#pragma once

#include <cstdint>
#include <string>

#include "adapters/settings/settings.hpp"

namespace muster::server {

// Where traces of ended runs go; `traces:` in the server's file.
struct TraceSettings {
  std::string url;                // of a collector, OTLP over HTTP; "": nowhere
  std::string headers_file = {};  // lines `Name: value` that go with each request
  std::string ca_file = {};       // PEM; "" is the system's
  std::uint64_t sample = 100;     // percent of the runs that succeeded
  std::uint64_t tasks = 500;      // spans of tasks for each run

  friend bool operator==(const TraceSettings&, const TraceSettings&) = default;
};

// The section, over the fields of `traces`. A reload takes all of it over.
settings::Setting Describe(TraceSettings& traces);

}  // namespace muster::server
