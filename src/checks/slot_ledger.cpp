#include "checks/slot_ledger.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "cron/next.hpp"

namespace muster::checks {
namespace {

// How long after its time a slot may be undecided although nothing is in its way.
constexpr Duration kPatience = std::chrono::minutes(5);
constexpr std::uint64_t kTogether = 4096;  // due times between two questions whether to go on
constexpr WallTime kNever{std::numeric_limits<std::int64_t>::max()};

// A time in which one schedule held: its slots are those in (from, to].
struct Reign {
  WallTime from;
  WallTime to;
  TriggerSpec spec;
  WallTime anchor;
};

// Something that should be on record.
struct Due {
  WallTime at;
  bool gap = false;  // a clock change left it out
  std::uint32_t count = 1;
};

WallTime MomentBefore(WallTime time) { return {time.ms - 1}; }

class Checker {
 public:
  Checker(const SlotHistory& history, const SlotSources& sources)
      : history_(history), sources_(sources) {}

  Result<SlotReport> Check() {
    SplitRows();
    if (auto known = FindReigns(); !known) return Fail(known.error());
    CheckOrder();
    for (const auto& reign : reigns_)
      if (auto visited = VisitReign(reign); !visited) return Fail(visited.error());
    while (row_ < ledger_.size()) EndRow();
    EndLost();
    CheckRuns();
    return std::move(report_);
  }

 private:
  void SplitRows() {
    for (const auto& row : history_.rows) {
      if (row.fate == SlotFate::kSchedule)
        schedules_.push_back(&row);
      else if (row.act != 0)
        ++report_.by_hand;
      else
        ledger_.push_back(&row);
    }
    // Rows of several slots reach beyond the period; they are looked at as a whole.
    first_ = history_.since;
    last_ = MomentBefore(history_.until);
    if (ledger_.empty()) return;
    first_ = std::min(first_, ledger_.front()->first);
    last_ = std::max(last_, ledger_.back()->last);
  }

  Result<> FindReigns() {
    const Trigger& trigger = history_.trigger;
    report_.checked_from = history_.since;
    if (schedules_.empty()) {
      const bool over = trigger.complete || trigger.dropped;
      reigns_.push_back(
          {trigger.applied, over ? trigger.mark : kNever, trigger.spec, trigger.applied});
    }
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      const SlotRecord& begin = *schedules_[i];
      if (begin.version == 0) continue;
      const WallTime to = i + 1 < schedules_.size() ? schedules_[i + 1]->first : kNever;
      auto spec = sources_.spec(begin.version);
      if (!spec) return Fail(spec.error());
      spec->name = trigger.spec.name;
      reigns_.push_back({begin.first, to, std::move(*spec), begin.at});
    }
    const WallTime known = schedules_.empty() ? trigger.applied : schedules_.front()->first;
    // What is older was decided under a schedule that is no longer kept.
    while (!ledger_.empty() && ledger_.front()->first <= known) ledger_.erase(ledger_.begin());
    if (known > first_) report_.checked_from = first_ = WallTime{known.ms + 1};
    return {};
  }

  void CheckOrder() {
    for (std::size_t i = 1; i < ledger_.size(); ++i) {
      const SlotRecord& row = *ledger_[i];
      if (row.first <= ledger_[i - 1]->last)
        Find(SlotFinding::Kind::kDoubled, row.first, row.last, row.count,
             "two records cover the same time");
    }
  }

  Result<> VisitReign(const Reign& reign) {
    const TriggerSpec& spec = reign.spec;
    WallTime after = std::max(reign.from, MomentBefore(first_));
    WallTime until = std::min(reign.to, last_);
    if (spec.start) after = std::max(after, MomentBefore(spec.start));
    if (spec.end) until = std::min(until, MomentBefore(spec.end));
    if (after >= until) return {};
    if (spec.once) {
      if (spec.once > after && spec.once <= until) Take({.at = spec.once});
      return {};
    }
    const auto zone = sources_.zone(spec.tz);
    if (!zone) return Fail(ErrorCode::kNotFound, "there is no time zone '{}' here", spec.tz);
    const std::string text =
        spec.cron.empty() ? fmt::format("@every {}s", spec.every.count() / 1000) : spec.cron;
    const WallTime anchor =
        spec.start ? spec.start : (spec.cron.empty() ? reign.anchor : WallTime{});
    const auto schedule = cron::Parse(text, {.seed = spec.name,
                                             .both_days = spec.both_days,
                                             .gap = spec.gap,
                                             .fold = spec.fold,
                                             .anchor = anchor});
    if (!schedule) return Fail(cron::ToError(text, schedule.error()));
    Result<> ok;
    cron::VisitSlots(*schedule, *zone, after, until, [this, after, &ok](const cron::Slot& slot) {
      if (++visited_ % kTogether == 0 && sources_.go_on && !(ok = sources_.go_on())) return false;
      if (slot.kind == cron::SlotKind::kFold) return true;
      const bool gap = slot.kind == cron::SlotKind::kGap;
      const WallTime at = gap ? MomentBefore(slot.at) : slot.at;
      if (at > after) Take({.at = at, .gap = gap, .count = gap ? slot.count : 1});
      return true;
    });
    return ok;
  }

  // Due times come in order, and so do the rows.
  void Take(const Due& due) {
    while (row_ < ledger_.size() && ledger_[row_]->last < due.at) EndRow();
    if (!due.gap) ++report_.due;
    if (row_ < ledger_.size() && ledger_[row_]->first <= due.at &&
        (ledger_[row_]->why == why::kGap) == due.gap) {
      covered_ += due.count;
      return EndLost();
    }
    if (due.at <= history_.trigger.mark) return Lose(due);
    if (due.gap) return;
    ++report_.waiting;
    if (IsOverdue(due.at)) Lose(due);
  }

  void EndRow() {
    const SlotRecord& row = *ledger_[row_++];
    const std::uint64_t covered = std::exchange(covered_, 0);
    if (row.fate == SlotFate::kStarted)
      ++(row.asked ? report_.asked : report_.started);
    else if (row.asked)
      ++report_.asked;
    else
      report_.skipped[row.why] += row.count;
    if (row.asked || covered == row.count) return;
    if (covered < row.count)
      Find(SlotFinding::Kind::kStray, row.first, row.last, row.count - covered,
           fmt::format("{} on record as {}, and {} due then", row.count,
                       row.fate == SlotFate::kStarted ? "started" : row.why,
                       covered == 0 ? "none was" : fmt::format("only {} were", covered)));
    else
      Find(SlotFinding::Kind::kLost, row.first, row.last, covered - row.count,
           fmt::format("{} were due then, and {} are on record", covered, row.count));
  }

  bool IsOverdue(WallTime slot) const {
    const Trigger& trigger = history_.trigger;
    const bool held = trigger.paused || trigger.failed || trigger.complete || trigger.dropped ||
                      trigger.settling || trigger.retry_at || history_.open;
    return !held && slot + trigger.spec.jitter + kPatience < history_.now;
  }

  // Neighbours are one finding.
  void Lose(const Due& due) {
    const auto kind =
        due.at <= history_.trigger.mark ? SlotFinding::Kind::kLost : SlotFinding::Kind::kOverdue;
    if (lost_ && lost_->kind != kind) EndLost();
    if (!lost_)
      lost_ =
          SlotFinding{kind, due.at, due.at, 0,
                      kind == SlotFinding::Kind::kLost ? "due, and not on record"
                                                       : "due for long, and nothing is in the way"};
    lost_->last = due.at;
    lost_->count += due.count;
  }
  void EndLost() {
    if (!lost_) return;
    Find(lost_->kind, lost_->first, lost_->last, lost_->count, std::move(lost_->text));
    lost_.reset();
  }

  // A slot has one row, which names one run: a second run for it has no row.
  void CheckRuns() {
    std::set<RunId> named;
    for (const auto& row : history_.rows)
      if (row.run) named.insert(row.run);
    for (const auto& run : history_.runs)
      if (run.slot >= history_.since && run.slot < history_.until && run.slot >= first_ &&
          !named.contains(run.run))
        Find(SlotFinding::Kind::kDoubled, run.slot, run.slot, 1,
             fmt::format("run {} was started for it, and its record does not name that run",
                         FormatRunId(run.run)));
  }

  void Find(SlotFinding::Kind kind, WallTime first, WallTime last, std::uint64_t count,
            std::string text) {
    if (report_.findings.size() < kMostFindings)
      report_.findings.push_back({kind, first, last, count, std::move(text)});
    else
      ++report_.more_findings;
  }

  const SlotHistory& history_;
  const SlotSources& sources_;
  SlotReport report_;
  std::vector<const SlotRecord*> schedules_;
  std::vector<const SlotRecord*> ledger_;  // of the schedule
  std::vector<Reign> reigns_;
  WallTime first_;
  WallTime last_;
  std::uint64_t visited_ = 0;  // due times, and those that a clock change repeats
  std::size_t row_ = 0;        // in ledger_, the one that is looked at
  std::uint64_t covered_ = 0;  // due times in it so far
  std::optional<SlotFinding> lost_;
};

}  // namespace

std::string_view Name(SlotFinding::Kind kind) noexcept {
  switch (kind) {
    case SlotFinding::Kind::kDoubled:
      return "doubled";
    case SlotFinding::Kind::kLost:
      return "lost";
    case SlotFinding::Kind::kStray:
      return "stray";
    case SlotFinding::Kind::kOverdue:
      return "overdue";
  }
  return "";
}

Result<SlotReport> CheckSlots(const SlotHistory& history, const SlotSources& sources) {
  return Checker(history, sources).Check();
}

}  // namespace muster::checks
