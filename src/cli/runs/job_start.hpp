#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace CLI {
class App;
}

// What `muster start` and `muster rerun` have in common.
namespace muster::cli {

struct StartFlags {
  std::string name;  // of the job, or the run
  std::string targets;
  std::string exclude;
  std::vector<std::string> params;
  std::vector<std::pair<std::string, std::string>> typed = {};  // parameters that were asked for
  std::string version;
  std::string reason;
  bool wait = false;
  bool wait_paused = false;
  bool dry_run = false;
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
  bool yes = false;
};
void AddStartFlags(CLI::App& command, StartFlags& flags);

// The body of the call. A parameter is NAME=VALUE, or NAME=@FILE for what a file says, without the
// line ends after it. kInvalid names the parameter.
Result<boost::json::object> StartBody(const StartFlags& flags);

// What is started, and where.
struct StartedWork {
  std::string path;     // of the call
  std::string act;      // "Start kernel-upgrade", for the question
  bool job = true;      // else a command
  std::string tells{};  // a line that says what it does; its hosts are added
};
// Starts it, after a question when a person is there and many hosts are meant; or says what would
// be. Gives the exit code of the program.
Result<int> StartWork(const Context& context, ApiClient& api, const StartedWork& work,
                      const StartFlags& flags, const boost::json::object& body);

}  // namespace muster::cli
