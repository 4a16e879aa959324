#include <charconv>

#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "engine/triggers/timetable.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/frozen.hpp"
#include "server/api/routes.hpp"
#include "server/api/starting.hpp"
#include "server/api/views.hpp"
#include "server/planning/known_names.hpp"
#include "server/planning/slot_planner.hpp"

// Triggers and what became of their slots.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kUpcoming = 5;

json::object ScheduleView(const TriggerSpec& spec) {
  if (spec.once) return {{"once", TimeView(spec.once)}};
  if (spec.every > Duration::zero()) return {{"every", FormatDuration(spec.every)}};
  return {{"cron", spec.cron}, {"tz", spec.tz}};
}

json::object TriggerView(const Trigger& trigger, TriggerState state) {
  json::object data;
  for (const auto& [name, value] : trigger.data) data[name] = value;
  return {
      {"name", trigger.spec.name},
      {"state", Name(state)},
      {"version", trigger.version},
      {"job", trigger.spec.job},
      {"schedule", ScheduleView(trigger.spec)},
      {"missed", Name(trigger.spec.missed)},
      {"overlap", Name(trigger.spec.overlap)},
      {"next", TimeView(trigger.next)},
      {"mark", TimeView(trigger.mark)},
      {"paused_by", trigger.paused_by},
      {"reason", trigger.reason},
      {"error", trigger.error},
      {"status", trigger.status},
      {"data", std::move(data)},
      {"started", trigger.started},
      {"skipped", trigger.skipped},
      {"last_run", trigger.last_run ? json::value(FormatRunId(trigger.last_run)) : json::value()},
      {"last_slot", TimeView(trigger.last_slot)}};
}

TriggerState StateNow(const Services& services, const Trigger& trigger) {
  return StateOf(trigger, services.live.HasOpenRun(trigger.spec.name));
}

std::string_view ResultOf(const SlotRecord& slot) {
  if (slot.fate == SlotFate::kSchedule) return "schedule";
  return slot.fate == SlotFate::kStarted ? "started" : "skipped";
}

json::object SlotView(const SlotRecord& slot) {
  return {{"first", TimeView(slot.first)},
          {"last", TimeView(slot.last)},
          {"count", slot.count},
          {"result", ResultOf(slot)},
          {"why", slot.why},
          {"detail", slot.detail},
          {"run", slot.run ? json::value(FormatRunId(slot.run)) : json::value()},
          {"by_hand", slot.act != 0 && slot.fate != SlotFate::kSchedule},
          {"asked", slot.asked},
          {"version", slot.version},
          {"at", TimeView(slot.at)},
          {"commit", slot.commit.value}};
}

Error NoSuch(Services& services, const std::string& name) {
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no trigger '{}'{}; see 'muster triggers'", name,
                           DidYouMean(services.store, kTriggerKind, name))};
}

// The call's trigger, or answers why not.
std::optional<ReadAt<std::optional<Trigger>>> Find(Services& services, const CallPtr& call) {
  auto known = services.store.FindTrigger(call->Part("name"));
  if (known && known->value && !known->value->dropped) return std::move(*known);
  call->Fail(known ? NoSuch(services, call->Part("name")) : known.error());
  return std::nullopt;
}

void ListTriggers(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 100, 1, 1000);
  if (!limit) return call->Fail(limit.error());
  const auto page = services.store.ListTriggers(call->Query("cursor"), *limit);
  if (!page) return call->Fail(page.error());
  json::array list;
  for (const auto& trigger : *page)
    list.push_back(TriggerView(trigger, StateNow(services, trigger)));
  json::value next = nullptr;
  if (page->size() == *limit) next = page->back().spec.name;
  call->Json(200, {{"triggers", std::move(list)}, {"next", std::move(next)}});
}

// The next slots, from now on.
json::array UpcomingOf(const Trigger& trigger, WallTime now) {
  json::array times;
  if (trigger.paused || trigger.failed || trigger.complete) return times;
  engine::FixedZones zones;
  std::vector<std::string> names{trigger.spec.tz};
  for (const auto& blackout : trigger.spec.blackouts) names.push_back(blackout.tz);
  for (const auto& name : names)
    if (auto zone = cron::LoadZone(name)) zones.Add(std::move(*zone));
  auto table = engine::Timetable::Of(trigger.spec, trigger.applied, zones);
  if (!table) return times;
  table->Ask(trigger.asked);
  for (const WallTime slot : table->Upcoming(std::max(trigger.mark, now), kUpcoming))
    times.push_back(TimeView(slot));
  return times;
}

json::object WholeView(Services& services, const Trigger& trigger) {
  json::object view = TriggerView(trigger, StateNow(services, trigger));
  view["targets"] = trigger.spec.targets;
  view["channel"] = trigger.spec.channel;
  view["retry_at"] = TimeView(trigger.retry_at);
  view["upcoming"] = UpcomingOf(trigger, services.clock.Read().wall);
  json::array skips;
  for (const auto& skip : trigger.skips)
    skips.push_back(
        json::object{{"slot", TimeView(skip.slot)}, {"by", skip.by}, {"reason", skip.reason}});
  view["skips"] = std::move(skips);
  view["backfill"] = nullptr;
  if (trigger.backfill)
    view["backfill"] = json::object{{"next", TimeView(trigger.backfill->next)},
                                    {"to", TimeView(trigger.backfill->to)},
                                    {"by", trigger.backfill->by}};
  return view;
}

void ShowTrigger(Services& services, const CallPtr& call) {
  const auto known = Find(services, call);
  if (known) call->Json(200, WholeView(services, *known->value));
}

Result<WallTime> TimeIn(const std::string& name, const std::string& text, bool required) {
  if (text.empty() && !required) return WallTime{};
  const WallTime time = ParseTime(text);
  if (!time)
    return Fail(ErrorCode::kInvalid, "{}: expected a moment, as 2027-03-28T02:30:00Z", name);
  return time;
}

// "FIRST.ACT", as milliseconds and number.
Result<std::optional<SlotCursor>> ReadCursor(const std::string& text) {
  if (text.empty()) return std::optional<SlotCursor>();
  SlotCursor cursor;
  const auto parts = Split(text, '.');
  const auto number = [](std::string_view part, auto& value) {
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    return code == std::errc() && end == part.data() + part.size();
  };
  if (parts.size() != 2 || !number(parts[0], cursor.first.ms) || !number(parts[1], cursor.act))
    return Fail(ErrorCode::kInvalid, "cursor: expected `next` of the page before");
  return std::optional(cursor);
}

void Slots(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 100, 1, 1000);
  const auto since = TimeIn("since", call->Query("since"), false);
  const auto until = TimeIn("until", call->Query("until"), false);
  const auto before = ReadCursor(call->Query("cursor"));
  if (!limit) return call->Fail(limit.error());
  if (!since) return call->Fail(since.error());
  if (!until) return call->Fail(until.error());
  if (!before) return call->Fail(before.error());
  // Also of a trigger that is gone: its ledger stays.
  const auto known = services.store.FindTrigger(call->Part("name"));
  if (!known) return call->Fail(known.error());
  if (!known->value) return call->Fail(NoSuch(services, call->Part("name")));
  const auto page = services.store.ListSlots(call->Part("name"), {.since = *since, .until = *until},
                                             *before, *limit);
  if (!page) return call->Fail(page.error());
  json::array list;
  for (const auto& slot : *page) list.push_back(SlotView(slot));
  json::value next = nullptr;
  if (page->size() == *limit)
    next = json::string(fmt::format("{}.{}", page->back().first.ms, page->back().act));
  call->Json(200, {{"slots", std::move(list)}, {"next", std::move(next)}});
}

Result<engine::SlotPlan> PlanNow(Services& services, const Trigger& trigger) {
  SlotPlanner planner(services.inventory(),
                      [&services] { return services.engine.GetStatus().freezes; });
  return planner.Plan(trigger.spec, trigger.data, SlotPlanner::Asker::kPerson);
}

// What a start of the trigger's job would mean now.
json::object PlanView(Services& services, const engine::SlotPlan& plan) {
  const auto left = LeaveOutMaintained(services, plan.targets);
  const auto hosts = static_cast<std::uint32_t>(left.targets->size());
  return HostsView(*left.targets, Ordinals::All(hosts), plan.spec.targets);
}

void AnswerTrigger(const CallPtr& call, const engine::TriggerAnswer& steered) {
  call->Json(200, TriggerView(steered.trigger, steered.state));
}

// Fills a command from the call and asks the engine. `read` takes the fields of the body.
template <typename Command, typename Read>
void SteerTrigger(
    Services& services, const CallPtr& call, Command command, Read read,
    std::function<void(const CallPtr&, const typename Command::Answer&)> answered = AnswerTrigger) {
  auto known = Find(services, call);
  if (!known) return;
  command.caller = CallerOf(*call);
  command.name = call->Part("name");
  command.known = std::move(*known);
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  if (Result<> taken = read(*fields, command); !taken) return call->Fail(taken.error());
  if (auto rest = fields->Rest(); !rest) return call->Fail(rest.error());
  services.engine.Ask(std::move(command),
                      [call, answered](const Result<typename Command::Answer>& answer) {
                        if (!answer) return call->Fail(answer.error());
                        answered(call, *answer);
                      });
}

void PauseTrigger(Services& services, const CallPtr& call) {
  SteerTrigger(services, call, engine::PauseTrigger{},
               [](Fields& fields, engine::PauseTrigger& command) {
                 return fields.Reason("reason", command.reason).Done();
               });
}

void ResumeTrigger(Services& services, const CallPtr& call) {
  SteerTrigger(services, call, engine::ResumeTrigger{},
               [](Fields& fields, engine::ResumeTrigger& command) {
                 return fields.Reason("reason", command.reason).Done();
               });
}

void SkipTrigger(Services& services, const CallPtr& call) {
  SteerTrigger(services, call, engine::SkipSlot{},
               [](Fields& fields, engine::SkipSlot& command) -> Result<> {
                 std::string slot;
                 auto done = fields.Text("slot", slot).Reason("reason", command.reason).Done();
                 if (!done) return done;
                 const auto at = TimeIn("slot", slot, true);
                 if (!at) return Fail(at.error());
                 command.slot = *at;
                 return {};
               });
}

Result<> ReadBackfill(Fields& fields, engine::BackfillTrigger& command) {
  std::string from;
  std::string to;
  auto done = fields.Text("from", from)
                  .Text("to", to)
                  .Bool("dry_run", command.dry_run)
                  .Bool("during_freeze", command.during_freeze)
                  .Reason("reason", command.reason)
                  .Done();
  if (!done) return done;
  const auto begin = TimeIn("from", from, true);
  const auto end = TimeIn("to", to, true);
  if (!begin || !end) return Fail(begin ? end.error() : begin.error());
  command.from = *begin;
  command.to = *end;
  return {};
}

void BackfillRange(Services& services, const CallPtr& call) {
  // Of a dry run, made here: the engine answers on its own thread.
  const auto view = std::make_shared<json::object>();
  SteerTrigger(
      services, call, engine::BackfillTrigger{},
      [&](Fields& fields, engine::BackfillTrigger& command) -> Result<> {
        if (auto read = ReadBackfill(fields, command); !read) return read;
        auto plan = PlanNow(services, *command.known.value);
        if (!plan) return Fail(plan.error());
        if (command.dry_run) *view = PlanView(services, *plan);
        command.plan = std::move(*plan);
        return {};
      },
      [view](const CallPtr& asked, const engine::BackfillTrigger::Answer& answer) {
        if (const auto* closed = std::get_if<engine::GateClosed>(&answer))
          return asked->Fail(409, closed->gate, closed->reason);
        if (const auto* begun = std::get_if<engine::TriggerAnswer>(&answer))
          return AnswerTrigger(asked, *begun);
        (*view)["slots"] = std::get<engine::BackfillPlanned>(answer).slots;
        asked->Json(200, std::move(*view));
      });
}

void Fire(Services& services, const CallPtr& call) {
  auto known = Find(services, call);
  if (!known) return;
  engine::FireTrigger command;
  bool dry_run = false;
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  fields->Reason("reason", command.reason)
      .Bool("despite_overlap", command.despite_overlap)
      .Bool("during_freeze", command.during_freeze)
      .Bool("dry_run", dry_run);
  if (auto rest = fields->Rest(); !rest) return call->Fail(rest.error());
  auto key = ReadKey(services, *call, false);
  if (!key) return call->Fail(key.error());
  auto plan = PlanNow(services, *known->value);
  if (!plan) return call->Fail(plan.error());
  if (dry_run) return call->Json(200, PlanView(services, *plan));
  command.caller = CallerOf(*call);
  command.name = call->Part("name");
  command.known = std::move(*known);
  command.plan = std::move(*plan);
  command.key = std::move(key->key);
  command.known_key = std::move(key->known);
  command.body_sha256 = ToHex(crypto::Sha256(call->request().body));
  services.engine.Ask(
      std::move(command), [call](const Result<engine::FireTrigger::Answer>& answer) {
        if (!answer) return call->Fail(answer.error());
        if (const auto* closed = std::get_if<engine::GateClosed>(&*answer))
          return call->Fail(409, closed->gate, closed->reason);
        if (const auto* refused = std::get_if<engine::KeyRefused>(&*answer))
          return call->Fail(422, "key_reused", refused->why);
        const auto& started = std::get<engine::RunStarted>(*answer);
        const std::string id = FormatRunId(started.run);
        call->Json(201, {{"id", id}, {"state", Name(started.state)}, {"hosts", started.hosts}},
                   {{"Location", "/api/v1/runs/" + id}});
      });
}

}  // namespace

std::vector<Route> TriggerRoutes(Services& services) {
  return {
      {"GET", "/api/v1/triggers", Privilege::kView,
       [&services](const CallPtr& call) { ListTriggers(services, call); }},
      {"GET", "/api/v1/triggers/{name}", Privilege::kView,
       [&services](const CallPtr& call) { ShowTrigger(services, call); }},
      {"GET", "/api/v1/triggers/{name}/slots", Privilege::kView,
       [&services](const CallPtr& call) { Slots(services, call); }, kOnRecord},
      {"POST", "/api/v1/triggers/{name}/pause", Privilege::kOperate,
       [&services](const CallPtr& call) { PauseTrigger(services, call); }, !kOnRecord, kUrgent},
      {"POST", "/api/v1/triggers/{name}/resume", Privilege::kOperate,
       [&services](const CallPtr& call) { ResumeTrigger(services, call); }},
      {"POST", "/api/v1/triggers/{name}/skip", Privilege::kOperate,
       [&services](const CallPtr& call) { SkipTrigger(services, call); }},
      {"POST", "/api/v1/triggers/{name}/backfill", Privilege::kOperate,
       [&services](const CallPtr& call) { BackfillRange(services, call); }},
      {"POST", "/api/v1/triggers/{name}/fire", Privilege::kOperate,
       [&services](const CallPtr& call) { Fire(services, call); }},
  };
}

}  // namespace muster::server::api
