#include "server/auth/failure_watch.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace muster::server {
namespace {

constexpr std::chrono::minutes kLineEvery(1);
constexpr const char* kOthers = "others";

}  // namespace

FailureWatch::FailureWatch(Settings settings, Log log)
    : settings_(settings), log_(std::move(log)) {}

FailureWatch::Entry& FailureWatch::EntryOf(std::string_view source, MonoTime now,
                                           std::string& name) {
  name = source;
  auto found = entries_.find(name);
  if (found == entries_.end() && entries_.size() >= settings_.most_sources) {
    name = kOthers;
    found = entries_.find(name);
  }
  if (found != entries_.end()) return found->second;
  const double burst = std::max(1U, settings_.per_minute);
  return entries_.emplace(name, Entry{Allowance(burst, burst / 60.0, now), {}, now}).first->second;
}

std::string FailureWatch::TakeLine(const std::string& name, Entry& entry, MonoTime now) {
  if (now < entry.next_line || entry.untold == std::array<std::uint64_t, kFailures>{}) return {};
  const auto untold = std::exchange(entry.untold, {});
  entry.next_line = now + kLineEvery;
  return fmt::format("not let in source={} tokens={} joins={} links={}", name, untold[0], untold[1],
                     untold[2]);
}

std::optional<std::chrono::seconds> FailureWatch::Failed(std::string_view source, Failure kind,
                                                         MonoTime now) {
  std::string line;
  std::optional<std::chrono::seconds> wait;
  {
    base::Lock lock(mutex_);
    std::string name;
    Entry& entry = EntryOf(source, now, name);
    ++entry.untold[static_cast<std::size_t>(kind)];
    ++totals_[static_cast<std::size_t>(kind)];
    if (!entry.allowance.Take(1, now))
      wait = std::chrono::ceil<std::chrono::seconds>(entry.allowance.Until(1));
    line = TakeLine(name, entry, now);
  }
  if (!line.empty()) log_(line);
  return wait;
}

void FailureWatch::Sweep(MonoTime now) {
  std::vector<std::string> lines;
  {
    base::Lock lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (auto line = TakeLine(it->first, it->second, now); !line.empty())
        lines.push_back(std::move(line));
      const bool quiet = now >= it->second.next_line && it->second.allowance.Full(now);
      it = quiet ? entries_.erase(it) : std::next(it);
    }
  }
  for (const auto& line : lines) log_(line);
}

std::size_t FailureWatch::Sources() const {
  base::Lock lock(mutex_);
  return entries_.size();
}

std::uint64_t FailureWatch::Total(Failure kind) const {
  base::Lock lock(mutex_);
  return totals_[static_cast<std::size_t>(kind)];
}

}  // namespace muster::server
