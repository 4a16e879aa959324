#include "adapters/sqlite/restore_marks.hpp"

#include <future>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite_store.hpp"
#include "support/temp_folder.hpp"

namespace muster::sqlite {
namespace {

constexpr Snapshot::Restored kNow{.taken = {5'000}, .at = {6'000}, .logs = true};

// A store that was led twice.
void MakeStore(const TempFolder& folder) {
  auto store = SqliteStore::Open(folder.Path());
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->TakeTerm());
  ASSERT_TRUE((*store)->TakeTerm());
}

TEST(RestoreMarks, RestoredStoreLeapsAndSaysSo) {
  TempFolder folder;
  MakeStore(folder);
  const auto file = folder.Path() / "muster.db";
  const auto marks = MarkRestored(file, kNow, {});
  ASSERT_TRUE(marks) << marks.error().message;
  EXPECT_EQ(marks->term, 2 + (1ULL << 32));
  EXPECT_EQ(marks->id_space, 1U);
  auto store = SqliteStore::Open(folder.Path());
  const Fence fence = *(*store)->TakeTerm();
  EXPECT_EQ(fence.term.value, marks->term + 1);
  const auto snapshot = *(*store)->Load(fence.term);
  EXPECT_EQ(snapshot.id_space, 1U);
  EXPECT_EQ(snapshot.next_run, 1U);
  ASSERT_TRUE(snapshot.restored);
  EXPECT_EQ(snapshot.restored->taken, kNow.taken);
  EXPECT_EQ(snapshot.restored->at, kNow.at);
  EXPECT_TRUE(snapshot.restored->logs);
  EXPECT_EQ(snapshot.restored->number, fence.number);
}

TEST(RestoreMarks, LieAboveTheStoreTheyReplace) {
  TempFolder folder;
  MakeStore(folder);
  const Marks above{.term = 9ULL << 32, .number = 10ULL << 32, .id_space = 7};
  const auto marks = MarkRestored(folder.Path() / "muster.db", kNow, above);
  ASSERT_TRUE(marks) << marks.error().message;
  EXPECT_GT(marks->term, above.term);
  EXPECT_GT(marks->number, above.number);
  EXPECT_EQ(marks->id_space, 8U);
  EXPECT_EQ(ReadMarks(folder.Path() / "muster.db")->id_space, 8U);
}

TEST(RestoreMarks, RestoredStoreKeepsPlansVisitsAndHolds) {
  TempFolder folder;
  muster::Run run;
  run.id = RunId(1);
  run.state = RunState::kRunning;
  auto plan = std::make_shared<RunSpec>();
  plan->stages.emplace_back().name = "drain";
  StageVisit visit;
  visit.visit = Visit(1);
  const KeyHold hold{.key = "db", .task = {.run = RunId(1)}};
  {
    auto store = SqliteStore::Open(folder.Path());
    ASSERT_TRUE(store) << store.error().message;
    const Fence fence = *(*store)->TakeTerm();
    auto batch = std::make_shared<const Batch>(
        Batch{{PutRun{run}, PutPlan{run.id, plan}, PutVisit{run.id, visit}, PutHold{hold}}});
    std::promise<Result<>> done;
    (*store)->Commit(batch, fence.term, CommitNumber(1),
                     [&](Result<> result) { done.set_value(std::move(result)); });
    ASSERT_TRUE(done.get_future().get());
  }
  ASSERT_TRUE(MarkRestored(folder.Path() / "muster.db", kNow, {}));
  auto store = SqliteStore::Open(folder.Path());
  const auto snapshot = *(*store)->Load((*store)->TakeTerm()->term);
  ASSERT_EQ(snapshot.runs.size(), 1U);
  EXPECT_EQ(snapshot.runs[0].run.spec.stages, plan->stages);
  EXPECT_EQ(snapshot.runs[0].visits, std::vector{visit});
  EXPECT_EQ(snapshot.holds, std::vector{hold});
}

// One that was used up after the backup is open in it.
TEST(RestoreMarks, RestoredStoreTakesNoJoinTokenOfBefore) {
  TempFolder folder;
  {
    auto store = SqliteStore::Open(folder.Path());
    ASSERT_TRUE(store) << store.error().message;
    const Fence fence = *(*store)->TakeTerm();
    auto batch = std::make_shared<const Batch>(
        Batch{{PutInvite{{.id = "open", .uses_left = 2, .expires = {9'000'000'000'000}}}}});
    std::promise<Result<>> done;
    (*store)->Commit(batch, fence.term, CommitNumber(1),
                     [&](Result<> result) { done.set_value(std::move(result)); });
    ASSERT_TRUE(done.get_future().get());
    ASSERT_EQ((*store)->Load(fence.term)->invites.size(), 1U);
  }
  ASSERT_TRUE(MarkRestored(folder.Path() / "muster.db", kNow, {}));
  auto store = SqliteStore::Open(folder.Path());
  EXPECT_TRUE((*store)->Load((*store)->TakeTerm()->term)->invites.empty());
}

}  // namespace
}  // namespace muster::sqlite
