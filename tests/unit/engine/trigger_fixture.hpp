#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/triggers/zones.hpp"
#include "flow_fixture.hpp"

namespace muster::engine {

// Triggers, driven by hand from 2027-01-15T08:00Z on. Their runs take `run_for_`; what the server
// would answer (rows that come near, plans of slots) is answered as soon as it is asked for.
class TriggerFixture : public FlowFixture {
 protected:
  TriggerFixture() {
    auto zones = std::make_shared<FixedZones>();
    // An hour forward on the 15th at 10:00 UTC, back a day later.
    const std::vector<cron::ZoneChange> changes{{1'800'007'200, 3600}, {1'800'093'600, 0}};
    zones->Add(cron::Zone("Test/Jump", 0, changes));
    options_.zones = std::move(zones);
    Restart();
  }

  // A new leadership on the same disk.
  void Restart() {
    Lead();
    Serve();
  }

  static TriggerSpec Spec(std::string name, std::string cron) {
    TriggerSpec spec;
    spec.name = std::move(name);
    spec.cron = std::move(cron);
    spec.job = "backup";
    return spec;
  }

  void Apply(const TriggerSpec& spec, bool paused = false) {
    Document document{
        .kind = "trigger", .name = spec.name, .hash = std::to_string(++documents_), .text = "text"};
    ApplyDocuments apply;
    apply.caller.name = "ann";
    apply.puts = {std::make_shared<const Document>(std::move(document))};
    apply.triggers[spec.name] = {std::make_shared<const TriggerSpec>(spec), Known(spec.name),
                                 paused};
    const auto answer = Asked(std::move(apply));
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void Drop(const std::string& name) {
    ApplyDocuments apply;
    apply.drops = {{"trigger", name}};
    apply.triggers[name] = {nullptr, Known(name)};
    ASSERT_TRUE(Asked(std::move(apply)));
  }
  template <Answered C>
  Result<typename C::Answer> Steer(C command, const std::string& name) {
    command.caller.name = "ann";
    command.name = name;
    command.known = Known(name);
    return Asked(std::move(command));
  }
  template <Answered C>
  Result<typename C::Answer> Asked(C command) {
    const auto id = Ask(std::move(command));
    Serve();
    if (!replies_.contains(id)) return Fail(ErrorCode::kInternal, "test: no answer");
    return AnswerTo<C>(id);
  }
  ReadAt<std::optional<Trigger>> Known(const std::string& name) {
    return *store_.FindTrigger(name);
  }
  Trigger Row(const std::string& name) { return Known(name).value.value_or(Trigger{}); }
  TriggerState State(const std::string& name) {
    const auto& runs = pipeline_->engine()->state().triggers.runs;
    return muster::StateOf(Row(name), runs.contains(name));
  }

  // Commits and answers until nothing is asked for any more.
  void Serve() {
    for (int i = 0; i < 10'000; ++i) {
      Settle();
      if (fetches_.empty() && (slots_.empty() || !answers_)) return;
      for (const auto& fetch : std::exchange(fetches_, {})) {
        auto found = *store_.DueTriggers(fetch.after, fetch.until, fetch.limit);
        const bool more = found.value.size() == fetch.limit;
        Tell(TakeTriggers{fetch.after, fetch.until, std::move(found), more});
      }
      if (!answers_) continue;
      for (const auto& slot : std::exchange(slots_, {})) Fire(slot);
    }
    FAIL() << "the engine does not come to rest";
  }
  void Fire(const PrepareSlot& slot) {
    Tell(FireSlot{slot.trigger, slot.version, slot.slot, slot.act, plan_(slot)});
  }
  SlotPlan WaitPlan() const {
    StageSpec stage = With("work", WaitAction{.time = run_for_, .until = {}});
    SlotPlan plan;
    plan.spec.job = "backup";
    plan.spec.stages = {std::move(stage)};
    plan.targets = std::make_shared<const Targets>(Targets{{HostId(1), "h1"}});
    return plan;
  }

  // Time passes: the engine is called whenever it wants to be, and in the end.
  void Pass(Duration duration) {
    const MonoTime end = now_.mono + duration;
    while (now_.mono < end) {
      const MonoTime wake = std::min(end, pipeline_->engine()->NextWake());
      const Duration step = std::max(Duration(1), wake - now_.mono);
      now_.mono = now_.mono + step;
      now_.wall = now_.wall + step;
      Serve();
    }
  }
  void JumpClock(Duration by) {
    now_.wall = now_.wall + by;
    Pass(options_.clock_watch);
  }
  // Nobody is there.
  void Away(Duration duration) {
    now_.mono = now_.mono + duration;
    now_.wall = now_.wall + duration;
    Restart();
  }

  // What became of the slots, oldest first: "09:00 started", "10:00-12:00 3 missed".
  std::vector<std::string> Ledger(const std::string& name) {
    std::vector<std::string> lines;
    for (const auto& slot : *store_.ListSlots(name, {}, {}, 10'000)) {
      if (slot.fate == SlotFate::kSchedule) continue;
      std::string line = Clock(slot.first);
      if (slot.last != slot.first) line += "-" + Clock(slot.last);
      if (slot.count != 1) line += fmt::format(" {}", slot.count);
      line += slot.fate == SlotFate::kStarted ? " started" : " " + slot.why;
      if (slot.act != 0) line += " by hand";
      lines.insert(lines.begin(), std::move(line));
    }
    return lines;
  }
  // Which schedule held when, oldest first: "08:00 v1", "09:01 v0 deleted".
  std::vector<std::string> Schedules(const std::string& name) {
    std::vector<std::string> lines;
    for (const auto& row : *store_.ListSlots(
             name, {.since = {}, .until = {}, .fate = SlotFate::kSchedule}, {}, 10'000))
      lines.insert(lines.begin(), fmt::format("{} v{}{}{}", Clock(row.first), row.version,
                                              row.detail.empty() ? "" : " ", row.detail));
    return lines;
  }
  static std::string Clock(WallTime time) {
    return FormatTime(time).substr(11, time.ms % 60'000 == 0 ? 5 : 8);
  }
  WallTime At(int hour, int minute = 0) const {
    return {1'800'000'000'000 + ((hour - 8) * 60 + minute) * 60'000LL};
  }
  std::size_t OpenRuns() const { return pipeline_->engine()->state().runs.open.size(); }
  using Lines = std::vector<std::string>;

  static constexpr Duration kMinute = std::chrono::minutes(1);
  static constexpr Duration kHour = std::chrono::hours(1);
  Duration run_for_ = std::chrono::seconds(1);
  bool answers_ = true;
  std::function<Result<SlotPlan>(const PrepareSlot&)> plan_ = [this](const PrepareSlot&) {
    return Result<SlotPlan>(WaitPlan());
  };
  int documents_ = 0;
};

}  // namespace muster::engine
