#pragma once

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "domain/command.hpp"

namespace muster::server::api {

// The `push` and `pull` of POST /runs, read and checked. kInvalid names the field and what was
// expected; unknown fields are errors.
Result<FilePush> ReadPush(const boost::json::object& object);
Result<FilePull> ReadPull(const boost::json::object& object);

// Reads whichever of the two there is into the command; kInvalid when that has anything else to do.
Result<> ReadFileAction(const boost::json::object* push, const boost::json::object* pull,
                        Command& command);

// The title of a run that moves files: "push kernel.deb to /var/tmp/", "pull /var/log/syslog".
std::string FileTitle(const Command& command);

// What a run moves, as `push` or `pull` of its view; nothing for other commands.
void PutFileView(const Command& command, boost::json::object& view);

}  // namespace muster::server::api
