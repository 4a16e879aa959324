#include "sim/sim_jobs.hpp"

namespace muster::sim {
namespace {

class JobMaker {
 public:
  JobMaker(World& world, const JobMood& mood, int depth = 0)
      : world_(world), mood_(mood), depth_(depth) {}

  RunSpec Make() {
    spec_.title = "sim";
    if (depth_ == 0 && world_.Chance(mood_.crowded ? 0.1 : 0.5)) {
      Add(Tasks("command"));
      return std::move(spec_);
    }
    spec_.job = "job";
    if (world_.Chance(mood_.crowded ? 0.5 : 0.2)) AddLimit("run/1", 1);
    if (world_.Chance(mood_.crowded ? 0.2 : 0.05)) AddLimit("runs/2", 2);
    for (std::int64_t left = world_.Between(1, 3); left > 0; --left) AddMain();
    return MakeRest();
  }

  // What a stage of another run starts. Keys are taken from the top down, or runs that wait for
  // their children would wait for one another.
  RunSpec MakeChild(std::string job, const std::vector<KeyLimit>& above) {
    spec_.title = spec_.job = std::move(job);
    for (const auto& limit : above)
      if (world_.Chance(0.3)) spec_.limits.push_back(limit);
    if (world_.Chance(0.3)) AddLimit(depth_ == 1 ? "child/1" : "grandchild/1", 1);
    for (std::int64_t left = world_.Between(1, 2); left > 0; --left) AddMain();
    return MakeRest();
  }

 private:
  RunSpec MakeRest() {
    if (world_.Chance(0.3)) AddEnd("branch", Section::kBranch);
    if (world_.Chance(0.3)) AddEnd("finally", Section::kFinally);
    if (world_.Chance(0.5)) AddNotices();
    if (world_.Chance(0.2)) spec_.timeout = Duration(world_.Between(20'000, 300'000));
    return std::move(spec_);
  }

  std::uint32_t Add(StageSpec stage) {
    spec_.stages.push_back(std::move(stage));
    return static_cast<std::uint32_t>(spec_.stages.size() - 1);
  }
  void AddLimit(std::string key, std::uint32_t max) {
    spec_.limits.push_back({.key = std::move(key), .max = max});
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
    command.timeout =
        Duration(world_.Chance(mood_.crowded ? 0.3 : 0.05) ? world_.Between(61'000, 240'000)
                                                           : world_.Between(2'000, 40'000));
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
    if (world_.Chance(mood_.crowded ? 0.3 : 0.15)) stage.limits = {{.key = "task/2", .max = 2}};
    if (world_.Chance(0.15)) stage.limits.push_back({.key = "task/3", .max = 3});
    if (world_.Chance(0.3)) stage.retries = {SomeNumber(1, 2), Duration(world_.Between(0, 5'000))};
  }

  void AddMain() {
    if (depth_ < 2 && world_.Chance(mood_.crowded ? 0.35 : 0.1)) return AddJob({});
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

  // Another run, which the stage waits for or not.
  void AddJob(std::optional<std::uint32_t> parent) {
    StageSpec stage;
    stage.name = NextName("job");
    stage.parent = parent;
    const JobAction job{.job = "of-" + stage.name, .params = {}, .wait = world_.Chance(0.5)};
    spec_.jobs[job.job] = std::make_shared<const RunSpec>(
        JobMaker(world_, mood_, depth_ + 1).MakeChild(job.job, spec_.limits));
    stage.action = job;
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
      if (depth_ < 2 && world_.Chance(mood_.crowded ? 0.1 : 0.03)) {
        AddJob(parent);
        continue;
      }
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
  const JobMood& mood_;
  const int depth_;
  RunSpec spec_;
};

}  // namespace

RunSpec SomeSpec(World& world, const JobMood& mood) { return JobMaker(world, mood).Make(); }

}  // namespace muster::sim
