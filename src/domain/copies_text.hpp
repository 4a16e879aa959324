#pragma once

#include <span>
#include <string>

namespace muster {

// Hosts that are copies (HostState::kCopy), for people: "1 copy, which takes no work: web7"; "" of
// none.
std::string CopiesText(std::span<const std::string> names);

}  // namespace muster
