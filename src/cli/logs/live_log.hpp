#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/client/api_client.hpp"
#include "cli/logs/log_cursor.hpp"
#include "cli/runs/host_printer.hpp"

namespace muster::cli {

// The output of a run as it comes: pieces from the event stream, holes filled from the log itself.
// Every byte is printed once, in the order of its host.
class LiveLog {
 public:
  LiveLog(ApiClient& api, std::string run, HostPrinter& printer)
      : api_(api), run_(std::move(run)), printer_(printer) {}

  // A `log` event.
  Result<> Add(const boost::json::value& event);
  // Fetches all there is of one attempt. True when nothing more will come; its last line is
  // completed then.
  Result<bool> CatchUp(const std::string& host, std::uint32_t attempt);
  // The same for every host that has an attempt.
  Result<> CatchUpAll();

 private:
  void Print(const std::string& host, std::string_view stream, std::string_view bytes);

  ApiClient& api_;
  std::string run_;
  HostPrinter& printer_;
  std::map<std::pair<std::string, std::uint32_t>, LogCursor> cursors_;
};

}  // namespace muster::cli
