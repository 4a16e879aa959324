#pragma once

#include <span>
#include <string>

#include "domain/host.hpp"

// What a start tells of hosts that it leaves out, the same from a dry run and from the start.
namespace muster {

// "1 in maintenance: web7 (ann: new disks, until 2026-03-01T14:00:00Z)". `why` is that of the
// first.
std::string MaintainedText(std::span<const std::string> names, const Maintenance& why);

// Why nothing is started: every host is in maintenance, or some are left out and none may be.
std::string NoHostLeftText(const std::string& left_out);
std::string SomeLeftOutText(const std::string& left_out);

}  // namespace muster
