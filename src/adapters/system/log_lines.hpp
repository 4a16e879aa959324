#pragma once

namespace spdlog {
class logger;
}

namespace muster {

// Gives every sink of `logger` the format of Muster's logs, "TIME LEVEL MESSAGE" in UTC, with the
// message as one visible line (base/visible.hpp): what a host, a peer or a caller put into it can
// neither begin a line of its own nor reach the reader's terminal as a control. Every logger of a
// Muster program is made with it.
void FormatLines(spdlog::logger& logger);

}  // namespace muster
