#pragma once

#include <optional>
#include <string>
#include <string_view>

// Where a process stands in the trees of control groups, from the kernel's own tables.
namespace muster::agent {

// The controller's group of the process whose /proc/PID/cgroup is `own`, as a path in its
// hierarchy; "" asks for version 2's. Nothing when there is no such hierarchy.
std::optional<std::string> OwnGroup(std::string_view own, std::string_view controller);

// The folder where `group` of that hierarchy can be seen, by the text of /proc/PID/mountinfo.
// Nothing when it is mounted nowhere, or only a part of it that does not hold the group.
std::optional<std::string> GroupFolder(std::string_view mounts, std::string_view controller,
                                       std::string_view group);

}  // namespace muster::agent
