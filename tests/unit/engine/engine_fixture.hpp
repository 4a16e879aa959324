#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"
#include "engine/hosts/unrecorded_tasks.hpp"
#include "engine/pipeline.hpp"
#include "ports/forwarding_store.hpp"

namespace muster::engine {

// Drives a pipeline over a memory store by hand: commands in, frames and answers out. Commits are
// held back until Commit() lets the store have them.
class EngineFixture : public ::testing::Test, public Links {
 protected:
  EngineFixture() : disk_(MakeMemoryDisk()), store_(disk_) { Lead(); }

  // A new leadership on the same disk: what was not committed is gone.
  void Lead() {
    held_.reset();
    slots_.clear();
    fetches_.clear();
    pipeline_ = std::make_unique<Pipeline>(
        hold_, *this,
        Pipeline::Listener{
            .reply = [this](Reply reply) { replies_[reply.request] = std::move(reply.answer); },
            .news =
                [this](std::vector<News> news) {
                  for (auto& one : news) news_.push_back(std::move(one));
                },
            .deposed = [this](const Error& why) { deposed_ = why; },
            .committed =
                [this](Pipeline::CommitTicket ticket, Result<> result) {
                  pipeline_->Committed(ticket, std::move(result), now_);
                },
            .work =
                [this](std::vector<ServerWork> work) {
                  for (auto& one : work)
                    std::visit([this](auto& kind) { Note(std::move(kind)); }, one);
                }},
        Pipeline::Settings{.engine = options_});
    ASSERT_TRUE(pipeline_->Lead(now_));
    frames_.clear();
  }

  void Note(ServerOrder order) { server_orders_.push_back(std::move(order)); }
  void Note(StopServerOrder stop) { server_stops_.push_back(stop.task); }
  void Note(PrepareSlot slot) { slots_.push_back(std::move(slot)); }
  void Note(FetchTriggers fetch) { fetches_.push_back(std::move(fetch)); }

  template <typename Request>
  RequestId Ask(Request request) {
    request.caller.request = RequestId(++next_request_);
    pipeline_->Take(AnyCommand(request), now_);
    pipeline_->Drive(now_);
    return request.caller.request;
  }
  // What was answered to a request that Ask handed in.
  template <Answered C>
  Result<typename C::Answer> AnswerTo(RequestId request) {
    return Unpack<C>(replies_.at(request));
  }
  void Tell(AnyCommand command) {
    pipeline_->Take(command, now_);
    pipeline_->Drive(now_);
  }

  // Lets the store have what was sent to it, until nothing is on its way.
  void Settle() {
    for (int i = 0; i < 1000; ++i) {
      if (held_) {
        auto held = std::exchange(held_, std::nullopt);
        store_.Commit(held->batch, held->term, held->number, held->done);
      }
      pipeline_->Drive(now_);
      if (pipeline_->Idle() && pipeline_->engine()->NextWake() > now_.mono) return;
    }
    FAIL() << "the engine does not come to rest";
  }
  void Advance(Duration duration) {
    now_.mono = now_.mono + duration;
    now_.wall = now_.wall + duration;
    Settle();
  }

  // Joins hosts h1…hN; each says Hello on the link of its number.
  void AddHosts(std::uint64_t count) {
    Invite invite{.id = "i",
                  .uses_left = 100,
                  .expires = WallTime{INT64_MAX / 2},
                  .replace = true,
                  .created_by = {}};
    Ask(CreateInvite{.caller = {}, .invite = invite});
    for (std::uint64_t i = 1; i <= count; ++i) {
      const std::string name = "h" + std::to_string(i);
      Ask(JoinHost{.caller = {}, .invite = "i", .name = name, .key = "key-" + name, .labels = {}});
      SayHello(i);
    }
    Settle();
    frames_.clear();
  }
  void SayHello(std::uint64_t host, std::vector<link::HeldTask> tasks = {},
                std::string boot = "boot") {
    NodeHello hello = LookUp(host, std::move(tasks), std::move(boot));
    link_of_[host] = hello.link;
    session_of_[host] = hello.hello.session;
    Tell(std::move(hello));
  }
  // What a host says on a new link, with what is on record of its tasks by now.
  NodeHello LookUp(std::uint64_t host, std::vector<link::HeldTask> tasks,
                   std::string boot = "boot") {
    NodeHello hello;
    hello.link = LinkId(++next_link_);
    hello.key = "key-h" + std::to_string(host);
    hello.hello.store = "store-" + std::to_string(host);
    hello.hello.boot = std::move(boot);
    hello.hello.features = features_;
    hello.hello.session = next_link_;
    std::vector<TaskKey> keys;
    for (const auto& task : tasks) keys.push_back(task.task);
    auto found = store_.FindTasks(keys);
    for (auto& record : found->value) hello.looked.push_back({std::move(record), 0});
    hello.looked_at = found->commit;
    hello.hello.tasks = std::move(tasks);
    EXPECT_TRUE(LookAtRuns(store_, hello));
    return hello;
  }
  // How many such entries the audit trail has.
  std::size_t Acts(const std::string& act) {
    AuditFilter filter;
    filter.act = act;
    return store_.ListAudit(filter, 0, 100)->entries.size();
  }
  void Cut(std::uint64_t host) { Tell(LinkClosed{link_of_.at(host)}); }

  RunId Start(std::uint64_t hosts, StageSpec stage = {}, std::string key = "") {
    auto targets = std::make_shared<Targets>();
    for (std::uint64_t i = 1; i <= hosts; ++i)
      targets->push_back({HostId(i), "h" + std::to_string(i)});
    StartRun start;
    start.key = std::move(key);
    start.body_sha256 = "body";
    start.known = *store_.FindKey("", start.key);
    start.spec.stages = {std::move(stage)};
    start.targets = std::move(targets);
    const auto id = Ask(std::move(start));
    Settle();
    const auto& answer = replies_.at(id);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? std::get<RunStarted>(*answer).run : RunId{};
  }
  void Report(std::uint64_t host, link::ReportKind kind, const TaskKey& task,
              TaskState state = TaskState::kSucceeded, bool with_log = true) {
    NodeReports reports{.link = link_of_.at(host), .session = session_of_.at(host), .reports = {}};
    link::Report report{.task = task, .kind = kind, .end = {}, .log = {}};
    if (kind == link::ReportKind::kEnded) {
      report.end = TaskEnd{};
      report.end->state = state;
      report.end->exit_code = state == TaskState::kFailed ? 1 : 0;
    }
    std::optional<LogMark> mark;
    if (with_log) mark = LogMark{LogState::kComplete, 0, kEmptySha256, kEmptySha256};
    reports.reports.push_back({report, mark});
    Tell(std::move(reports));
    Settle();
  }
  void End(const TaskKey& task, TaskState state = TaskState::kSucceeded) {
    Report(task.host.value, link::ReportKind::kEnded, task, state);
  }

  // Orders sent since the last call, in order.
  std::vector<TaskKey> TakeOrders() {
    std::vector<TaskKey> orders;
    for (const auto& outgoing : frames_)
      for (const auto& order : outgoing.frame.orders) orders.push_back(order.task);
    frames_.clear();
    return orders;
  }
  std::vector<TaskKey> TakeKills() {
    std::vector<TaskKey> kills;
    for (const auto& outgoing : frames_)
      for (const auto& kill : outgoing.frame.kills) kills.push_back(kill.task);
    frames_.clear();
    return kills;
  }
  muster::Run Find(RunId id) { return *store_.FindRun(id)->value; }
  TaskState StateOf(RunId id, std::uint64_t host) {
    TaskFilter filter;
    filter.host = HostId(host);
    const auto rows = store_.ListTasks(id, filter, std::nullopt, 10);
    return rows->empty() ? TaskState::kWaiting : rows->back().state;
  }
  TaskRecord RecordOf(RunId id, std::uint64_t host) {
    TaskFilter filter;
    filter.host = HostId(host);
    return store_.ListTasks(id, filter, std::nullopt, 10)->back();
  }

  void Send(std::vector<Outgoing> frames) override {
    for (auto& frame : frames) frames_.push_back(std::move(frame));
  }
  void Close(LinkId link) override { closed_.push_back(link); }
  void BeginAnew(Term, const std::string&) override {}

  // Holds commits until Settle.
  struct Held {
    std::shared_ptr<const Batch> batch;
    Term term;
    CommitNumber number;
    Store::CommitDone done;
  };

  std::shared_ptr<MemoryDisk> disk_;
  MemoryStore store_;
  std::optional<Held> held_;
  class Holder final : public ForwardingStore {
   public:
    explicit Holder(EngineFixture& test) : ForwardingStore(test.store_), test_(test) {}
    void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                CommitDone done) override {
      test_.held_ = Held{std::move(batch), term, number, std::move(done)};
    }

   private:
    EngineFixture& test_;
  };
  Holder hold_{*this};
  Options options_;
  Now now_{WallTime{1'800'000'000'000}, MonoTime{1'000'000}};
  std::unique_ptr<Pipeline> pipeline_;
  std::map<RequestId, Result<AnyAnswer>> replies_;
  std::vector<News> news_;
  std::vector<Outgoing> frames_;
  std::vector<LinkId> closed_;
  std::vector<ServerOrder> server_orders_;
  std::vector<TaskKey> server_stops_;
  std::vector<PrepareSlot> slots_;
  std::vector<FetchTriggers> fetches_;
  std::optional<Error> deposed_;
  std::vector<std::string> features_;  // of the hosts that say Hello from now on
  std::map<std::uint64_t, LinkId> link_of_;
  std::map<std::uint64_t, std::uint64_t> session_of_;
  std::uint64_t next_request_ = 0;
  std::uint64_t next_link_ = 0;
};

}  // namespace muster::engine
