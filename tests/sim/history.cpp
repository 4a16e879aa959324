#include "sim/history.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "sim/cluster/cluster_faults.hpp"
#include "sim/cluster/sim_cluster.hpp"
#include "sim/one_server.hpp"
#include "sim/sim_freezes.hpp"
#include "sim/sim_host.hpp"
#include "sim/sim_jobs.hpp"
#include "sim/sim_operator.hpp"
#include "sim/sim_server.hpp"
#include "sim/truth.hpp"
#include "sim/world.hpp"

namespace muster::sim {
namespace {

constexpr std::int64_t kTrouble = 120'000;  // ms of a history in which things break
// After the last fault: the longest timeout, grace, reconnect bound and take-over grace, with room.
constexpr std::int64_t kQuiet = 420'000;

bool IsWorthRepeating(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout;
}

class History {
 public:
  History(World& world, Truth& truth, Servers& servers)
      : world_(world), truth_(truth), server_(servers), operator_(world_, truth, servers) {}

  // What is frozen may be lost with the records.
  void RecordsLost() {
    freezes_.Forget();
    StopOldWork();
  }

  Summary Play(ServerFaults& faults);

 private:
  void Invite();
  void AddHosts();
  void PlanRuns();
  void PlanLosses(ServerFaults& faults);
  void LoseWork(ServerFaults& faults, int tries);
  void StartRun(const std::string& key, const engine::StartRun& request, bool will_stop);
  void StopRun(RunId run, Duration grace);
  void StopOldWork();
  void PlanFaults(ServerFaults& faults);
  void BreakSomething();
  void Revoke();
  void Operate();
  void Mend();
  void CheckHosts();
  bool AnyCopy() const {
    return std::ranges::any_of(hosts_, [](const auto& host) { return host->IsCopy(); });
  }
  void CheckStopped() {
    for (const auto& host : hosts_) host->CheckStopped();
  }
  SimHost& AnyHost() {
    return *hosts_[static_cast<std::size_t>(
        world_.Between(0, static_cast<std::int64_t>(hosts_.size()) - 1))];
  }

  World& world_;
  Truth& truth_;
  NetMood net_;
  JobMood jobs_;
  Servers& server_;
  SimOperator operator_;
  SimFreezes freezes_{world_, server_};
  std::vector<std::unique_ptr<SimHost>> hosts_;
  std::vector<std::unique_ptr<SimHost>> clones_;
};

void History::Invite() {
  muster::Invite invite;
  invite.id = "invite";
  invite.uses_left = 1'000'000;
  invite.expires = WallTime{INT64_MAX / 2};
  invite.replace = true;
  server_.Ask(engine::CreateInvite{.caller = {}, .invite = invite}, [](const auto&) {});
  invite.id = "plain";
  invite.replace = false;
  server_.Ask(engine::CreateInvite{.caller = {}, .invite = invite}, [](const auto&) {});
  world_.RunUntil(world_.Now() + 1000);
}

void History::AddHosts() {
  const std::int64_t count = world_.Chance(0.02) ? world_.Between(200, 300) : world_.Between(1, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    hosts_.push_back(
        std::make_unique<SimHost>(world_, truth_, server_, net_, fmt::format("h{}", i + 1)));
    hosts_.back()->Join([host = hosts_.back().get()] { host->StartAgent(); });
  }
  world_.RunUntil(world_.Now() + 5000);
}

// A caller who is patient: asks again under the same key until there is an answer.
void History::StartRun(const std::string& key, const engine::StartRun& request, bool will_stop) {
  auto done = std::make_shared<bool>(false);
  engine::StartRun attempt = request;
  attempt.known = *server_.store().FindKey("sim", key);
  world_.After(world_.Delay(3, 500), [this, attempt, key, will_stop, done] {
    const auto guard = freezes_.Look();
    server_.Ask(attempt, [this, key, will_stop, done,
                          guard](const Result<engine::StartRun::Answer>& answer) {
      if (!answer || std::holds_alternative<engine::GateClosed>(*answer)) return;
      *done = true;
      const auto& started = std::get<engine::RunStarted>(*answer);
      if (!started.repeated && freezes_.Broken(guard))
        throw Violation(FormatRunId(started.run) + " was started while runs were frozen");
      truth_.StartAnswered(key, started.run, server_.store());
      world_.Trace("answered: {} is {}", key, FormatRunId(started.run));
      if (will_stop)
        world_.After(world_.Between(0, 15'000), [this, run = started.run] {
          StopRun(run, Duration(world_.Between(0, 3000)));
        });
      // Now and then the answer is lost on the way to the caller, who asks once more.
      if (world_.Chance(0.1)) *done = false;
    });
  });
  world_.After(world_.Between(800, 4000), [this, key, request, will_stop, done] {
    if (!*done) StartRun(key, request, will_stop);
  });
}

void History::StopRun(RunId run, Duration grace) {
  auto done = std::make_shared<bool>(false);
  engine::StopRun request{.caller = {},
                          .run = run,
                          .host = {},
                          .grace = grace,
                          .reason = "sim",
                          .known = *server_.store().FindRun(run)};
  server_.Ask(request, [this, run, done](const Result<engine::RunStopping>& answer) {
    *done = answer || !IsWorthRepeating(answer.error().code);
    if (answer) truth_.StopAnswered(run);
    world_.Trace("stop of {} answered: {}", FormatRunId(run),
                 answer ? "yes" : answer.error().message);
  });
  world_.After(world_.Between(800, 4000), [this, run, grace, done] {
    if (!*done) StopRun(run, grace);
  });
}

// After a restore operators stop some of the runs that hosts still work for.
void History::StopOldWork() {
  if (truth_.Life() == 0) return;
  std::set<RunId> runs;
  for (const auto& host : hosts_) runs.merge(host->RunsAtWork());
  for (const RunId run : runs)
    if (world_.Chance(0.3))
      world_.After(world_.Between(0, 60'000),
                   [this, run] { StopRun(run, Duration(world_.Between(0, 3000))); });
}

void History::PlanRuns() {
  jobs_.crowded = world_.Chance(0.25);
  const std::int64_t count = world_.Between(1, jobs_.crowded ? 12 : 8);
  for (std::int64_t i = 0; i < count; ++i) {
    world_.After(world_.Between(0, kTrouble), [this, i] {
      auto targets = std::make_shared<Targets>();
      const auto snapshot = server_.store().ReadFence();
      (void)snapshot;
      for (std::size_t h = 0; h < hosts_.size(); ++h)
        if (world_.Chance(0.7)) targets->push_back({HostId(h + 1), fmt::format("h{}", h + 1)});
      if (targets->empty()) targets->push_back({HostId(1), "h1"});
      engine::StartRun request;
      request.key = fmt::format("key-{}", i);
      request.body_sha256 = "body";
      request.spec = SomeSpec(world_, jobs_);
      request.targets = targets;
      StartRun(request.key, request, world_.Chance(0.3));
    });
  }
}

// A host with work of minutes is away for longer than it is waited for. Its work is stopped, and
// soon called lost; then others lead.
void History::LoseWork(ServerFaults& faults, int tries) {
  SimHost& host = AnyHost();
  if (!host.AgentUp() || !host.WorksFor(100'000)) {
    if (tries > 0)
      world_.After(world_.Between(500, 3000),
                   [this, &faults, tries] { LoseWork(faults, tries - 1); });
    return;
  }
  host.CrashAgent();
  world_.After(world_.Between(100'000, 160'000), [&host] { host.StartAgent(); });
  for (const RunId run : host.RunsAtWork())
    if (world_.Chance(0.7)) StopRun(run, Duration(world_.Between(0, 3000)));
  world_.After(world_.Between(70'000, 90'000), [&faults] { faults.Replace(); });
}

void History::PlanLosses(ServerFaults& faults) {
  if (jobs_.crowded && world_.Chance(0.5))
    world_.After(world_.Between(5000, kTrouble / 3), [this, &faults] { LoseWork(faults, 20); });
}

void History::BreakSomething() {
  const std::int64_t kind = world_.Between(0, 68);
  if (kind < 20) {
    AnyHost().CutLink();
  } else if (kind < 35) {
    SimHost& host = AnyHost();
    host.CrashAgent();
    world_.After(world_.Delay(1000, 30'000), [&host] { host.StartAgent(); });
  } else if (kind < 45) {
    SimHost& host = AnyHost();
    host.PowerLoss();
    world_.After(world_.Delay(3000, 30'000), [&host] { host.StartAgent(); });
  } else if (kind < 51) {
    SimHost& host = AnyHost();
    host.Reimage();
    // Its new key takes over at once, or waits for the operator.
    host.UseInvite(world_.Chance(0.5) ? "invite" : "plain");
    world_.After(world_.Delay(3000, 30'000),
                 [&host] { host.Join([&host] { host.StartAgent(); }); });
  } else if (kind < 54) {
    clones_.push_back(AnyHost().Clone());
    clones_.back()->StartAgent();
  } else if (kind < 59) {
    Revoke();
  } else if (kind < 62) {
    SimHost& host = AnyHost();
    host.TakeSnapshot();
    world_.After(world_.Between(1000, 60'000), [&host] { host.PutSnapshotBack(); });
    world_.After(world_.Between(62'000, 80'000), [&host] { host.StartAgent(); });
  } else {
    net_.rare = world_.Chance(0.5) ? 20'000 : 3000;
    net_.usual = world_.Chance(0.5) ? 500 : 5;
    world_.After(world_.Between(1000, 20'000), [this] { net_ = {}; });
  }
}

// An operator refuses a host's key; later the machine is set up anew.
void History::Revoke() {
  SimHost& host = AnyHost();
  world_.Trace("{} is to be revoked", host.name());
  server_.Ask(engine::RevokeHost{.caller = {}, .name = host.name(), .reason = "sim"},
              [this](const Result<engine::HostChanged>& answer) {
                if (!answer) return;
                const Host& revoked = answer->host;
                world_.Trace("{} is revoked, key {}", revoked.name, revoked.key);
                server_.Forbid(revoked.key);
              });
  world_.After(world_.Delay(10'000, 30'000), [this, &host] {
    host.Reimage();
    host.UseInvite(world_.Chance(0.5) ? "invite" : "plain");
    host.Join([&host] { host.StartAgent(); });
  });
}

// Lets whoever waits take over the name it asks for.
void History::Operate() {
  server_.Ask(engine::ListPending{}, [this](const Result<engine::PendingJoins>& answer) {
    if (!answer) return;
    for (const auto& join : answer->joins)
      server_.Ask(engine::AcceptJoin{.caller = {}, .name = join.name, .key = join.key},
                  [](const auto&) {});
  });
  world_.After(world_.Between(3000, 12'000), [this] { Operate(); });
}

void History::PlanFaults(ServerFaults& faults) {
  const std::int64_t count = world_.Chance(0.1) ? 0 : world_.Between(1, 25);
  for (std::int64_t i = 0; i < count; ++i)
    world_.After(world_.Between(0, kTrouble), [this, &faults] {
      if (faults.Breaks())
        faults.Break();
      else
        BreakSomething();
    });
  faults.Plan(kTrouble);
}

void History::Mend() {
  net_ = {};
  // An operator shuts the copies down. The originals are taken back by themselves, unless he is in
  // a hurry and lets them join anew.
  for (auto& clone : clones_) clone->CrashAgent();
  for (auto& host : hosts_) {
    if (host->Refused() || (host->IsCopy() && world_.Chance(0.1))) host->Reimage();
    if (!host->Joined()) {
      host->Join([h = host.get()] { h->StartAgent(); });
    } else {
      host->StartAgent();
    }
  }
}

void History::CheckHosts() {
  for (const auto& host : hosts_) {
    if (!host->Welcomed()) throw Violation(host->name() + " is up and has no link at the end");
    if (host->Alive() != 0) throw Violation(host->name() + " still runs a process at the end");
    if (host->Holding() != 0) throw Violation(host->name() + " was never told to forget its tasks");
  }
}

Summary History::Play(ServerFaults& faults) {
  faults.Begin();
  Invite();
  AddHosts();
  PlanRuns();
  PlanFaults(faults);
  PlanLosses(faults);
  freezes_.Plan(kTrouble, hosts_.size());
  Operate();
  operator_.Work();
  world_.RunUntil(world_.Now() + kTrouble + 45'000);
  operator_.OnlyFinish();
  faults.Mend();
  Mend();
  world_.RunUntil(world_.Now() + 60'000);
  CheckStopped();
  Mend();  // copies that were refused only after the first mending
  world_.RunUntil(world_.Now() + kQuiet);
  // Jobs of many stages take longer than a command; but not for ever.
  for (int hours = 0; hours < 12 && !operator_.AllOver(); ++hours)
    world_.RunUntil(world_.Now() + 3'600'000);
  world_.RunUntil(world_.Now() + kQuiet);
  // A host that is taken back by itself has to be heard often enough, and may meet servers that are
  // down.
  for (int more = 0; more < 8 && AnyCopy(); ++more) world_.RunUntil(world_.Now() + kQuiet);
  truth_.CheckEnd(server_.store(), server_.log_disk());
  CheckHosts();
  faults.CheckEnd();
  return {world_.Executed(), hosts_.size(), truth_.Runs(), truth_.processes().size()};
}

}  // namespace

Summary PlayHistory(std::uint64_t seed, int servers, bool trace) {
  World world(seed, trace);
  Truth truth(world);
  if (servers == 1) {
    DiskMood disk;
    SimServer server(world, truth, disk);
    History history(world, truth, server);
    OneServerFaults faults(world, server, disk, [&history] { history.RecordsLost(); });
    return history.Play(faults);
  }
  SimCluster cluster(world, truth, servers);
  History history(world, truth, cluster);
  ClusterFaults faults(world, cluster);
  return history.Play(faults);
}

}  // namespace muster::sim
