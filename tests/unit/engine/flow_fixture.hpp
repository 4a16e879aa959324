#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine_fixture.hpp"

namespace muster::engine {

// Jobs of several stages, driven by hand.
class FlowFixture : public EngineFixture {
 protected:
  static StageSpec Named(std::string name) {
    StageSpec stage;
    stage.name = std::move(name);
    return stage;
  }
  static StageSpec With(std::string name, Action action) {
    StageSpec stage = Named(std::move(name));
    stage.action = std::move(action);
    return stage;
  }
  static StageSpec In(std::uint32_t parent, std::string name, Section section = Section::kMain) {
    StageSpec stage = Named(std::move(name));
    stage.parent = parent;
    stage.section = section;
    return stage;
  }
  static StageSpec Rolling(std::string name, std::string_view batches, OnLimit on_limit) {
    StageSpec stage = With(std::move(name), SequenceAction{});
    stage.batches = *ParseBatchPlan(batches);
    stage.on_limit = on_limit;
    return stage;
  }

  RunId StartJob(std::uint64_t hosts, std::vector<StageSpec> stages) {
    RunSpec spec;
    spec.job = "job";
    spec.stages = std::move(stages);
    return StartSpec(hosts, std::move(spec));
  }
  RunId StartSpec(std::uint64_t hosts, RunSpec spec) {
    auto targets = std::make_shared<Targets>();
    for (std::uint64_t i = 1; i <= hosts; ++i)
      targets->push_back({HostId(i), "h" + std::to_string(i)});
    StartRun start;
    start.caller.name = "ann";
    start.spec = std::move(spec);
    start.targets = std::move(targets);
    const auto id = Ask(std::move(start));
    Settle();
    const auto& answer = replies_.at(id);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? std::get<RunStarted>(*answer).run : RunId{};
  }

  template <Answered C>
  Result<typename C::Answer> Do(C command) {
    if (command.caller.name.empty()) command.caller.name = "bob";
    const auto id = Ask(std::move(command));
    Settle();
    return AnswerTo<C>(id);
  }

  // The hosts that orders were sent to since the last look, by number.
  std::vector<std::uint64_t> Sent() {
    orders_.clear();
    std::vector<std::uint64_t> hosts;
    for (const auto& outgoing : std::exchange(frames_, {}))
      for (const auto& order : outgoing.frame.orders) {
        hosts.push_back(order.task.host.value);
        orders_.push_back(order);
      }
    std::ranges::sort(hosts);
    return hosts;
  }
  using Hosts = std::vector<std::uint64_t>;

  // Ends what Sent() found: those in `failing` fail.
  void EndAll(const std::set<std::uint64_t>& failing = {}) {
    for (const auto& order : std::exchange(orders_, {}))
      End(order.task,
          failing.contains(order.task.host.value) ? TaskState::kFailed : TaskState::kSucceeded);
  }
  // As EndAll, and the scripts wrote these to $MUSTER_OUTPUT; {host} is the host's number.
  void EndWith(const Outputs& outputs) {
    for (const auto& order : std::exchange(orders_, {})) {
      NodeReports reports{.link = link_of_.at(order.task.host.value),
                          .session = session_of_.at(order.task.host.value),
                          .reports = {}};
      link::Report report{
          .task = order.task, .kind = link::ReportKind::kEnded, .end = TaskEnd{}, .log = {}};
      report.end->state = TaskState::kSucceeded;
      for (auto [name, value] : outputs) {
        if (value == "{host}") value = std::to_string(order.task.host.value);
        report.end->outputs.emplace_back(name, value);
      }
      reports.reports.push_back(
          {report, LogMark{LogState::kComplete, 0, kEmptySha256, kEmptySha256}});
      Tell(std::move(reports));
      Settle();
    }
  }

  // The server is killed and comes back; hosts say Hello with what they hold.
  void Crash() {
    const auto held = orders_;
    Lead();
    for (const auto& [host, link] : std::map(link_of_)) {
      std::vector<link::HeldTask> tasks;
      for (const auto& order : held)
        if (order.task.host.value == host)
          tasks.push_back({.task = order.task, .state = link::HeldState::kRunning, .end = {}});
      SayHello(host, std::move(tasks));
    }
    Settle();
    // Orders sent anew by the take-over are among the frames.
    std::vector<Outgoing> kept;
    for (auto& frame : frames_)
      if (!frame.frame.orders.empty()) kept.push_back(std::move(frame));
    frames_ = std::move(kept);
    orders_ = held;
  }

  StageState StageOf(RunId run, const std::string& name) {
    for (const auto& stage : Find(run).stages)
      if (stage.name == name) return stage.state;
    ADD_FAILURE() << "no stage " << name;
    return StageState::kWaiting;
  }
  std::string StageNow() const { return orders_.empty() ? "" : orders_.front().stage; }

  std::vector<link::Order> orders_;
};

}  // namespace muster::engine
