#include <map>

#include "contract/store_fixture.hpp"
#include "support/faulty_store.hpp"
#include "support/random_records.hpp"

namespace muster {
namespace {

TEST_P(StoreContract, TermsGrowAndNumbersStay) {
  EXPECT_EQ(fence_.term, Term(1));
  Commit({});
  const auto next = store_->TakeTerm();
  ASSERT_TRUE(next);
  EXPECT_EQ(*next, (Fence{Term(2), CommitNumber(1)}));
  EXPECT_EQ(store_->ReadFence(), *next);
}

TEST_P(StoreContract, CommitMovesTheFence) {
  Commit({PutRun{RunOf(1)}});
  Commit({});
  EXPECT_EQ(store_->ReadFence(), (Fence{Term(1), CommitNumber(2)}));
}

TEST_P(StoreContract, SameBatchSentAgainIsWrittenOnce) {
  Commit({PutRun{RunOf(1)}});
  // Under the same number, something else: it would show if it were written.
  EXPECT_TRUE(CommitTo(*store_, BatchOf({PutRun{RunOf(2)}}), fence_.term, fence_.number));
  EXPECT_FALSE(store_->FindRun(RunId(2))->value);
  EXPECT_EQ(store_->ReadFence(), fence_);
}

TEST_P(StoreContract, WrongNumbersAreRefusedAndWriteNothing) {
  Commit({});
  Commit({});
  for (const std::uint64_t number : {1U, 4U, 100U}) {
    const auto done =
        CommitTo(*store_, BatchOf({PutRun{RunOf(1)}}), fence_.term, CommitNumber(number));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kInternal);
  }
  EXPECT_FALSE(store_->FindRun(RunId(1))->value);
  EXPECT_EQ(store_->ReadFence(), fence_);
}

TEST_P(StoreContract, OlderTermIsFencedBeforeAndAfterTheNewLeadersFirstCommit) {
  Commit({});
  auto other = disk_->Open();
  const auto taken = other->TakeTerm();
  ASSERT_TRUE(taken);
  const auto expect_fenced = [&] {
    for (const std::uint64_t number : {1U, 2U, 3U}) {
      const auto done =
          CommitTo(*store_, BatchOf({PutRun{RunOf(1)}}), fence_.term, CommitNumber(number));
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, ErrorCode::kFenced);
    }
    EXPECT_FALSE(store_->FindRun(RunId(1))->value);
    EXPECT_EQ(store_->Load(fence_.term).error().code, ErrorCode::kFenced);
  };
  expect_fenced();
  ASSERT_TRUE(CommitTo(*other, BatchOf({PutRun{RunOf(9)}}), taken->term, CommitNumber(2)));
  expect_fenced();
  EXPECT_TRUE(store_->FindRun(RunId(9))->value);
}

TEST_P(StoreContract, LostAnswerThenResendWritesOnce) {
  FaultyStore faulty(*store_);
  faulty.FailNext(CommitFault::kAnswerLost);
  const Batch batch = BatchOf({PutRun{RunOf(1)}});
  const auto lost = CommitTo(faulty, batch, fence_.term, CommitNumber(1));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(store_->FindRun(RunId(1))->value);
  EXPECT_TRUE(CommitTo(faulty, batch, fence_.term, CommitNumber(1)));
  EXPECT_EQ(store_->ReadFence(), (Fence{fence_.term, CommitNumber(1)}));
}

TEST_P(StoreContract, RefusedThenResentBatchIsWritten) {
  FaultyStore faulty(*store_);
  faulty.FailNext(CommitFault::kUnavailable);
  faulty.FailNext(CommitFault::kDiskFull);
  const Batch batch = BatchOf({PutRun{RunOf(1)}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(CommitTo(faulty, batch, fence_.term, CommitNumber(1)).error().code,
              ErrorCode::kUnavailable);
    EXPECT_FALSE(store_->FindRun(RunId(1))->value);
  }
  EXPECT_TRUE(CommitTo(faulty, batch, fence_.term, CommitNumber(1)));
  EXPECT_TRUE(store_->FindRun(RunId(1))->value);
}

TEST_P(StoreContract, DelayedCommitOfAnOldTermIsFenced) {
  FaultyStore faulty(*store_);
  faulty.FailNext(CommitFault::kDelayed);
  std::promise<Result<>> answer;
  faulty.Commit(std::make_shared<const Batch>(BatchOf({PutRun{RunOf(1)}})), fence_.term,
                CommitNumber(1), [&](Result<> result) { answer.set_value(std::move(result)); });
  ASSERT_EQ(faulty.Delayed(), 1U);
  ASSERT_TRUE(disk_->Open()->TakeTerm());
  faulty.ReleaseDelayed();
  EXPECT_EQ(answer.get_future().get().error().code, ErrorCode::kFenced);
  EXPECT_FALSE(store_->FindRun(RunId(1))->value);
}

TEST_P(StoreContract, BatchIsWrittenWholeOrNotAtAll) {
  Commit({PutTask{TaskRow(1, 0, 7)}});
  for (const auto& wrong : {TaskRow(0, 0, 7), TaskRow(1, 0, 8)}) {
    const auto done = CommitTo(*store_, BatchOf({PutRun{RunOf(5)}, PutTask{wrong}}), fence_.term,
                               CommitNumber(2));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kInternal);
    EXPECT_FALSE(store_->FindRun(RunId(5))->value);
  }
  EXPECT_EQ(store_->ReadFence(), fence_);
  Commit({PutRun{RunOf(5)}});
}

TEST_P(StoreContract, EmptyStoreLoads) {
  const Snapshot snapshot = Load();
  EXPECT_EQ(snapshot.fence, fence_);
  EXPECT_FALSE(snapshot.cluster.empty());
  EXPECT_EQ(snapshot.next_run, 1U);
  EXPECT_EQ(snapshot.next_host, 1U);
  EXPECT_EQ(snapshot.audit, AuditHead());
  EXPECT_TRUE(snapshot.tokens.empty());
  EXPECT_TRUE(snapshot.hosts.empty() && snapshot.runs.empty() && snapshot.open_logs.empty());
}

TEST_P(StoreContract, ClusterAndRecordsOutliveTheStore) {
  const std::string cluster = Load().cluster;
  Commit({PutRun{RunOf(1)},
          PutTargets{RunId(1), std::make_shared<Targets>(Targets{{HostId(1), "a"}})},
          PutTask{TaskRow(1, 0, 1)}});
  Reopen();
  const Snapshot snapshot = Load();
  EXPECT_EQ(snapshot.cluster, cluster);
  ASSERT_EQ(snapshot.runs.size(), 1U);
  EXPECT_EQ(snapshot.runs[0].targets->at(0).name, "a");
  EXPECT_EQ(snapshot.runs[0].tasks.size(), 1U);
}

TEST_P(StoreContract, CountersNeverGoBack) {
  Host host;
  host.id = HostId(40);
  AuditEntry entry;
  entry.number = 12;
  entry.hash = "twelve";
  Commit({PutRun{RunOf(30)}, PutHost{host}, AddAudit{entry}});
  host.id = HostId(3);
  entry.number = 2;
  entry.hash = "two";
  Commit({PutRun{RunOf(4)}, PutHost{host}, AddAudit{entry}});
  // Of another id space: says nothing of this one's numbers.
  muster::Run foreign = RunOf(1);
  foreign.id = MakeRunId(3, 999);
  Commit({PutRun{foreign}});
  Reopen();
  const Snapshot snapshot = Load();
  EXPECT_EQ(snapshot.next_run, 31U);
  EXPECT_EQ(snapshot.next_host, 41U);
  EXPECT_EQ(snapshot.audit, (AuditHead{12, "twelve"}));
}

TEST_P(StoreContract, LoadsOnlyInvitesThatCount) {
  Commit({PutInvite{{.id = "a", .uses_left = 1}}, PutInvite{{.id = "b", .uses_left = 2}}});
  Commit({PutInvite{{.id = "a", .uses_left = 0}}});
  const Snapshot snapshot = Load();
  ASSERT_EQ(snapshot.invites.size(), 1U);
  EXPECT_EQ(snapshot.invites[0].id, "b");
  // The server that used it may ask again.
  const Invite used{.id = "c",
                    .uses_left = 0,
                    .server = true,
                    .server_name = "s2",
                    .server_key = "k",
                    .answers = 3};
  Commit({PutInvite{used}});
  EXPECT_EQ(Load().invites.back(), used);
  const Cutoffs all{.runs = {}, .audit = {}, .invites = {INT64_MAX}};
  EXPECT_EQ(store_->FindExpired(all, 10)->invites, std::vector<std::string>{"a"});
}

TEST_P(StoreContract, PendingJoinsStayUntilDroppedOnePerName) {
  PendingJoin one{.name = "web1", .key = "k1", .invite = "i", .since = {7}};
  const PendingJoin two{.name = "web2", .key = "k2", .invite = "i", .since = {8}};
  Commit({PutPending{two}, PutPending{one}});
  EXPECT_EQ(Load().pending, (std::vector{one, two}));
  one.rejected = "by bob";
  Commit({PutPending{one}, DropPending{"web2"}, DropPending{"never there"}});
  EXPECT_EQ(Load().pending, std::vector{one});
}

TEST_P(StoreContract, DroppedHostsAreGoneAndTheirIdsStayUsed) {
  Commit({PutHost{{.id = HostId(3), .name = "a"}}, PutHost{{.id = HostId(7), .name = "b"}}});
  Commit({DropHost{HostId(7)}, DropHost{HostId(99)}});
  const Snapshot snapshot = Load();
  ASSERT_EQ(snapshot.hosts.size(), 1U);
  EXPECT_EQ(snapshot.hosts[0].id, HostId(3));
  EXPECT_EQ(snapshot.next_host, 8U);
}

TEST_P(StoreContract, LoadsOpenRunsAndLeavesEndedOnes) {
  Commit(
      {PutRun{RunOf(1)}, PutTask{TaskRow(1, 0, 1)}, PutRun{RunOf(2)}, PutTask{TaskRow(2, 0, 1)}});
  Commit({PutRun{RunOf(1, RunState::kFailed)}});
  const Snapshot snapshot = Load();
  ASSERT_EQ(snapshot.runs.size(), 1U);
  EXPECT_EQ(snapshot.runs[0].run.id, RunId(2));
}

TEST_P(StoreContract, LoadsLogsThatEndedRunsLeftOpen) {
  auto open = TaskRow(1, 0, 1, 1, TaskState::kSucceeded);
  auto closed = TaskRow(1, 1, 2, 1, TaskState::kSucceeded);
  closed.log.state = LogState::kComplete;
  auto of_open_run = TaskRow(2, 0, 1, 1, TaskState::kFailed);
  Commit({PutRun{RunOf(1, RunState::kSucceeded)}, PutTask{open}, PutTask{closed},
          PutTask{TaskRow(1, 2, 3)}, PutRun{RunOf(2)}, PutTask{of_open_run}});
  EXPECT_EQ(Load().open_logs, std::vector{open});
  open.log.state = LogState::kGap;
  Commit({PutTask{open}});
  EXPECT_TRUE(Load().open_logs.empty());
}

TEST_P(StoreContract, WishesStayUntilDropped) {
  const OpenWish one{.task = TaskRow(1, 0, 1).key, .wish = {.by = "bob", .at = {7}, .reason = "x"}};
  const OpenWish two{.task = TaskRow(1, 1, 2).key, .wish = {.by = "eve", .at = {8}, .reason = ""}};
  Commit({PutWish{one}, PutWish{two}});
  EXPECT_EQ(Load().wishes, (std::vector{one, two}));
  Commit({DropWish{one.task}, DropWish{TaskRow(9, 9, 9).key}});
  EXPECT_EQ(Load().wishes, std::vector{two});
}

TEST_P(StoreContract, TokensStayUntilDropped) {
  const Token alice{.name = "alice",
                    .hash = std::string("\0\xff", 2),
                    .role = Role::kAdmin,
                    .created_by = "admin",
                    .created = {5},
                    .expires = {9},
                    .revoked_by = {},
                    .revoked = {}};
  Token bob = alice;
  bob.name = "bob";
  Commit({PutToken{bob}, PutToken{alice}});
  bob.revoked = {7};
  bob.revoked_by = "alice";
  Commit({PutToken{bob}});
  Reopen();
  EXPECT_EQ(Load().tokens, (std::vector{alice, bob}));
  EXPECT_EQ(*store_->ListTokens(), (std::vector{alice, bob}));
  Commit({DropToken{"alice"}, DropToken{"nobody"}});
  EXPECT_EQ(Load().tokens, std::vector{bob});
  EXPECT_EQ(*store_->ListTokens(), std::vector{bob});
}

TEST_P(StoreContract, LoadGivesBackWhateverWasPut) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    disk_ = GetParam().make();
    store_ = disk_->Open();
    TakeTerm();
    RandomRecords random(seed);
    std::map<HostId, Host> hosts;
    std::map<std::string, Invite> invites;
    std::map<RunId, muster::Run> runs;
    std::map<TaskKey, TaskRecord> tasks;
    std::map<TaskKey, OpenWish> wishes;
    std::map<std::string, PendingJoin> pending;
    std::map<RunId, std::map<Visit, StageVisit>> visits;
    std::map<std::pair<TaskKey, std::string>, KeyHold> holds;
    for (int batch = 0; batch < 5; ++batch) {
      std::vector<Change> changes;
      for (int i = 0; i < 20; ++i) {
        const Host host = random.SomeHost();
        const Invite invite = random.SomeInvite();
        const muster::Run run = random.SomeRun();
        TaskRecord task = random.Task();
        // A few places, so that some are put again; the host follows from the place.
        task.key.run = run.id;
        task.key.ordinal %= 4;
        task.key.host = HostId(100 + task.key.ordinal);
        const OpenWish wish{.task = random.Key(), .wish = random.Wish()};
        hosts[host.id] = host;
        invites[invite.id] = invite;
        runs[run.id] = run;
        tasks[task.key] = task;
        wishes[wish.task] = wish;
        const PendingJoin join = random.SomePending();
        pending[join.name] = join;
        const StageVisit visit = random.SomeVisit();
        visits[run.id][visit.visit] = visit;
        const KeyHold hold = random.Hold();
        holds[{hold.task, hold.key}] = hold;
        changes.insert(changes.end(),
                       {PutHost{host}, PutInvite{invite}, PutRun{run}, PutTask{task}, PutWish{wish},
                        PutPending{join}, PutVisit{run.id, visit}, PutHold{hold}});
        changes.emplace_back(PutPlan{run.id, std::make_shared<const RunSpec>(run.spec)});
      }
      Commit(std::move(changes));
    }
    const Snapshot snapshot = Load();
    std::vector<Host> want_hosts;
    for (const auto& [id, host] : hosts) want_hosts.push_back(host);
    EXPECT_EQ(snapshot.hosts, want_hosts);
    std::vector<OpenWish> want_wishes;
    for (const auto& [id, wish] : wishes) want_wishes.push_back(wish);
    EXPECT_EQ(snapshot.wishes, want_wishes);
    std::vector<PendingJoin> want_pending;
    for (const auto& [name, join] : pending) want_pending.push_back(join);
    EXPECT_EQ(snapshot.pending, want_pending);
    std::vector<KeyHold> want_holds;
    for (const auto& [key, hold] : holds) want_holds.push_back(hold);
    EXPECT_EQ(snapshot.holds, want_holds);
    std::vector<Invite> want_invites;
    for (const auto& [id, invite] : invites)
      if (invite.Counts()) want_invites.push_back(invite);
    EXPECT_EQ(snapshot.invites, want_invites);
    std::size_t open = 0;
    for (const auto& [id, run] : runs) {
      const auto found = store_->FindRun(id);
      ASSERT_TRUE(found && found->value);
      EXPECT_TRUE(SameRun(*found->value, run));
      if (IsFinal(run.state)) continue;
      ASSERT_LT(open, snapshot.runs.size());
      EXPECT_TRUE(SameRun(snapshot.runs[open].run, run));
      std::vector<StageVisit> want_visits;
      for (const auto& [number, visit] : visits[id]) want_visits.push_back(visit);
      EXPECT_EQ(snapshot.runs[open++].visits, want_visits);
    }
    EXPECT_EQ(open, snapshot.runs.size());
    std::vector<TaskKey> keys;
    std::vector<std::optional<TaskRecord>> want_tasks;
    for (const auto& [key, task] : tasks) {
      keys.push_back(key);
      want_tasks.emplace_back(task);
    }
    EXPECT_EQ(store_->FindTasks(keys)->value, want_tasks);
  }
}

MUSTER_STORE_ADAPTERS(StoreContract);

}  // namespace
}  // namespace muster
