#include "server/live/live_view.hpp"

#include <algorithm>
#include <utility>

#include "domain/host_ranges.hpp"

namespace muster::server {

void LiveView::Forget() {
  base::Lock lock(mutex_);
  hosts_.clear();
  by_name_.clear();
  ++roster_;
  revoked_.clear();
  runs_.clear();
  ended_.clear();
  of_trigger_.clear();
  logs_open_.clear();
}

void LiveView::Take(std::vector<engine::News> news) {
  {
    base::Lock lock(mutex_);
    // Ended runs stay until the next news, so that whoever is told of the end still finds them
    // here.
    for (const auto id : std::exchange(ended_, {})) runs_.erase(id);
    for (const auto& one : news)
      std::visit([this](const auto& item) REQUIRES(mutex_) { TakeOne(item); }, one);
  }
  if (watcher_) watcher_(news);
}

void LiveView::TakeOne(const engine::RunNews& news) {
  if (news.logs_open == 0)
    logs_open_.erase(news.run);
  else
    logs_open_[news.run] = news.logs_open;
  auto found = runs_.find(news.run);
  if (news.is_new) {
    found = runs_.insert_or_assign(news.run, RunView{}).first;
    found->second.states.assign(news.targets->size(),
                                static_cast<std::uint8_t>(TaskState::kWaiting));
    found->second.targets = news.targets;
  }
  if (found == runs_.end()) return;
  RunView& view = found->second;
  if (news.whole) view.run = news.whole;
  if (news.state != RunState::kCreated) {
    view.state = news.state;
    view.counts = news.counts;
    view.stages = news.stages;
  }
  view.logs_open = news.logs_open;
  view.commit = news.commit;
  CountForTrigger(news.run, view);
  if (IsFinal(view.state) && view.logs_open == 0) ended_.push_back(news.run);
}

void LiveView::TakeOne(const engine::TaskNews& news) {
  const auto run = runs_.find(news.task.run);
  if (run != runs_.end() && news.task.ordinal < run->second.states.size()) {
    auto& state = run->second.states[news.task.ordinal];
    const auto before = static_cast<TaskState>(state);
    state = static_cast<std::uint8_t>(news.state);
    const auto host = hosts_.find(news.task.host);
    const auto out = [](TaskState s) { return s == TaskState::kSent || s == TaskState::kRunning; };
    if (host != hosts_.end()) {
      if (out(news.state) && !out(before)) ++host->second.running;
      if (!out(news.state) && out(before) && host->second.running > 0) --host->second.running;
    }
  }
}

void LiveView::TakeOne(const engine::HostNews& news) {
  if (news.removed) {
    hosts_.erase(news.host.id);
    by_name_.erase(news.host.name);
    ++roster_;
    revoked_.erase(news.host.key);
    return;
  }
  HostView& view = hosts_[news.host.id];
  if (!view.host.name.empty() && view.host.name != news.host.name) by_name_.erase(view.host.name);
  revoked_.erase(view.host.key);
  if (news.host.state == HostState::kRevoked) revoked_.insert(news.host.key);
  view.host = news.host;
  view.online = news.online;
  view.address = news.address;
  if (by_name_.insert_or_assign(news.host.name, news.host.id).second) ++roster_;
}

WallTime LiveView::HostView::LastSeen(Now now) const {
  if (!online || heard == MonoTime{}) return host.last_hello;
  return std::max(host.last_hello, now.wall + -(now.mono - heard));
}

void LiveView::Heard(const std::vector<HeardHost>& hosts) {
  base::Lock lock(mutex_);
  for (const auto& [id, at] : hosts)
    if (const auto found = hosts_.find(id); found != hosts_.end())
      found->second.heard = std::max(found->second.heard, at);
}

std::vector<LiveView::HostView> LiveView::Hosts() const {
  std::vector<HostView> hosts;
  {
    base::Lock lock(mutex_);
    hosts.reserve(hosts_.size());
    for (const auto& [id, view] : hosts_) hosts.push_back(view);
  }
  std::ranges::sort(hosts, [](const HostView& a, const HostView& b) {
    return NaturalLess(a.host.name, b.host.name);
  });
  return hosts;
}

std::optional<LiveView::HostView> LiveView::FindHost(const std::string& name) const {
  base::Lock lock(mutex_);
  const auto id = by_name_.find(name);
  if (id == by_name_.end()) return std::nullopt;
  return hosts_.at(id->second);
}

std::optional<HostId> LiveView::HostIdOf(const std::string& name) const {
  base::Lock lock(mutex_);
  const auto id = by_name_.find(name);
  return id == by_name_.end() ? std::nullopt : std::optional(id->second);
}

std::vector<std::size_t> LiveView::Strangers(const std::vector<Host>& hosts) const {
  std::vector<std::size_t> strangers;
  base::Lock lock(mutex_);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (!by_name_.contains(hosts[i].name)) strangers.push_back(i);
  return strangers;
}

std::uint64_t LiveView::Roster() const {
  base::Lock lock(mutex_);
  return roster_;
}

LiveView::HostCounts LiveView::CountHosts() const {
  base::Lock lock(mutex_);
  HostCounts counts{.all = hosts_.size(), .online = 0};
  for (const auto& [id, view] : hosts_) counts.online += view.online ? 1 : 0;
  return counts;
}

bool LiveView::Revoked(const std::string& key) const {
  base::Lock lock(mutex_);
  return revoked_.contains(key);
}

std::optional<LiveView::RunView> LiveView::FindRun(RunId id, bool with_states) const {
  base::Lock lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) return std::nullopt;
  RunView view;
  view.run = found->second.run;
  view.targets = found->second.targets;
  view.state = found->second.state;
  view.counts = found->second.counts;
  view.stages = found->second.stages;
  view.logs_open = found->second.logs_open;
  view.commit = found->second.commit;
  if (with_states) view.states = found->second.states;
  return view;
}

std::string LiveView::HostNameOf(const TaskKey& task) const {
  base::Lock lock(mutex_);
  const auto run = runs_.find(task.run);
  if (run == runs_.end() || !run->second.targets || task.ordinal >= run->second.targets->size())
    return {};
  return (*run->second.targets)[task.ordinal].name;
}

std::uint32_t LiveView::LogsOpen(RunId id) const {
  base::Lock lock(mutex_);
  const auto found = logs_open_.find(id);
  return found == logs_open_.end() ? 0 : found->second;
}

bool LiveView::IsOpen(RunId id) const {
  base::Lock lock(mutex_);
  const auto found = runs_.find(id);
  return found != runs_.end() && !IsFinal(found->second.state);
}

bool LiveView::HasOpenRun(const std::string& trigger) const {
  base::Lock lock(mutex_);
  return of_trigger_.contains(trigger);
}

// A run that has ended stays here until the next news, and while its output comes.
void LiveView::CountForTrigger(RunId id, const RunView& view) {
  if (!view.run || view.run->trigger.empty()) return;
  if (!IsFinal(view.state)) {
    of_trigger_[view.run->trigger].insert(id);
    return;
  }
  const auto found = of_trigger_.find(view.run->trigger);
  if (found == of_trigger_.end()) return;
  found->second.erase(id);
  if (found->second.empty()) of_trigger_.erase(found);
}

std::vector<RunId> LiveView::OpenRuns() const {
  base::Lock lock(mutex_);
  std::vector<RunId> ids;
  for (const auto& [id, view] : runs_) ids.push_back(id);
  return ids;
}

void LiveView::WithHosts(const UseHosts& use,
                         const std::optional<std::set<std::string>>& names) const {
  base::Lock lock(mutex_);
  std::vector<const Host*> hosts;
  if (names) {
    for (const auto& name : *names)
      if (const auto found = by_name_.find(name); found != by_name_.end())
        hosts.push_back(&hosts_.at(found->second).host);
  } else {
    hosts.reserve(hosts_.size());
    for (const auto& [id, view] : hosts_) hosts.push_back(&view.host);
  }
  use(hosts, [this](HostId id) REQUIRES(mutex_) {
    const auto found = hosts_.find(id);
    return found != hosts_.end() && found->second.online;
  });
}

}  // namespace muster::server
