#include "sim/sim_jobs.hpp"

namespace muster::sim {
namespace {

class JobMaker {
 public:
  explicit JobMaker(World& world) : world_(world) {}

  RunSpec Make() {
    spec_.title = "sim";
    if (world_.Chance(0.5)) {
      Add(Tasks("command"));
      return std::move(spec_);
    }
    spec_.job = "job";
    for (std::int64_t left = world_.Between(1, 3); left > 0; --left) AddMain();
    if (world_.Chance(0.3)) AddEnd("branch", Section::kBranch);
    if (world_.Chance(0.3)) AddEnd("finally", Section::kFinally);
    if (world_.Chance(0.2)) spec_.limits = {{.key = "run/1", .max = 1}};
    if (world_.Chance(0.5)) AddNotices();
    if (world_.Chance(0.2)) spec_.timeout = Duration(world_.Between(20'000, 300'000));
    return std::move(spec_);
  }

 private:
  std::uint32_t Add(StageSpec stage) {
    spec_.stages.push_back(std::move(stage));
    return static_cast<std::uint32_t>(spec_.stages.size() - 1);
  }
  void AddNotices() {
    Notice notice{.on = {}, .channel = "sim"};
    for (const char* state :
         {"succeeded", "failed", "timed_out", "cancelled", "paused", "awaiting_approval"})
      if (world_.Chance(0.5)) notice.on.emplace_back(state);
    spec_.notices.push_back(std::move(notice));
  }
  std::string NextName(std::string_view kind) {
    return fmt::format("{}{}", kind, spec_.stages.size());
  }
  std::uint32_t SomeNumber(std::int64_t least, std::int64_t most) {
    return static_cast<std::uint32_t>(world_.Between(least, most));
  }

  StageSpec Tasks(std::string name) {
    StageSpec stage;
    Command command;
    command.argv = {"true"};
    command.timeout = Duration(world_.Between(2'000, 40'000));
    command.grace = Duration(1000);
    // Told what some earlier stage reported on this host: the checker knows what that should be.
    if (!spec_.job.empty() && !spec_.stages.empty() && world_.Chance(0.6)) {
      const auto& earlier =
          spec_.stages[SomeNumber(0, static_cast<std::int64_t>(spec_.stages.size()) - 1)].name;
      command.args = {
          fmt::format("{0}=${{{{ stages.{0}.outputs.v | default: 'none' }}}}", earlier)};
    }
    stage.name = std::move(name);
    stage.action = std::make_shared<const Command>(command);
    stage.wait_offline = Duration(world_.Between(0, 15'000));
    Shape(stage);
    return stage;
  }

  void Shape(StageSpec& stage) {
    if (world_.Chance(0.4)) stage.concurrency = SomeNumber(1, 4);
    if (world_.Chance(0.4)) stage.batches = *ParseBatchPlan(world_.Chance(0.5) ? "1,50%" : "1 *2");
    if (world_.Chance(0.5)) stage.max_failures = {SomeNumber(0, 60), true};
    if (spec_.job.empty()) return;
    if (world_.Chance(0.4)) stage.on_limit = OnLimit::kPause;
    // The checker knows the maximum from the key.
    if (world_.Chance(0.15)) stage.limits = {{.key = "task/2", .max = 2}};
    if (world_.Chance(0.15)) stage.limits.push_back({.key = "task/3", .max = 3});
    if (world_.Chance(0.3)) stage.retries = {SomeNumber(1, 2), Duration(world_.Between(0, 5'000))};
  }

  void AddMain() {
    const std::int64_t kind = world_.Between(0, 9);
    StageSpec stage = Tasks(NextName("tasks"));
    if (kind < 4) {
      if (world_.Chance(0.2)) stage.spread = Duration(world_.Between(1, 20'000));
    } else if (kind < 8) {
      return AddSequence();
    } else if (kind == 8) {
      stage.name = NextName("ask");
      stage.action = ApproveAction{
          .message = "go on?", .by = {}, .timeout = Duration(world_.Between(5'000, 60'000))};
    } else if (world_.Chance(0.5)) {
      stage.name = NextName("wait");
      stage.action = WaitAction{.time = Duration(world_.Between(0, 20'000)), .until = {}};
    } else {
      stage.name = NextName("http");
      stage.action =
          HttpAction{.url = "http://sim", .headers = {}, .body = {}, .expect = {}, .outputs = {}};
    }
    Add(std::move(stage));
  }

  void AddSequence() {
    StageSpec roll;
    roll.name = NextName("roll");
    roll.action = SequenceAction{};
    Shape(roll);
    roll.concurrency = 0;
    if (world_.Chance(0.3)) roll.between_wait = Duration(world_.Between(1, 10'000));
    if (world_.Chance(0.2))
      roll.between_approve = ApproveAction{
          .message = "next?", .by = {}, .timeout = Duration(world_.Between(5'000, 60'000))};
    const std::uint32_t parent = Add(std::move(roll));
    for (std::int64_t left = world_.Between(1, 3); left > 0; --left) {
      StageSpec inner = Tasks(NextName("inner"));
      inner.parent = parent;
      inner.batches = {};
      Add(std::move(inner));
    }
    if (world_.Chance(0.3)) {
      StageSpec check = Tasks(NextName("check"));
      check.parent = parent;
      check.section = Section::kBetween;
      check.batches = {};
      Add(std::move(check));
    }
  }

  void AddEnd(std::string_view kind, Section section) {
    StageSpec stage = Tasks(NextName(kind));
    stage.section = section;
    stage.hosts = static_cast<HostChoice>(world_.Between(0, 3));
    stage.recovers = world_.Chance(0.3);
    const std::uint32_t index = Add(std::move(stage));
    if (section == Section::kBranch) spec_.stages.front().next["failed"] = index;
  }

  World& world_;
  RunSpec spec_;
};

}  // namespace

RunSpec SomeSpec(World& world) { return JobMaker(world).Make(); }

}  // namespace muster::sim
