#include "sim/triggers/trigger_world.hpp"

#include <algorithm>
#include <array>

namespace muster::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kLasts = hours(20 * 24);

// A run that says something and looks at a value, between two waits.
std::vector<StageSpec> TalkingStages(Duration longest) {
  std::vector<StageSpec> stages(4);
  stages[0].name = "say";
  stages[0].action = HttpAction{.url = "http://sim"};
  stages[0].repeat = Repeat::kSafe;
  ConditionAction condition;
  condition.request.url = "http://sim";
  condition.bound = "0.5";
  condition.hold = minutes(45);
  stages[1].name = "check";
  stages[1].action = std::move(condition);
  stages[2].name = "tell";
  stages[2].when = "stages.check.outputs.changed";
  stages[2].action = NotifyAction{.channel = "ops", .message = "${{ stages.check.outputs.state }}"};
  stages[3].name = "work";
  stages[3].action = WaitAction{.time = longest, .until = {}};
  return stages;
}

}  // namespace

TriggerWorld::TriggerWorld(std::uint64_t seed) : random_(seed), book_(*zones_) {
  // An hour forward at 2027-03-28T01:00Z, half an hour back two days earlier elsewhere.
  const std::vector<cron::ZoneChange> spring{{1'806'195'600, 7200}, {1'824'944'400, 3600}};
  const std::vector<cron::ZoneChange> half{{1'806'022'800, 36'000}};
  zones_->Add(cron::Zone("Test/Spring", 3600, spring));
  zones_->Add(cron::Zone("Test/Half", 37'800, half));
  book_.Share(&started_);
}

void TriggerWorld::After(Duration wait, std::function<void()> act) {
  events_.push({now_.mono + wait, ++order_, std::move(act)});
}

void TriggerWorld::AfterIfUp(Duration wait, std::function<void()> act) {
  After(wait, [this, life = life_, act = std::move(act)] {
    if (pipeline_ && life == life_) act();
  });
}

void TriggerWorld::Start() {
  if (pipeline_) return;
  ++life_;
  store_ = std::make_unique<MemoryStore>(disk_);
  view_ = std::make_unique<Disk>(*this, *store_);
  engine::Pipeline::Settings settings;
  settings.engine.zones = zones_;
  settings.engine.clock_watch = hours(1);  // jumps are told to it
  pipeline_ = std::make_unique<engine::Pipeline>(
      *view_, *this,
      engine::Pipeline::Listener{
          .reply = [](engine::Reply) {},
          .news = [](std::vector<engine::News>) {},
          .deposed = [](const Error&) {},
          .committed =
              [this](engine::Pipeline::CommitTicket ticket, Result<> result) {
                pipeline_->Committed(ticket, std::move(result), now_);
              },
          .work =
              [this](const std::vector<engine::ServerWork>& work) {
                for (const auto& one : work)
                  std::visit([this](const auto& kind) { Answer(kind); }, one);
              }},
      settings);
  if (!pipeline_->Lead(now_)) std::abort();
  wake_ = now_.mono;
}

void TriggerWorld::Crash(Duration away) {
  ++crashes;
  ++life_;
  pipeline_.reset();
  After(away, [this] { Start(); });
}

bool TriggerWorld::Apply(const std::shared_ptr<const Batch>& batch, Term term,
                         CommitNumber number) {
  const bool is_new = store_->ReadFence()->number < number;
  Result<> result;
  store_->Commit(batch, term, number, [&](Result<> done) { result = std::move(done); });
  if (result && is_new) book_.Take(*batch, now_.wall);
  return result.has_value();
}

void TriggerWorld::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                          Store::CommitDone done) {
  const std::uint64_t mood = calm_ ? 100 : Number(100);
  if (mood < 2)  // nothing was written
    return AfterIfUp(Upto(seconds(1)), [done] { done(Fail(ErrorCode::kUnavailable, "sim")); });
  AfterIfUp(Upto(milliseconds(20)), [this, batch, term, number, done, mood] {
    if (!Apply(batch, term, number)) std::abort();
    const bool unclear = mood < 4;
    if (!calm_ && Chance(400)) return Crash(Upto(minutes(5)));  // written, never answered
    AfterIfUp(Upto(milliseconds(20)), [done, unclear] {
      done(unclear ? Result<>(Fail(ErrorCode::kTimeout, "sim")) : Result<>());
    });
  });
}

void TriggerWorld::Take(engine::AnyCommand command) {
  if (!pipeline_) return;
  if (!pipeline_->Ready())
    return AfterIfUp(milliseconds(50), [this, command = std::move(command)] { Take(command); });
  pipeline_->Take(command, now_);
}

std::vector<std::pair<std::string, std::string>> TriggerWorld::SomeWords() {
  std::vector<std::pair<std::string, std::string>> words;
  for (const auto* name : {"muster.data.a", "muster.data.b", "muster.data.c"}) {
    if (Chance(2)) continue;
    words.emplace_back(name, Chance(4) ? "" : std::to_string(++said_));
  }
  if (Chance(4)) words.emplace_back("muster.status", fmt::format("word {}", ++said_));
  if (!calm_ && Chance(10)) {
    const WallTime at = now_.wall + Upto(hours(6));
    words.emplace_back("muster.next", FormatTime(at));
  }
  return words;
}

// Answers are lost with the server, come late, twice, or say that it failed.
void TriggerWorld::Answer(const engine::ServerOrder& order) {
  engine::ServerReport report{.task = order.task, .end = {}};
  report.end.state = calm_ || !Chance(20) ? TaskState::kSucceeded : TaskState::kFailed;
  const bool good = report.end.state == TaskState::kSucceeded;
  if (good && std::holds_alternative<HttpAction>(order.what)) report.end.outputs = SomeWords();
  if (good && std::holds_alternative<ConditionAction>(order.what))
    report.end.outputs = {{"value", Chance(3) ? "0.1" : "0.9"}};
  const Duration wait = Upto(Chance(10) ? Duration(minutes(5)) : Duration(milliseconds(200)));
  AfterIfUp(wait, [this, report] { Take(report); });
  if (!calm_ && Chance(30)) AfterIfUp(wait + seconds(1), [this, report] { Take(report); });
}

Result<engine::SlotPlan> TriggerWorld::PlanOf() {
  const std::uint64_t mood = calm_ ? 100 : Number(100);
  if (mood < 2) return Fail(ErrorCode::kUnavailable, "busy");
  if (mood < 3) return Fail(ErrorCode::kConflict, "no host matches");
  if (mood == 3 && Chance(5)) return Fail(ErrorCode::kNotFound, "there is no such job");
  const Duration longest = Chance(10) ? Duration(hours(30)) : Duration(minutes(40));
  engine::SlotPlan plan;
  plan.spec.stages = TalkingStages(Upto(calm_ ? Duration(minutes(1)) : longest));
  if (Chance(2)) plan.spec.stages.erase(plan.spec.stages.begin());  // it says nothing
  plan.targets = std::make_shared<const Targets>(Targets{{HostId(1), "h1"}});
  return plan;
}

void TriggerWorld::Answer(const engine::PrepareSlot& slot) {
  if (!calm_ && Chance(50)) return;  // lost
  engine::FireSlot fire{slot.trigger, slot.version, slot.slot, slot.act, PlanOf()};
  const Duration wait = Upto(!calm_ && Chance(20) ? Duration(minutes(3)) : milliseconds(50));
  AfterIfUp(wait, [this, fire] { Take(fire); });
  if (!calm_ && Chance(30)) AfterIfUp(wait + seconds(1), [this, fire] { Take(fire); });  // twice
}

void TriggerWorld::Answer(const engine::FetchTriggers& fetch) {
  if (!calm_ && Chance(20)) return;
  // Read now, answered later: much may happen in between.
  auto found = *store_->DueTriggers(fetch.after, fetch.until, fetch.limit);
  const bool more = found.value.size() == fetch.limit;
  engine::TakeTriggers take{fetch.after, fetch.until, std::move(found), more};
  AfterIfUp(Upto(calm_ ? Duration(10) : Duration(seconds(5))), [this, take] { Take(take); });
}

TriggerSpec TriggerWorld::SomeSpec(const std::string& name) {
  static constexpr std::array kCrons = {"0 * * * *",    "30 2 * * *", "*/10 * * * *",
                                        "15 */3 * * *", "H H * * *",  "0 8-18 * * 1-5",
                                        "0 0 1,15 * *", "45 1 * * *"};
  static constexpr std::array kZones = {"UTC", "Test/Spring", "Test/Half"};
  TriggerSpec spec;
  spec.name = name;
  spec.job = "job";
  spec.tz = kZones[Number(kZones.size())];
  if (Chance(6))
    spec.every = seconds(600 + Number(7200));
  else if (Chance(12))
    spec.once = WallTime{(now_.wall + Upto(hours(48))).ms / 1000 * 1000};
  else
    spec.cron = kCrons[Number(kCrons.size())];
  spec.gap = Chance(2) ? cron::GapRule::kSkip : cron::GapRule::kFirst;
  spec.fold = Chance(2) ? cron::FoldRule::kBoth : cron::FoldRule::kOnce;
  spec.missed = static_cast<MissedRule>(Number(3));
  spec.missed_most = 1 + static_cast<std::uint32_t>(Number(8));
  spec.missed_window = Upto(hours(72));
  spec.overlap = static_cast<OverlapRule>(Number(4));
  spec.overlap_allowed = 1 + static_cast<std::uint32_t>(Number(3));
  spec.queue_most = 1 + static_cast<std::uint32_t>(Number(4));
  if (Chance(3)) spec.jitter = Upto(minutes(20));
  if (Chance(4)) spec.deadline = Upto(hours(2));
  if (Chance(4)) spec.blackouts = {{.cron = "0 22 * * *", .lasts = hours(6), .tz = spec.tz}};
  if (Chance(8)) spec.start = WallTime{(now_.wall + Upto(hours(48))).ms / 1000 * 1000};
  if (Chance(8)) spec.end = WallTime{(now_.wall + hours(48) + Upto(hours(240))).ms / 1000 * 1000};
  return spec;
}

void TriggerWorld::ApplyOrDrop(const std::string& name) {
  engine::ApplyDocuments apply;
  auto known = *store_->FindTrigger(name);
  if (!calm_ && Chance(5)) {
    apply.drops = {{"trigger", name}};
    apply.triggers[name] = {nullptr, std::move(known)};
  } else {
    TriggerSpec spec = SomeSpec(name);
    if (known.value && !known.value->dropped && Chance(2)) {  // beside the schedule
      spec = known.value->spec;
      spec.overlap = static_cast<OverlapRule>(Number(4));
    }
    Document document{.kind = "trigger", .name = name, .hash = {}, .text = {}};
    document.hash = std::to_string(++documents_);
    apply.puts = {std::make_shared<const Document>(std::move(document))};
    apply.triggers[name] = {std::make_shared<const TriggerSpec>(std::move(spec)), std::move(known)};
  }
  AfterIfUp(Upto(seconds(2)), [this, apply] { Take(apply); });
}

void TriggerWorld::ActOnTrigger(const std::string& name) {
  const auto known = *store_->FindTrigger(name);
  engine::AnyCommand command = engine::ResumeTrigger{.name = name, .known = known};
  switch (Number(6)) {
    case 0:
      command = engine::PauseTrigger{.name = name, .known = known, .reason = "sim"};
      break;
    case 1:
      if (known.value)
        command = engine::SkipSlot{
            .name = name, .known = known, .slot = known.value->next, .reason = "sim"};
      break;
    case 2:
      if (auto plan = PlanOf())
        command = engine::FireTrigger{.name = name, .known = known, .plan = *plan};
      break;
    case 3:
      command = engine::BackfillTrigger{
          .name = name, .known = known, .from = now_.wall + -hours(5), .to = now_.wall + -hours(1)};
      break;
    default:
      break;
  }
  AfterIfUp(Upto(seconds(2)), [this, command] { Take(command); });
}

void TriggerWorld::JumpClock() {
  const std::array<Duration, 4> sizes{seconds(50), minutes(70), hours(30), hours(100)};
  const Duration by = Upto(sizes[Number(Chance(4) ? 4 : 3)]);
  now_.wall = now_.wall + (Chance(2) ? by : -by);
  wake_ = now_.mono;
}

void TriggerWorld::TakeBackup() {
  backup_ = Backup{CopyOf(*disk_, std::nullopt, {}), book_, now_.wall};
}

void TriggerWorld::Restore() {
  if (!backup_ || now_.wall <= backup_->taken) return;
  ++life_;
  pipeline_.reset();
  const std::vector<std::string> broken = book_.Broken();
  if (!broken.empty()) return Start();  // the history is over
  const Snapshot::Restored restored{.taken = backup_->taken, .at = now_.wall, .logs = false};
  disk_ = CopyOf(*backup_->disk, restored, LeapOf(0, backup_->taken, now_.wall));
  book_ = backup_->book;
  book_.Restore();
  // What ran while the clock was ahead of where it is now, no backup can tell.
  std::erase_if(started_, [this](const auto& slot) { return slot.second > now_.wall; });
  backup_.reset();
  After(Upto(minutes(10)), [this] { Start(); });
}

void TriggerWorld::Meddle() {
  if (calm_) return;
  After(Upto(hours(12)), [this] { Meddle(); });
  if (!pipeline_) return;
  const std::uint64_t what = Number(20);
  if (what < 4) return ApplyOrDrop(SomeName());
  if (what < 12) return ActOnTrigger(SomeName());
  if (what == 12) return JumpClock();
  if (what == 13) return TakeBackup();
  if (what == 14) return Restore();
  if (what == 15) {
    Freeze freeze;
    freeze.scope = FreezeScope::kTriggers;
    freeze.until = now_.wall + Upto(hours(6));
    return Take(engine::FreezeRuns{.caller = {}, .freeze = freeze});
  }
  if (what == 16) {
    Take(engine::SetGate{.gate = "disk_low", .reason = "sim"});
    return AfterIfUp(Upto(hours(1)),
                     [this] { Take(engine::SetGate{.gate = "disk_low", .reason = ""}); });
  }
  Crash(Upto(Chance(5) ? Duration(hours(40)) : Duration(minutes(90))));
}

void TriggerWorld::Step(MonoTime until) {
  MonoTime next = until;
  if (!events_.empty()) next = std::min(next, events_.top().at);
  if (pipeline_) next = std::min(next, std::max(wake_, now_.mono));
  if (next > now_.mono) {
    now_.wall = now_.wall + (next - now_.mono);
    now_.mono = next;
  }
  while (!events_.empty() && events_.top().at <= now_.mono) {
    const auto act = events_.top().act;
    events_.pop();
    act();
    if (!calm_ && pipeline_ && Chance(3000)) Crash(Upto(hours(3)));
  }
  if (pipeline_) wake_ = pipeline_->Drive(now_);
}

void TriggerWorld::Live(Duration time) {
  const MonoTime end = now_.mono + time;
  while (now_.mono < end) Step(end);
}

std::vector<std::string> TriggerWorld::Run() {
  Start();
  for (const auto& name : names_) ApplyOrDrop(name);
  Meddle();
  Live(kLasts);
  // Everything comes to rest: the clock passes every mark, and whatever stands still goes on.
  calm_ = true;
  if (!pipeline_) Start();
  Take(engine::SetGate{.gate = "disk_low", .reason = ""});
  Live(hours(40));
  for (const auto& name : names_) {
    const auto known = *store_->FindTrigger(name);
    if (known.value) now_.wall = std::max(now_.wall, known.value->mark);
    Take(engine::ResumeTrigger{.name = name, .known = known});
    Live(minutes(1));
  }
  wake_ = now_.mono;
  Live(hours(8));
  book_.CheckSettled(*store_, now_.wall);
  book_.CheckLedger(*store_);
  book_.CheckRecord(*store_, now_.wall);
  return book_.Broken();
}

}  // namespace muster::sim
