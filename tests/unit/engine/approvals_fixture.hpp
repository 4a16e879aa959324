#pragma once

#include "domain/approval_id.hpp"
#include "flow_fixture.hpp"

namespace muster::engine {

// ann starts every run; its approvals are not for those who caused it.
class Approvals : public FlowFixture {
 protected:
  static ApproveAction NotStarter() { return {.message = "go?", .by = {}, .not_starter = true}; }
  static StageSpec Ask(std::string name) { return With(std::move(name), NotStarter()); }

  static Caller As(std::string who) {
    return {.request = {}, .name = std::move(who), .address = {}};
  }
  Result<RunSteered> Skip(std::string who, RunId run, std::string stage) {
    return Do(SkipStage{
        .caller = As(std::move(who)), .run = run, .stage = std::move(stage), .reason = {}});
  }
  Result<RunSteered> Approve(std::string who, RunId run, bool approved = true) {
    return Do(AnswerApproval{.caller = As(std::move(who)),
                             .run = run,
                             .stage = {},
                             .approved = approved,
                             .comment = {}});
  }
  // What the approval that waits in the run is called now.
  std::string Waiting(RunId run) {
    for (const auto& visit : *store_.ListVisits(run, {}, 100))
      if (visit.state == StageState::kAwaitingApproval) return ApprovalId(Find(run), visit);
    return {};
  }
  Result<RunSteered> ApproveAs(std::string who, RunId run, std::string approval) {
    return Do(AnswerApproval{.caller = As(std::move(who)),
                             .run = run,
                             .stage = {},
                             .approved = true,
                             .comment = {},
                             .approval = std::move(approval)});
  }
  void Pause(RunId run) {
    ASSERT_TRUE(Do(PauseRun{.caller = As("ann"), .run = run, .release = false, .reason = "look"}));
  }
  void Stop(RunId run) {
    ASSERT_TRUE(
        Do(StopRun{.caller = As("ann"), .run = run, .host = {}, .reason = "enough", .known = {}}));
  }
  Result<RetryRun::Answer> Retry(std::string who, RunId run, RetryRun retry = {}) {
    retry.caller = As(std::move(who));
    retry.run = run;
    retry.known = *store_.ReadWholeRun(run);
    return Do(std::move(retry));
  }
  static RetryRun From(std::string stage) {
    RetryRun retry;
    retry.from = std::move(stage);
    return retry;
  }
  static RetryRun With(std::vector<StageSpec> stages, std::string from = "") {
    RunSpec plan;
    plan.job = "job";
    plan.version = 2;
    plan.stages = std::move(stages);
    RetryRun retry = From(std::move(from));
    retry.authors = {"writer"};
    retry.plan = std::make_shared<const RunSpec>(std::move(plan));
    return retry;
  }
  using FlowFixture::With;

  template <typename T>
  static bool Denied(const Result<T>& answer) {
    return !answer && answer.error().code == ErrorCode::kDenied;
  }
  bool Asks(RunId run, const std::string& stage) {
    return StageOf(run, stage) == StageState::kAwaitingApproval;
  }
  // The facts of the last entry about the run.
  std::string Facts(const std::string& act) {
    AuditFilter filter;
    filter.act = act;
    const auto page = *store_.ListAudit(filter, 0, 1);
    return page.entries.empty() ? "" : page.entries.front().detail;
  }

  // roll: h1, then h2 and h3, with an approval between; then `after`.
  std::vector<StageSpec> AskedBetween() {
    StageSpec roll = Rolling("roll", "1,2", OnLimit::kPause);
    roll.between_approve = NotStarter();
    return {roll, In(0, "work"), Named("after")};
  }
  // roll: prepare, then ask, then work, on h1, then on h2 and h3; then `after`.
  std::vector<StageSpec> AskedInside() {
    StageSpec ask = Ask("ask");
    ask.parent = 0;
    return {Rolling("roll", "1,2", OnLimit::kPause), In(0, "prepare"), ask, In(0, "work"),
            Named("after")};
  }
};

}  // namespace muster::engine
