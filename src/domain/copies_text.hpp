#pragma once

#include <span>
#include <string>

namespace muster {

// Hosts that are copies (HostState::kCopy), for people: "1 copy, which takes no work: web7"; "" of
// none.
std::string CopiesText(std::span<const std::string> names);

// Why such a host gets no work. `note` is the host's own: whether there is a second agent is often
// not known, as one whose data folder was put back looks the same.
std::string CopyReason(const std::string& note);

}  // namespace muster
