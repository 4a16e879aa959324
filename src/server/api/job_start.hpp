#pragma once

#include <string>
#include <utility>
#include <vector>

#include "documents/documents.hpp"
#include "domain/run.hpp"
#include "server/api/call.hpp"
#include "server/api/keyed.hpp"
#include "server/api/services.hpp"

// What starts of jobs and reruns have in common.
namespace muster::server::api {

// The body of such a call.
struct StartRequest {
  std::vector<std::pair<std::string, std::string>> params;
  std::string targets;
  std::string exclude;
  std::string version;  // of a rerun: "" or "latest"
  std::string reason;
  bool dry_run = false;
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
};
enum class Versions : std::uint8_t { kNone, kLatest };  // whether the body may say one
Result<StartRequest> ReadStartRequest(const Call& call, Versions versions);

// A run that is to be started, or only shown.
struct Planned {
  Result<RunSpec> spec;  // with its targets; or why there is none
  // Jobs whose limits of hosts hold: of the version that is started, and of the newest.
  std::vector<const documents::JobDocument*> envelopes = {};
};

// Answers the call: with what would be started, for a dry run, else once the engine has started it.
// A known key answers with its run, whatever became of the job and the hosts since.
void StartPlanned(Services& services, const CallPtr& call, StartRequest request, StartKey key,
                  Planned planned);

// Starts again what a run was asked to do. It allows no more than a start of the job, or of the
// command, as the caller could make it; so the new run asks for its own approvals.
void RerunRun(Services& services, const CallPtr& call);

}  // namespace muster::server::api
