#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "engine/command.hpp"
#include "server/api/call.hpp"
#include "server/api/keyed.hpp"
#include "server/api/services.hpp"
#include "server/planning/resolve.hpp"
#include "server/planning/start_hosts.hpp"

// What every start of a run has in common, of a command and of a job.
namespace muster::server::api {

// Answers that the targets did not resolve: 404 no_match when nothing does.
void FailResolve(Call& call, const Error& error);

// What a start passes over, or must not.
struct StartWishes {
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
};
// For a dry run: leaves hosts out of the targets as the start would. False: the start would be
// refused, and the call was answered so.
bool LeaveOutAsStart(Services& services, Call& call, const StartWishes& wishes, Resolved& resolved);

// What a dry run says of the hosts: hosts, names, never_joined,
// never_joined_count, left_out, offline, offline_count, says_all.
boost::json::object HostsView(const Resolved& resolved);
// The same of some of a run's targets, which `expression` once meant: hosts, names, says_all. It
// says all only if it is about all of them.
boost::json::object HostsView(const Targets& targets, const Ordinals& hosts,
                              const std::string& expression);
// The sizes of the batches a plan makes of so many hosts, at most 1,000 of them.
boost::json::array BatchesView(const BatchPlan& plan, std::uint32_t hosts);
// Of a stage with batches, adds when no other batch follows: max_failures, max_unreachable,
// on_limit.
void AddLimits(const StageSpec& stage, boost::json::object& view);

// Asks the engine, and answers the call with what it says, and with the warnings.
void AskToStart(Services& services, const CallPtr& call, engine::StartRun command,
                std::vector<std::string> warnings = {});

}  // namespace muster::server::api
