#include "agent/shim/processes.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <system_error>

#include "agent/files.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t kHeldAtOnce = 256;   // descriptors
constexpr std::size_t kStartedField = 19;  // after the state

template <typename Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number = 0;
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
    if (!ParseWhole<pid_t>(name)) continue;
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
  const auto pid = ParseWhole<pid_t>(line.substr(0, open));
  const auto parent = ParseWhole<pid_t>(fields[1]);
  const auto group = ParseWhole<pid_t>(fields[2]);
  if (!pid || !parent || !group) return {};
  Process process{*pid, *parent, *group, fields[0] == "Z" || fields[0] == "X"};
  if (fields.size() > kStartedField)
    process.started = ParseWhole<std::uint64_t>(fields[kStartedField]).value_or(0);
  return process;
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

void EachHeld(const std::function<std::vector<Process>()>& find,
              const std::function<void(const Process&, const ProcessHandle&)>& act) {
  const auto found = find();
  for (std::size_t from = 0; from < found.size(); from += kHeldAtOnce) {
    const auto batch = std::span(found).subspan(from, std::min(kHeldAtOnce, found.size() - from));
    std::vector<ProcessHandle> handles;
    for (const auto& process : batch) handles.push_back(ProcessHandle::Hold(process.pid));
    std::map<pid_t, std::uint64_t> still;
    for (const auto& process : find()) still.emplace(process.pid, process.started);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto again = still.find(batch[i].pid);
      if (handles[i] && again != still.end() && again->second == batch[i].started)
        act(batch[i], handles[i]);
    }
  }
}

void EachDescendant(pid_t root,
                    const std::function<void(const Process&, const ProcessHandle&)>& act) {
  EachHeld([root] { return Descendants(root); }, act);
}

}  // namespace muster::agent
