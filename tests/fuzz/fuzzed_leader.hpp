#pragma once

#include <deque>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "adapters/memory/memory_log_store.hpp"
#include "adapters/memory/memory_store.hpp"
#include "adapters/net/event_loop_impl.hpp"
#include "engine/pipeline.hpp"
#include "ports/forwarding_store.hpp"
#include "server/gateway/gateway.hpp"
#include "server/runtime/worker_pool.hpp"

// A leading server without sockets, whose whole work is done when a call returns: the real gateway,
// intake, pipeline and engine over stores in memory.
namespace muster::fuzz {

class FixedClock final : public Clock {
 public:
  Now Read() const override { return now; }
  Now now{WallTime{1'800'000'000'000}, MonoTime{1'000'000}};
};

// One end of a link: keeps what is sent to it.
class KeptLink final : public net::LinkConnection {
 public:
  KeptLink(std::uint64_t id, std::string key, std::string server = "")
      : id_(id), key_(std::move(key)), server_(std::move(server)) {}
  std::uint64_t Id() const override { return id_; }
  const std::string& PeerKey() const override { return key_; }
  const std::string& PeerServer() const override { return server_; }
  const std::string& Remote() const override { return remote_; }
  void Send(std::string frame) override { sent.push_back(std::move(frame)); }
  std::size_t Unsent() const override { return 0; }
  void Close() override { closed = true; }

  std::vector<std::string> sent;
  bool closed = false;

 private:
  std::uint64_t id_;
  std::string key_;
  std::string server_;
  std::string remote_ = "10.0.0.7:5";
};

// Holds every commit against what must stay true: an ended task or run stays ended, and from
// Watch on nothing changes but what the watched hosts' words can change.
class WatchingStore final : public ForwardingStore {
 public:
  explicit WatchingStore(MemoryStore& store) : ForwardingStore(store), real_(store) {}

  // From now on changes come from these hosts alone; none given: from any.
  void Watch(std::set<HostId> hosts) {
    watching_ = true;
    hosts_ = std::move(hosts);
  }

  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override {
    for (const Change& change : batch->changes) Check(change);
    ForwardingStore::Commit(std::move(batch), term, number, std::move(done));
  }

 private:
  bool Expected(HostId host) const { return hosts_.empty() || hosts_.contains(host); }

  void Check(const Change& change) {
    if (const auto* put = std::get_if<PutTask>(&change)) CheckTask(put->task);
    if (const auto* put = std::get_if<PutRun>(&change)) {
      const auto known = real_.FindRun(put->run.id);
      MUSTER_CHECK(!known->value || !IsFinal(known->value->state) ||
                   known->value->state == put->run.state);
    }
    if (!watching_) return;
    if (const auto* put = std::get_if<PutHost>(&change)) MUSTER_CHECK(Expected(put->host.id));
    // What only people change.
    MUSTER_CHECK(!std::holds_alternative<PutInvite>(change));
    MUSTER_CHECK(!std::holds_alternative<PutPlan>(change));
    MUSTER_CHECK(!std::holds_alternative<PutTargets>(change));
    MUSTER_CHECK(!std::holds_alternative<PutKey>(change));
    MUSTER_CHECK(!std::holds_alternative<PutToken>(change));
    MUSTER_CHECK(!std::holds_alternative<DropToken>(change));
    MUSTER_CHECK(!std::holds_alternative<DropHost>(change));
    MUSTER_CHECK(!std::holds_alternative<PutDocument>(change));
    MUSTER_CHECK(!std::holds_alternative<PutSecret>(change));
    MUSTER_CHECK(!std::holds_alternative<PutFreeze>(change));
    MUSTER_CHECK(!std::holds_alternative<PutTrigger>(change));
  }
  void CheckTask(const TaskRecord& task) {
    if (watching_) MUSTER_CHECK(Expected(task.key.host));
    const auto known = real_.FindTasks({task.key});
    const auto& before = known->value.front();
    if (before && IsFinal(before->state)) MUSTER_CHECK(task.state == before->state);
  }

  MemoryStore& real_;
  bool watching_ = false;
  std::set<HostId> hosts_;
};

class FuzzedLeader {
 public:
  // `links` makes what the engine's messages go through; without it they go to the gateway.
  using MakeLinks = std::function<std::unique_ptr<Links>(FuzzedLeader&)>;
  explicit FuzzedLeader(const MakeLinks& make_links = {}) {
    static const bool quiet = [] {
      spdlog::set_level(spdlog::level::off);
      return true;
    }();
    MUSTER_CHECK(quiet);
    gateway.SetSubmit([this](engine::AnyCommand command) { Submit(std::move(command)); });
    if (make_links) links_ = make_links(*this);
    pipeline_ = MakePipeline();
    MUSTER_CHECK(pipeline_->Lead(clock.now));
    Settle();
  }
  ~FuzzedLeader() { Settle(); }

  void Submit(engine::AnyCommand command) { commands_.push_back(std::move(command)); }

  // Until nothing is left to do at this moment.
  void Settle() {
    for (int round = 0; round < 500; ++round) {
      std::promise<void> passed;
      if (Workers().Post([&] { passed.set_value(); })) passed.get_future().wait();
      const bool moved = loop.impl().context.poll() > 0;
      const bool worked = DriveOnce();
      if (!moved && !worked) return;
    }
    MUSTER_CHECK(!"the server does not come to rest");
  }
  void Advance(Duration by) {
    clock.now.mono = clock.now.mono + by;
    clock.now.wall = clock.now.wall + by;
    Settle();
  }

  // Joins h1…hN with keys "key-h1"…, by an invite.
  void AddHosts(std::uint64_t count) {
    engine::CreateInvite invite;
    invite.invite.id = "i";
    invite.invite.uses_left = 100;
    invite.invite.expires = WallTime{INT64_MAX / 2};
    Submit(std::move(invite));
    for (std::uint64_t i = 1; i <= count; ++i) {
      const std::string name = "h" + std::to_string(i);
      engine::JoinHost join;
      join.invite = "i";
      join.name = name;
      join.key = "key-" + name;
      Submit(std::move(join));
    }
    Settle();
  }
  // A run of one stage that outlives any history.
  void StartRun(const std::vector<std::uint64_t>& hosts, std::uint64_t max_output = 1000) {
    auto targets = std::make_shared<Targets>();
    for (const auto host : hosts) targets->push_back({HostId(host), "h" + std::to_string(host)});
    Command command;
    command.script = "true";
    command.timeout = std::chrono::hours(1000);
    command.max_output = max_output;
    StageSpec stage;
    stage.action = std::make_shared<const Command>(std::move(command));
    engine::StartRun start;
    start.known = *store.FindKey("", "");
    start.spec.stages = {std::move(stage)};
    start.targets = std::move(targets);
    Submit(std::move(start));
    Settle();
  }

  std::shared_ptr<KeptLink> Open(const std::string& key) {
    auto link = std::make_shared<KeptLink>(++next_link_, key);
    gateway.OnLink(link);
    return link;
  }
  void Say(const std::shared_ptr<KeptLink>& link, const std::string& bytes) {
    gateway.OnFrame(*link, bytes);
    Settle();
  }
  void Cut(const std::shared_ptr<KeptLink>& link) {
    gateway.OnClosed(*link);
    Settle();
  }
  std::uint64_t NextLink() { return ++next_link_; }

  // Whoever leads next can go on from the records as they are.
  void CheckAnotherCanLead() {
    Settle();
    pipeline_->StepDown();
    pipeline_ = MakePipeline();
    MUSTER_CHECK(pipeline_->Lead(clock.now));
    Settle();
  }

  static server::WorkerPool& Workers() {
    static server::WorkerPool pool(1);
    return pool;
  }

  FixedClock clock;
  MemoryStore memory;
  WatchingStore store{memory};
  MemoryLogStore logs;
  net::EventLoop loop;
  server::Gateway gateway{loop, store, logs, clock, Workers(), {}};

 private:
  std::unique_ptr<engine::Pipeline> MakePipeline() {
    Links& links = links_ ? *links_ : gateway;
    return std::make_unique<engine::Pipeline>(
        store, links,
        engine::Pipeline::Listener{
            .reply = [](engine::Reply) {},
            .news = [](std::vector<engine::News>) {},
            // Another leader there is none, so it would be a constraint: a bug.
            .deposed = [](const Error&) { MUSTER_CHECK(!"deposed"); },
            .committed =
                [this](engine::Pipeline::CommitTicket ticket, Result<> result) {
                  MUSTER_CHECK(result);
                  committed_.push_back(ticket);
                }},
        engine::Pipeline::Settings{});
  }
  bool DriveOnce() {
    bool worked = false;
    while (pipeline_->Ready() && !commands_.empty()) {
      const engine::AnyCommand command = std::move(commands_.front());
      commands_.pop_front();
      pipeline_->Take(command, clock.now);
      worked = true;
    }
    const MonoTime wake = pipeline_->Drive(clock.now);
    for (; !committed_.empty(); worked = true) {
      const auto ticket = committed_.front();
      committed_.pop_front();
      pipeline_->Committed(ticket, {}, clock.now);
    }
    return worked || wake <= clock.now.mono;
  }

  std::unique_ptr<Links> links_;
  std::unique_ptr<engine::Pipeline> pipeline_;
  std::deque<engine::AnyCommand> commands_;
  std::deque<engine::Pipeline::CommitTicket> committed_;
  std::uint64_t next_link_ = 0;
};

}  // namespace muster::fuzz
