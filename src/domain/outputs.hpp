#pragma once

#include <cstddef>
#include <string_view>

// What a script writes to $MUSTER_OUTPUT, line by line as key=value, is part of its task's end
// (TaskEnd::outputs). These are the bounds that agents keep and servers hold them to.
namespace muster {

constexpr std::size_t kMaxOutputs = 256;           // names of one task
constexpr std::size_t kMaxOutputBytes = 64 << 10;  // of the file, and of all names and values
constexpr std::size_t kMaxOutputName = 64;

// [A-Za-z_][A-Za-z0-9_.-]{0,63}
bool IsOutputName(std::string_view name) noexcept;

}  // namespace muster
