#pragma once

#include <string_view>

namespace muster {

// Overwrites the value of an option ("--join", as "--join VALUE" or "--join=VALUE") in the words of
// `main`, where `ps` and /proc/PID/cmdline read them. Words after "--" stay. Call it as soon as the
// words are parsed: until then any user of the machine can read the value.
void HideArgument(int argc, char** argv, std::string_view option) noexcept;

}  // namespace muster
