#include "cli/stage_progress.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostNamed = 3;     // stages side by side
constexpr double kLeastShare = 0.05;      // done, before an estimate is made of it
constexpr Duration kLeastElapsed{5'000};  // likewise

bool IsUnderWay(const json::value& stage) {
  const auto state = TextOf(stage, "state");
  return state == "running" || state == "paused" || state == "awaiting_approval";
}

// Of the hosts, as far as batches before the current one and ended tasks tell.
double ShareOf(const json::value& stage) {
  const auto hosts = static_cast<double>(NumberOf(stage, "hosts"));
  if (hosts <= 0) return 0;
  if (NumberOf(stage, "batches") > 0) return NumberOf(stage, "hosts_before") / hosts;
  return static_cast<double>(CountsOf(FieldOf(stage, "counts")).Ended()) / hosts;
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

// Nothing while nobody can know.
std::optional<Duration> LeftOf(const json::value& stage, WallTime now) {
  const auto started = ParseTime(TextOf(stage, "started"));
  const double share = ShareOf(stage);
  if (!started || TextOf(stage, "state") != "running" || share < kLeastShare || share >= 1)
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

std::string StagesText(const json::value& summary, WallTime now) {
  const auto stages = ListOf(summary, "stages");
  std::size_t ended = 0;
  std::string names;
  std::set<std::string> named;  // a stage with batches and what it does on hosts have one name
  std::optional<Duration> left;
  for (const auto& stage : stages) {
    if (const auto state = TextOf(stage, "state"); state != "waiting" && !IsUnderWay(stage))
      ++ended;
    if (!IsUnderWay(stage)) continue;
    if (const auto time = LeftOf(stage, now); time && (!left || *time > *left)) left = time;
    const auto name = LineOf(stage, "name");
    if (!named.insert(name).second || named.size() > kMostNamed) continue;
    names += fmt::format("{}{}{}{}", names.empty() ? "" : " and ", name, BatchText(stage),
                         StateText(stage));
  }
  if (names.empty()) return {};
  if (const auto& rest = FieldOf(summary, "stages_left_out"); rest.is_object())
    for (const auto& item : rest.get_object())
      if (item.key() != "waiting" && item.value().is_int64())
        ended += static_cast<std::size_t>(item.value().get_int64());
  std::string text;
  if (const auto total = NumberOf(summary, "stages_total"); total > 1)
    text = fmt::format("stage {} of {}: ",
                       std::min<std::int64_t>(static_cast<std::int64_t>(ended) + 1, total), total);
  text += names;
  if (const auto created = ParseTime(TextOf(summary, "created")))
    text += " · " + Roughly(std::max(Duration(0), now - created));
  if (left) text += fmt::format(", about {} left", Roughly(*left));
  return text;
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
