#pragma once

#include <string>

#include <boost/json/array.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/files/local_files.hpp"

namespace muster::cli {

// Writes hash and size of the plan's files into their entries.
Result<> HashAll(CopyPlan& plan);

// Sends the server what it does not have yet of files that were hashed; an upload that was cut goes
// on where it stood. Shows how far it is on a terminal. kUnavailable, kTimeout: the server was away
// too long; the same command goes on.
Result<> UploadAll(const Context& context, ApiClient& api, const CopyPlan& plan);

// The plan's files as the API takes them, once they are hashed.
boost::json::array FilesView(const CopyPlan& plan);

}  // namespace muster::cli
