#include "agent/processes.hpp"

#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "agent/files.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

std::optional<pid_t> ParsePid(std::string_view text) {
  pid_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

std::multimap<pid_t, Process> ByParent() {
  std::multimap<pid_t, Process> processes;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry("/proc", problem), end; entry != end;
       entry.increment(problem)) {
    if (problem) break;
    const auto name = entry->path().filename().string();
    if (!ParsePid(name)) continue;
    const auto line = ReadFile("/proc/" + name + "/stat");
    if (!line) continue;
    if (const auto process = ParseStat(*line)) processes.emplace(process->parent, *process);
  }
  return processes;
}

}  // namespace

std::optional<Process> ParseStat(std::string_view line) {
  const auto open = line.find(" (");
  const auto close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  const auto fields = Split(line.substr(close + 2), ' ');
  if (fields.size() < 3) return {};
  const auto pid = ParsePid(line.substr(0, open));
  const auto parent = ParsePid(fields[1]);
  const auto group = ParsePid(fields[2]);
  if (!pid || !parent || !group) return {};
  return Process{*pid, *parent, *group, fields[0] == "Z" || fields[0] == "X"};
}

std::vector<Process> Descendants(pid_t root) {
  const auto processes = ByParent();
  std::vector<Process> found;
  std::vector<pid_t> parents = {root};
  std::set<pid_t> seen = {root};
  while (!parents.empty()) {
    const auto [first, last] = processes.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      // /proc is not read at one moment, so a reused number could close a circle.
      if (!seen.insert(child->second.pid).second) continue;
      parents.push_back(child->second.pid);
      if (!child->second.zombie) found.push_back(child->second);
    }
  }
  return found;
}

}  // namespace muster::agent
