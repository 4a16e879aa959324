#pragma once

namespace muster::server {

// `musterd ca …`: argv[0] is "ca". Returns the exit code.
int RunCaCommand(int argc, char** argv);

}  // namespace muster::server
