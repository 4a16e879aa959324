#include "agent/host/facts.hpp"

#include <cstdlib>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/files.hpp"
#include "base/instant.hpp"
#include "base/text.hpp"

namespace muster::agent {

std::string OsReleaseValue(std::string_view text, std::string_view key) {
  for (const auto line : Split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || Trim(line.substr(0, equals)) != key) continue;
    auto value = Trim(line.substr(equals + 1));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

Labels CollectFacts(std::string_view agent_version) {
  Labels facts;
  const auto set = [&](std::string key, std::string value) {
    if (!value.empty()) facts[std::move(key)] = std::move(value);
  };
  set("agent", std::string(agent_version));
  auto release = ReadFile("/etc/os-release");
  if (!release) release = ReadFile("/usr/lib/os-release");
  if (release) {
    set("os", OsReleaseValue(*release, "ID"));
    set("os_version", OsReleaseValue(*release, "VERSION_ID"));
  }
  struct utsname kernel{};
  if (::uname(&kernel) == 0) {
    set("arch", kernel.machine);
    set("kernel", kernel.release);
    set("hostname", kernel.nodename);
  }
  if (const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN); cpus > 0)
    set("cpus", std::to_string(cpus));
  struct sysinfo memory{};
  if (::sysinfo(&memory) == 0) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
    set("memory_mb", std::to_string(bytes >> 20));
  }
  if (const auto stat = ReadFile("/proc/stat"))
    for (const auto line : Split(*stat, '\n'))
      if (line.starts_with("btime "))
        set("boot_time", FormatTime({std::strtoll(line.data() + 6, nullptr, 10) * 1000}));
  return facts;
}

}  // namespace muster::agent
