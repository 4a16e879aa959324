#include "cli/runs/stage_progress.hpp"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/runs/report.hpp"
#include "cli/terminal/output.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostNamed = 3;      // stages side by side
constexpr double kLeastShare = 0.05;       // done, before an estimate is made of it
constexpr std::uint64_t kLeastEnded = 10;  // hosts: few that end far apart say little
constexpr Duration kLeastElapsed{5'000};   // likewise

bool IsUnderWay(const json::value& stage) {
  const auto state = TextOf(stage, "state");
  return state == "running" || state == "paused" || state == "awaiting_approval";
}

// Of the hosts of a stage without batches.
double EndedShare(const json::value& stage) {
  const auto hosts = static_cast<double>(NumberOf(stage, "hosts"));
  const auto ended = CountsOf(FieldOf(stage, "counts")).Ended();
  return hosts <= 0 || ended < kLeastEnded ? 0 : static_cast<double>(ended) / hosts;
}

std::string BatchText(const json::value& stage) {
  const auto batch = NumberOf(stage, "batch");
  if (batch <= 0) return {};
  const auto batches = NumberOf(stage, "batches");
  return batches > 0 ? fmt::format(", batch {} of {}", batch, batches)
                     : fmt::format(", batch {}", batch);
}

std::string StateText(const json::value& stage) {
  const auto state = TextOf(stage, "state");
  if (state == "paused") return " (paused)";
  return state == "awaiting_approval" ? " (waits for an approval)" : "";
}

// Nothing while nobody can know. Stages inside another come again and again: that one's batches
// tell.
std::optional<Duration> LeftOf(const json::value& stage, const BatchPace& pace, WallTime now) {
  if (TextOf(stage, "state") != "running" || !TextOf(stage, "parent").empty()) return std::nullopt;
  if (NumberOf(stage, "batch") > 0) return pace.Left(stage, now);
  const auto started = ParseTime(TextOf(stage, "started"));
  const double share = EndedShare(stage);
  if (!started || NumberOf(stage, "visits") > 1 || share < kLeastShare || share >= 1)
    return std::nullopt;
  const auto elapsed = static_cast<double>((now - started).count());
  if (elapsed < static_cast<double>(kLeastElapsed.count())) return std::nullopt;
  return Duration(static_cast<std::int64_t>(elapsed * (1 - share) / share));
}

// To the second: a tenth more or less says nothing here.
std::string Roughly(Duration time) {
  return Lasted(std::chrono::round<std::chrono::seconds>(time));
}

// How many columns fit; the text is what this program wrote, with characters of one column.
std::string CutColumns(const std::string& text, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && columns++ == width) return text.substr(0, i);
  }
  return text;
}

}  // namespace

void BatchPace::See(const json::value& summary, WallTime now) {
  for (const auto& stage : ListOf(summary, "stages"))
    if (NumberOf(stage, "batch") > 0) SeeStage(stage, now);
}

void BatchPace::SeeStage(const json::value& stage, WallTime now) {
  const auto [place, first] = stages_.try_emplace(TextOf(stage, "name"));
  Seen& seen = place->second;
  const auto batch = NumberOf(stage, "batch");
  const auto visits = NumberOf(stage, "visits");
  const auto hosts_before = NumberOf(stage, "hosts_before");
  if (first || visits != seen.visits || batch < seen.batch) {
    seen = {.visits = visits, .batch = batch, .hosts_before = hosts_before};
    if (batch == 1) seen.began = ParseTime(TextOf(stage, "started"));
    return;
  }
  if (batch == seen.batch) return;
  if (seen.began) {
    seen.took += std::max(Duration(0), now - seen.began);
    seen.hosts += std::max<std::int64_t>(0, hosts_before - seen.hosts_before);
  }
  seen.batch = batch;
  seen.began = now;
  seen.hosts_before = hosts_before;
}

std::optional<Duration> BatchPace::Left(const json::value& stage, WallTime now) const {
  const auto found = stages_.find(TextOf(stage, "name"));
  if (found == stages_.end()) return std::nullopt;
  const Seen& seen = found->second;
  const auto hosts = NumberOf(stage, "hosts") - seen.hosts_before;
  if (seen.hosts == 0 || hosts <= 0 || seen.batch != NumberOf(stage, "batch")) return std::nullopt;
  const auto time = static_cast<double>(seen.took.count()) / static_cast<double>(seen.hosts) *
                    static_cast<double>(hosts);
  return std::max(Duration(0), Duration(static_cast<std::int64_t>(time)) - (now - seen.began));
}

std::string StagesText(const json::value& summary, const BatchPace& pace, WallTime now) {
  std::size_t named = 0;
  std::string names;
  std::optional<Duration> left;
  for (const auto& stage : ListOf(summary, "stages")) {
    if (!IsUnderWay(stage)) continue;
    if (const auto time = LeftOf(stage, pace, now); time && (!left || *time > *left)) left = time;
    const auto name = LineOf(stage, "name");
    if (++named > kMostNamed) continue;
    names += fmt::format("{}{}{}{}", names.empty() ? "" : " and ", name, BatchText(stage),
                         StateText(stage));
  }
  if (names.empty()) return {};
  std::string text;
  const auto& outer = FieldOf(summary, "outer");
  if (const auto total = NumberOf(outer, "total"); total > 1)
    text = fmt::format("stage {} of {}: ", std::min(NumberOf(outer, "ended") + 1, total), total);
  text += names;
  if (const auto created = ParseTime(TextOf(summary, "created")))
    text += " · " + Roughly(std::max(Duration(0), now - created));
  if (left) text += fmt::format(", about {} left", Roughly(*left));
  return text;
}

std::string StageCell(const json::array& stages, const json::value& stage) {
  std::string indent;
  auto parent = TextOf(stage, "parent");
  while (!parent.empty() && indent.size() < 2 * stages.size()) {
    indent += "  ";
    const auto holder = std::ranges::find_if(
        stages, [&](const json::value& other) { return TextOf(other, "name") == parent; });
    parent = holder == stages.end() ? "" : TextOf(*holder, "parent");
  }
  return indent + TextOf(stage, "name");
}

std::string StageCountsText(const json::value& stage) {
  const auto counts = CountsText(CountsOf(FieldOf(stage, "counts")));
  const auto visits = NumberOf(stage, "visits");
  if (counts.empty()) return {};
  if (visits > 0 && TextOf(stage, "state") == "skipped") return "earlier: " + counts;
  return visits > 1 ? fmt::format("{} visits: {}", visits, counts) : counts;
}

std::string JobBar(const TaskCounts& counts, std::uint64_t hosts, const std::string& stages,
                   std::size_t width) {
  constexpr std::size_t kBar = 20;
  const std::uint64_t ended = counts.Ended();
  const std::size_t full = hosts == 0 ? 0 : std::min<std::uint64_t>(kBar, ended * kBar / hosts);
  return CutColumns(fmt::format("[{}{}] {} of {} · {} · {}", std::string(full, '#'),
                                std::string(kBar - full, '-'), Count(ended), Count(hosts), stages,
                                CountsText(counts)),
                    width);
}

}  // namespace muster::cli
