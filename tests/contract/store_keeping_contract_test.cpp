#include "contract/store_fixture.hpp"

namespace muster {
namespace {

class StoreKeeping : public StoreContract {
 protected:
  static muster::Run Ended(std::uint64_t id, std::int64_t created, std::int64_t ended,
                           std::uint32_t hosts = 1) {
    muster::Run run = RunOf(id, RunState::kSucceeded);
    run.created = {created};
    run.ended = {ended};
    run.hosts = hosts;
    return run;
  }
  std::vector<std::uint64_t> OldRuns(WallTime before, std::size_t most = 100) {
    const auto expired = store_->FindExpired({.runs = before, .audit = {}, .invites = {}}, most);
    EXPECT_TRUE(expired) << expired.error().message;
    std::vector<std::uint64_t> ids;
    for (const auto& old : expired->runs) ids.push_back(old.run.value);
    return ids;
  }
  std::size_t TasksOf(std::uint64_t run) {
    return store_->ListTasks(RunId(run), {}, {}, 10'000)->size();
  }
};

TEST_P(StoreKeeping, HasNothingToFinalizeWhenItIsNew) {
  const auto schema = store_->ReadSchema();
  ASSERT_TRUE(schema) << schema.error().message;
  EXPECT_EQ(schema->version, schema->known);
  EXPECT_LE(schema->needed, schema->known);
  EXPECT_TRUE(schema->unfinished.empty());
  const auto done = store_->Finalize(fence_.term);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->empty());
  Commit({PutRun{RunOf(1)}});
}

TEST_P(StoreKeeping, OldRunsAreFoundOldestFirst) {
  Commit({PutRun{Ended(1, 300, 310)}, PutRun{Ended(2, 100, 110)}, PutRun{Ended(3, 900, 910)}});
  EXPECT_EQ(OldRuns({500}), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(OldRuns({500}, 1), std::vector<std::uint64_t>{2});
  EXPECT_TRUE(OldRuns({0}).empty());
}

TEST_P(StoreKeeping, OpenRunsAndThoseThatEndedLatelyAreNotOld) {
  muster::Run open = RunOf(1, RunState::kRunning);
  open.created = {100};
  Commit({PutRun{open}, PutRun{Ended(2, 100, 600)}, PutRun{Ended(3, 200, 210)}});
  EXPECT_EQ(OldRuns({500}, 1), std::vector<std::uint64_t>{3});
}

TEST_P(StoreKeeping, DroppedRunIsGoneWithAllThatBelongsToIt) {
  auto targets = std::make_shared<Targets>(Targets{{HostId(1), "h1"}});
  const TaskRecord task = TaskRow(1, 0, 1, 1, TaskState::kLost);
  Commit({PutRun{Ended(1, 100, 110)}, PutTargets{RunId(1), targets}, PutTask{task},
          PutWish{{task.key, {}}}, PutRun{Ended(2, 100, 110)}, PutTask{TaskRow(2, 0, 1)}});
  Commit({DropRun{.run = RunId(1)}});
  EXPECT_FALSE(store_->FindRun(RunId(1))->value);
  EXPECT_EQ(store_->FindTargets(RunId(1)).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(TasksOf(1), 0U);
  EXPECT_TRUE(Load().wishes.empty());
  EXPECT_TRUE(store_->FindRun(RunId(2))->value);
  EXPECT_EQ(TasksOf(2), 1U);
  EXPECT_EQ(Load().next_run, 3U) << "no number is given twice";
}

TEST_P(StoreKeeping, LargeRunIsDroppedInSlicesAndStaysFoundUntilItIsGone) {
  std::vector<Change> changes{PutRun{Ended(1, 100, 110, 25)}};
  for (std::uint32_t i = 0; i < 25; ++i)
    changes.emplace_back(PutTask{TaskRow(1, i, i + 1, 1, TaskState::kFailed)});
  Commit(std::move(changes));
  Commit({DropRun{.run = RunId(1), .most = 10}});
  EXPECT_EQ(TasksOf(1), 15U);
  EXPECT_EQ(OldRuns({500}), std::vector<std::uint64_t>{1});
  Commit({DropRun{.run = RunId(1), .most = 10}});
  Commit({DropRun{.run = RunId(1), .most = 10}});
  EXPECT_EQ(TasksOf(1), 0U);
  EXPECT_TRUE(OldRuns({500}).empty());
  Commit({DropRun{.run = RunId(1), .most = 10}});  // once more is harmless
}

TEST_P(StoreKeeping, AuditIsDroppedFromItsFront) {
  std::vector<Change> changes;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    AuditEntry entry;
    entry.number = i;
    entry.at = {static_cast<std::int64_t>(i) * 100};
    changes.emplace_back(AddAudit{entry});
  }
  Commit(std::move(changes));
  const Cutoffs cutoffs{.runs = {}, .audit = {350}, .invites = {}};
  EXPECT_EQ(store_->FindExpired(cutoffs, 100)->audit_below, 4U);
  EXPECT_EQ(store_->FindExpired(cutoffs, 2)->audit_below, 3U);
  Commit({DropAudit{4}});
  EXPECT_EQ(store_->FindExpired(cutoffs, 100)->audit_below, 0U);
  const auto left = store_->ReadAudit(0, 100);
  ASSERT_EQ(left->size(), 3U);
  EXPECT_EQ(left->front().number, 4U);
  EXPECT_EQ(store_->ReadAuditHead()->number, 6U);
}

TEST_P(StoreKeeping, UsedUpInvitesAreFoundAfterTheirEnd) {
  const auto invite = [](std::string id, std::uint32_t uses, std::int64_t expires) {
    Invite made;
    made.id = std::move(id);
    made.uses_left = uses;
    made.expires = {expires};
    return PutInvite{made};
  };
  Commit({invite("a", 0, 100), invite("b", 1, 100), invite("c", 0, 900)});
  const Cutoffs cutoffs{.runs = {}, .audit = {}, .invites = {500}};
  EXPECT_EQ(store_->FindExpired(cutoffs, 100)->invites, std::vector<std::string>{"a"});
  Commit({DropInvite{"a"}, DropInvite{"b"}});
  EXPECT_TRUE(store_->FindExpired(cutoffs, 100)->invites.empty());
  EXPECT_TRUE(Load().invites.empty());
}

MUSTER_STORE_ADAPTERS(StoreKeeping);

}  // namespace
}  // namespace muster
