#include <algorithm>
#include <map>
#include <memory>

#include <boost/json.hpp>

#include "checks/slot_ledger.hpp"
#include "documents/documents.hpp"
#include "server/api/caller.hpp"
#include "server/api/check_period.hpp"
#include "server/api/check_routes.hpp"
#include "server/api/fields.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/planning/known_names.hpp"

// Proofs over what is on record.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kSlotsPage = 1000;         // rows at a time
constexpr std::size_t kSlotRunsPage = 100;       // a run may have 1,000 stages
constexpr std::size_t kPieceRows = 20'000;       // of a trigger, compared at a time
constexpr std::size_t kMostTriggers = 500;       // in one answer
constexpr std::uint64_t kMostSlots = 2'000'000;  // in one answer; then it ends

// Where an answer begins.
struct SlotsCursor {
  std::string after;   // the triggers that follow this one by name
  std::string inside;  // before them this one, when it is set,
  WallTime until;      // up to this time
};

Result<SlotsCursor> ReadSlotsCursor(const std::string& text) {
  const auto at = text.rfind('@');
  if (at == std::string::npos) return SlotsCursor{.after = text, .inside = {}, .until = {}};
  const std::string name = text.substr(0, at);
  const WallTime until = ParseTime(text.substr(at + 1));
  if (!until || name.empty())
    return Fail(ErrorCode::kInvalid, "cursor: use the 'next' of the page before");
  return SlotsCursor{.after = name, .inside = name, .until = until};
}

// Rows of a trigger, oldest first; all that the period has at or after `since`.
struct LedgerPiece {
  WallTime since;
  std::vector<SlotRecord> rows;
};

// The latest rows of a period: all of them, or kPieceRows and as many more as it takes to end where
// no row and no time is on both sides.
Result<LedgerPiece> LatestPiece(Store& store, const std::string& name, const Period& period) {
  const SlotFilter filter{.since = period.since, .until = period.until};
  LedgerPiece piece{.since = period.since, .rows = {}};
  std::optional<SlotCursor> before;
  WallTime earliest = period.until;
  while (true) {
    auto page = store.ListSlots(name, filter, before, kSlotsPage);
    if (!page) return Fail(page.error());
    for (auto& row : *page) {
      if (piece.rows.size() >= kPieceRows && row.last < earliest) {
        piece.since = earliest;
        std::ranges::reverse(piece.rows);
        return piece;
      }
      earliest = std::min(earliest, row.first);
      before = SlotCursor{.first = row.first, .act = row.act};
      piece.rows.push_back(std::move(row));
    }
    if (page->size() < kSlotsPage) break;
  }
  std::ranges::reverse(piece.rows);
  return piece;
}

// What held when the period began is told by the last schedule before it, unless nothing changed
// since.
Result<> AddScheduleBefore(Store& store, const Trigger& trigger, const Period& period,
                           std::vector<SlotRecord>& rows) {
  const bool changed = std::ranges::any_of(
      rows, [](const SlotRecord& row) { return row.fate == SlotFate::kSchedule; });
  if (!changed && !trigger.complete && !trigger.dropped && trigger.applied <= period.since)
    return {};
  auto before = store.ListSlots(trigger.spec.name,
                                {.since = {}, .until = period.since, .fate = SlotFate::kSchedule},
                                std::nullopt, 1);
  if (!before) return Fail(before.error());
  if (!before->empty()) rows.insert(rows.begin(), std::move(before->front()));
  return {};
}

// By slot.
Result<std::vector<checks::SlotRun>> RunsOf(Store& store, const std::string& name,
                                            const Period& period, const Call& call) {
  std::vector<checks::SlotRun> runs;
  RunId before;
  while (true) {
    RunFilter filter;
    filter.by = ByTrigger(name);
    filter.since = period.since;
    const auto page = store.ListRuns(filter, before, kSlotRunsPage);
    if (!page) return Fail(page.error());
    for (const auto& run : *page) runs.push_back({run.id, run.slot});
    if (page->size() < kSlotRunsPage) break;
    before = page->back().id;
    if (const auto on = call.GoesOn(); !on) return Fail(on.error());
  }
  std::ranges::sort(
      runs, {}, [](const checks::SlotRun& run) { return std::pair(run.slot.ms, run.run.value); });
  return runs;
}

std::vector<checks::SlotRun> RunsIn(const std::vector<checks::SlotRun>& runs,
                                    const Period& period) {
  const auto slot = [](const checks::SlotRun& run) { return run.slot.ms; };
  return {std::ranges::lower_bound(runs, period.since.ms, {}, slot),
          std::ranges::lower_bound(runs, period.until.ms, {}, slot)};
}

Result<TriggerSpec> SpecOf(Store& store, const std::string& name, std::uint32_t version) {
  const auto found = store.FindDocument("trigger", name, version);
  if (!found) return Fail(found.error());
  if (!*found)
    return Fail(ErrorCode::kNotFound, "version {} of trigger '{}' is not kept", version, name);
  const documents::Source source{.file = name, .text = (*found)->text};
  auto read = documents::ReadAll({&source, 1}, {});
  if (!read) return Fail(read.error());
  return std::get<documents::TriggerDocument>(read->front().body).spec;
}

// What several reports say together.
class Sum {
 public:
  void AddTrigger() { ++triggers_; }
  // Of one piece of a trigger.
  void Add(const std::string& trigger, const checks::SlotReport& report) {
    due_ += report.due;
    started_ += report.started;
    waiting_ += report.waiting;
    asked_ += report.asked;
    by_hand_ += report.by_hand;
    for (const auto& [why, count] : report.skipped) skipped_[why] += count;
    for (const auto& finding : report.findings)
      findings_.push_back(json::object{{"trigger", trigger},
                                       {"kind", checks::Name(finding.kind)},
                                       {"first", TimeView(finding.first)},
                                       {"last", TimeView(finding.last)},
                                       {"count", finding.count},
                                       {"text", finding.text}});
    more_ += report.more_findings;
  }
  void AddNewer() { ++later_; }
  void AddUnchecked(const std::string& trigger, const Error& error) {
    unchecked_.push_back(json::object{{"trigger", trigger}, {"error", error.message}});
  }
  bool Full() const { return due_ >= kMostSlots || findings_.size() >= checks::kMostFindings; }

  json::object View(const Period& period, json::value next) && {
    json::object skipped;
    for (const auto& [why, count] : skipped_) skipped[why] = count;
    return {{"since", TimeView(period.since)},
            {"until", TimeView(period.until)},
            {"triggers", triggers_},
            {"due", due_},
            {"started", started_},
            {"skipped", std::move(skipped)},
            {"waiting", waiting_},
            {"asked", asked_},
            {"by_hand", by_hand_},
            {"newer", later_},
            {"findings", std::move(findings_)},
            {"more_findings", more_},
            {"unchecked", std::move(unchecked_)},
            {"next", std::move(next)}};
  }

 private:
  std::uint64_t triggers_ = 0;
  std::uint64_t due_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t by_hand_ = 0;
  std::uint64_t later_ = 0;
  std::uint64_t more_ = 0;
  std::map<std::string, std::uint64_t> skipped_;
  json::array findings_;
  json::array unchecked_;
};

// One request's look-ups; zones are read once.
class SlotChecker {
 public:
  SlotChecker(Services& services, const Call& call, Period period)
      : services_(services), call_(call), period_(period) {}

  // Compares what is due before `until`, a piece of the ledger at a time, the latest first. Gives
  // where it ended, because the answer is full, or `since` of the period.
  Result<WallTime> Check(const Trigger& trigger, WallTime until, Sum& sum) {
    // In this order: whatever was decided when the trigger was read, and whatever run there was,
    // is in the rows that are read last.
    const auto runs = RunsOf(services_.store, trigger.spec.name, period_, call_);
    if (!runs) return Fail(runs.error());
    while (until > period_.since) {
      auto piece = LatestPiece(services_.store, trigger.spec.name, {period_.since, until});
      if (!piece) return Fail(piece.error());
      const Period covered{piece->since, until};
      const auto report = CheckPiece(trigger, covered, std::move(piece->rows), *runs);
      if (!report) return Fail(report.error());
      sum.Add(trigger.spec.name, *report);
      if (covered.since == period_.since && report->checked_from > period_.since) sum.AddNewer();
      until = covered.since;
      if (sum.Full()) break;
      if (const auto on = call_.GoesOn(); !on) return Fail(on.error());
    }
    return until;
  }

 private:
  Result<checks::SlotReport> CheckPiece(const Trigger& trigger, const Period& covered,
                                        std::vector<SlotRecord> rows,
                                        const std::vector<checks::SlotRun>& runs) {
    Store& store = services_.store;
    const std::string& name = trigger.spec.name;
    checks::SlotHistory history{.trigger = trigger,
                                .open = services_.live.IsOpen(trigger.last_run),
                                .rows = std::move(rows),
                                .runs = RunsIn(runs, covered),
                                .since = covered.since,
                                .until = covered.until,
                                .now = services_.clock.Read().wall};
    if (auto added = AddScheduleBefore(store, trigger, covered, history.rows); !added)
      return Fail(added.error());
    return checks::CheckSlots(
        history, {.spec = [&](std::uint32_t version) { return SpecOf(store, name, version); },
                  .zone = [&](const std::string& zone) { return ZoneOf(zone); },
                  .go_on = [&] { return call_.GoesOn(); }});
  }

  std::shared_ptr<const cron::Zone> ZoneOf(const std::string& name) {
    auto& kept = zones_[name];
    if (kept) return kept;
    auto zone = cron::LoadZone(name);
    if (zone) kept = std::make_shared<const cron::Zone>(std::move(*zone));
    return kept;
  }

  Services& services_;
  const Call& call_;
  Period period_;
  std::map<std::string, std::shared_ptr<const cron::Zone>> zones_;
};

// The triggers that are looked at in this answer, by name.
Result<std::vector<Trigger>> TriggersOf(Services& services, const std::string& name,
                                        const SlotsCursor& cursor) {
  const std::string& first = name.empty() ? cursor.inside : name;
  std::vector<Trigger> triggers;
  if (!first.empty()) {
    const auto found = services.store.FindTrigger(first);
    if (!found) return Fail(found.error());
    if (!found->value && !name.empty())
      return Fail(ErrorCode::kNotFound, "there is no trigger '{}'{}; see 'muster triggers'", name,
                  DidYouMean(services.store, kTriggerKind, name));
    if (found->value) triggers.push_back(*found->value);
  }
  if (!name.empty()) return triggers;
  auto more = services.store.ListTriggers(cursor.after, kMostTriggers);
  if (!more) return Fail(more.error());
  std::ranges::move(*more, std::back_inserter(triggers));
  return triggers;
}

Result<json::object> CheckSomeSlots(Services& services, const Call& call) {
  const auto period = PeriodOf(call, services.clock.Read().wall);
  if (!period) return Fail(period.error());
  const auto cursor = ReadSlotsCursor(call.Query("cursor"));
  if (!cursor) return Fail(cursor.error());
  const std::string& only = call.Query("trigger");
  const auto triggers = TriggersOf(services, only, *cursor);
  if (!triggers) return Fail(triggers.error());
  SlotChecker checker(services, call, *period);
  Sum sum;
  for (const auto& trigger : *triggers) {
    const std::string& name = trigger.spec.name;
    const bool begun = name == cursor->inside;
    if (!begun) sum.AddTrigger();
    const auto ended =
        checker.Check(trigger, begun ? std::min(cursor->until, period->until) : period->until, sum);
    if (const auto on = call.GoesOn(); !on) return Fail(on.error());
    if (!ended) sum.AddUnchecked(name, ended.error());
    if (ended && *ended > period->since)
      return std::move(sum).View(*period,
                                 json::string(fmt::format("{}@{}", name, FormatTime(*ended))));
    if (sum.Full() && &trigger != &triggers->back())
      return std::move(sum).View(*period, json::string(name));
  }
  if (only.empty() && triggers->size() >= kMostTriggers)
    return std::move(sum).View(*period, json::string(triggers->back().spec.name));
  return std::move(sum).View(*period, nullptr);
}

void CheckSlotLedgers(Services& services, const CallPtr& call) {
  auto view = CheckSomeSlots(services, *call);
  if (!view) return call->Fail(view.error());
  call->Json(200, std::move(*view));
}

}  // namespace

std::vector<Route> CheckRoutes(Services& services) {
  return {{"GET", "/api/v1/checks/slots", Privilege::kView,
           [&services](const CallPtr& call) { CheckSlotLedgers(services, call); }},
          {"GET", "/api/v1/checks/history", Privilege::kView,
           [&services](const CallPtr& call) { CheckHistory(services, call); }, kOnRecord}};
}

}  // namespace muster::server::api
