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

// Proofs over what is on record.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kSlotsPage = 1000;         // rows at a time
constexpr std::size_t kMostTriggers = 500;       // in one answer
constexpr std::uint64_t kMostSlots = 2'000'000;  // in one answer; then it ends after that trigger

Result<std::vector<SlotRecord>> RowsOf(Store& store, const std::string& name,
                                       const SlotFilter& filter) {
  std::vector<SlotRecord> rows;
  std::optional<SlotCursor> before;
  while (true) {
    auto page = store.ListSlots(name, filter, before, kSlotsPage);
    if (!page) return Fail(page.error());
    const bool last = page->size() < kSlotsPage;
    std::ranges::move(*page, std::back_inserter(rows));
    if (last) break;
    before = SlotCursor{.first = rows.back().first, .act = rows.back().act};
  }
  std::ranges::reverse(rows);
  return rows;
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

Result<std::vector<checks::SlotRun>> RunsOf(Store& store, const std::string& name,
                                            const Period& period) {
  std::vector<checks::SlotRun> runs;
  RunId before;
  while (true) {
    RunFilter filter;
    filter.by = ByTrigger(name);
    filter.since = period.since;
    const auto page = store.ListRuns(filter, before, kSlotsPage);
    if (!page) return Fail(page.error());
    for (const auto& run : *page) runs.push_back({run.id, run.slot});
    if (page->size() < kSlotsPage) return runs;
    before = page->back().id;
  }
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

// One request's look-ups; zones are read once.
class SlotChecker {
 public:
  SlotChecker(Services& services, Period period) : services_(services), period_(period) {}

  Result<checks::SlotReport> Check(const Trigger& trigger) {
    Store& store = services_.store;
    const std::string& name = trigger.spec.name;
    // In this order: whatever was decided when the trigger was read, and whatever run there was,
    // is in the rows that are read last.
    auto runs = RunsOf(store, name, period_);
    if (!runs) return Fail(runs.error());
    auto rows = RowsOf(store, name, {.since = period_.since, .until = period_.until});
    if (!rows) return Fail(rows.error());
    checks::SlotHistory history{
        .trigger = trigger,
        .open = trigger.last_run && services_.live.FindRun(trigger.last_run).has_value(),
        .rows = std::move(*rows),
        .runs = std::move(*runs),
        .since = period_.since,
        .until = period_.until,
        .now = services_.clock.Read().wall};
    if (auto added = AddScheduleBefore(store, trigger, period_, history.rows); !added)
      return Fail(added.error());
    return checks::CheckSlots(
        history, {.spec = [&](std::uint32_t version) { return SpecOf(store, name, version); },
                  .zone = [&](const std::string& zone) { return ZoneOf(zone); }});
  }

 private:
  std::shared_ptr<const cron::Zone> ZoneOf(const std::string& name) {
    auto& kept = zones_[name];
    if (kept) return kept;
    auto zone = cron::LoadZone(name);
    if (zone) kept = std::make_shared<const cron::Zone>(std::move(*zone));
    return kept;
  }

  Services& services_;
  Period period_;
  std::map<std::string, std::shared_ptr<const cron::Zone>> zones_;
};

// What several reports say together.
class Sum {
 public:
  void Add(const std::string& trigger, const checks::SlotReport& report, WallTime since) {
    ++triggers_;
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
    if (report.checked_from > since) later_ += 1;
  }
  void AddUnchecked(const std::string& trigger, const Error& error) {
    ++triggers_;
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

// The triggers that are looked at in this answer, by name.
Result<std::vector<Trigger>> TriggersOf(Services& services, const CallPtr& call) {
  const std::string name = call->Query("trigger");
  if (name.empty()) return services.store.ListTriggers(call->Query("cursor"), kMostTriggers);
  const auto found = services.store.FindTrigger(name);
  if (!found) return Fail(found.error());
  if (!found->value)
    return Fail(ErrorCode::kNotFound, "there is no trigger '{}'; see 'muster triggers'", name);
  return std::vector{*found->value};
}

void CheckSlotLedgers(Services& services, const CallPtr& call) {
  const auto period = PeriodOf(call, services.clock.Read().wall);
  if (!period) return call->Fail(period.error());
  const auto triggers = TriggersOf(services, call);
  if (!triggers) return call->Fail(triggers.error());
  SlotChecker checker(services, *period);
  Sum sum;
  json::value next = nullptr;
  if (call->Query("trigger").empty() && triggers->size() == kMostTriggers)
    next = json::string(triggers->back().spec.name);
  for (const auto& trigger : *triggers) {
    const auto report = checker.Check(trigger);
    if (report)
      sum.Add(trigger.spec.name, *report, period->since);
    else
      sum.AddUnchecked(trigger.spec.name, report.error());
    if (!sum.Full() || &trigger == &triggers->back()) continue;
    next = json::string(trigger.spec.name);
    break;
  }
  call->Json(200, std::move(sum).View(*period, std::move(next)));
}

}  // namespace

std::vector<Route> CheckRoutes(Services& services) {
  return {{"GET", "/api/v1/checks/slots", Privilege::kView,
           [&services](const CallPtr& call) { CheckSlotLedgers(services, call); }},
          {"GET", "/api/v1/checks/history", Privilege::kView,
           [&services](const CallPtr& call) { CheckHistory(services, call); }, kOnRecord}};
}

}  // namespace muster::server::api
