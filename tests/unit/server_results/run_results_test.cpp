#include "server/results/run_results.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/server_results/results_fixture.hpp"

namespace muster::server {
namespace {

engine::News Told(const TaskKey& task, TaskState state) {
  return engine::TaskNews{.task = task, .state = state, .reason = {}};
}

std::vector<std::string> Lines(const RunResults::Grouped& grouped) {
  std::vector<std::string> lines;
  for (const auto& group : grouped.groups)
    lines.push_back(fmt::format("{} {} exit {}: {}", group.count, Name(group.outcome.state),
                                group.outcome.exit_code, group.hosts));
  return lines;
}

TEST(RunResults, GroupsFollowTheCommits) {
  FollowedRun run(10);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(10))}});
  for (std::uint32_t i = 0; i < 8; ++i) run.Commit({PutTask{Sent(KeyOf(1, i))}});
  for (std::uint32_t i = 0; i < 5; ++i)
    run.Commit({PutTask{Ended(KeyOf(1, i), TaskState::kSucceeded, 0, 'a')}});
  run.Commit({PutTask{Ended(KeyOf(1, 5), TaskState::kFailed, 3, 'b')}});
  run.results.Take({Told(KeyOf(1, 6), TaskState::kRunning)});
  const auto grouped = run.results.GroupsOf({kRun}, RunResults::GroupBy::kOutput, 100);
  ASSERT_TRUE(grouped);
  EXPECT_THAT(
      Lines(*grouped),
      testing::ElementsAre("1 failed exit 3: h6", "2 waiting exit 0: h[9-10]", "1 sent exit 0: h8",
                           "1 running exit 0: h7", "5 succeeded exit 0: h[1-5]"));
  EXPECT_EQ(grouped->total, 10U);
  EXPECT_EQ(grouped->groups.back().sample_host, "h1");
  EXPECT_EQ(grouped->groups.back().sample.bytes, 7U);
}

TEST(RunResults, OutputThatIsNotWholeIsAGroupOfItsOwn) {
  FollowedRun run(3);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(3))}});
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto row = Ended(KeyOf(1, i), TaskState::kSucceeded, 0, 'a');
    if (i == 1) row.log.state = LogState::kCut;
    run.Commit({PutTask{row}});
  }
  const auto grouped = run.results.GroupsOf({kRun}, RunResults::GroupBy::kOutput, 100);
  ASSERT_TRUE(grouped);
  ASSERT_EQ(grouped->groups.size(), 2U);
  EXPECT_EQ(grouped->groups[0].outcome.log, LogState::kComplete);
  EXPECT_EQ(grouped->groups[0].hosts, "h[1,3]");
  EXPECT_EQ(grouped->groups[1].outcome.log, LogState::kCut);
  EXPECT_EQ(grouped->groups[1].hosts, "h2");
}

TEST(RunResults, OutcomesCountAllHostsWhateverTheyPrinted) {
  constexpr std::uint32_t kHosts = 1000;
  FollowedRun run(kHosts);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(kHosts))}});
  std::vector<Change> ended;
  for (std::uint32_t i = 0; i < kHosts; ++i) {
    auto row =
        Ended(KeyOf(1, i), i < 7 ? TaskState::kFailed : TaskState::kSucceeded, i < 7 ? 2 : 0, 'a');
    row.log.stdout_sha256 = fmt::format("{:032}", i);
    if (i < 7) row.reason = i == 3 ? "out of memory" : "";
    ended.push_back(PutTask{row});
  }
  run.Commit(ended);
  const auto grouped = run.results.GroupsOf({kRun}, RunResults::GroupBy::kOutcome, 100);
  ASSERT_TRUE(grouped);
  EXPECT_THAT(Lines(*grouped),
              testing::ElementsAre("7 failed exit 2: h[1-7]", "993 succeeded exit 0: h[8-1000]"));
  EXPECT_EQ(grouped->groups_total, 2U);
  EXPECT_EQ(grouped->groups[0].outcome.reason, "") << "there are several";
  EXPECT_EQ(grouped->groups[1].sample_host, "h8");
}

TEST(RunResults, FirstGroupsAreTheWorstAndBiggest) {
  FollowedRun run(6);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(6))}});
  for (std::uint32_t i = 0; i < 6; ++i)
    run.Commit({PutTask{Ended(KeyOf(1, i), TaskState::kFailed, i < 3 ? 1 : int(i), 'a')}});
  const auto grouped = run.results.GroupsOf({kRun}, RunResults::GroupBy::kOutput, 2);
  EXPECT_THAT(Lines(*grouped),
              testing::ElementsAre("3 failed exit 1: h[1-3]", "1 failed exit 3: h4"));
  EXPECT_EQ(grouped->groups_total, 4U);
}

TEST(RunResults, ListsOfHostsAreCutBySizeNotByTheirPlace) {
  // 30 groups of 100 hosts that are not neighbours.
  constexpr std::uint32_t kGroups = 30;
  constexpr std::uint32_t kEach = 100;
  FollowedRun run(kGroups * kEach);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(kGroups * kEach))}});
  std::vector<Change> ended;
  for (std::uint32_t i = 0; i < kGroups * kEach; ++i)
    ended.push_back(
        PutTask{Ended(KeyOf(1, i), TaskState::kFailed, static_cast<int>(i % kGroups) + 1)});
  run.Commit(ended);
  const auto grouped = run.results.GroupsOf({kRun}, RunResults::GroupBy::kOutput, 400);
  ASSERT_TRUE(grouped);
  ASSERT_EQ(grouped->groups.size(), kGroups);
  for (const auto& group : grouped->groups)
    EXPECT_EQ(group.hosts.find("more"), std::string::npos) << group.hosts;
}

TEST(RunResults, WindowsNameTheLastTaskOfEachHost) {
  FollowedRun run(5);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(5))},
              PutVisit{kRun, VisitTo("two", 2, Ordinals::Of({1, 2}))}});
  for (std::uint32_t i = 0; i < 4; ++i)
    run.Commit({PutTask{Ended(KeyOf(1, i), TaskState::kSucceeded)}});
  run.Commit({PutTask{Ended(KeyOf(2, 2), TaskState::kFailed, 1)}});
  const auto window = run.results.RowsOf({kRun}, {.from = 1, .limit = 2});
  ASSERT_TRUE(window && window->rows.size() == 2);
  EXPECT_EQ(window->rows[0].key, KeyOf(1, 1));
  EXPECT_EQ(window->rows[1].key, KeyOf(2, 2));
  EXPECT_EQ(window->next, 3U);
  const auto rest = run.results.RowsOf({kRun}, {.from = 3, .limit = 2});
  EXPECT_EQ(rest->rows.at(1).key.attempt, Attempt());
  EXPECT_EQ(rest->next, std::nullopt);
  const auto failed = run.results.RowsOf({kRun}, {.state = TaskState::kFailed});
  EXPECT_EQ(failed->rows.size(), 1U);
  const auto named = run.results.RowsOf({kRun}, {.host = "h4"});
  ASSERT_EQ(named->rows.size(), 1U);
  EXPECT_EQ(named->rows[0].ordinal, 3U);
  EXPECT_TRUE(run.results.RowsOf({kRun}, {.host = "h9"})->rows.empty());
}

TEST(RunResults, StagesHaveTablesOfTheirOwn) {
  FollowedRun run(3);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(3))},
              PutTask{Ended(KeyOf(1, 0), TaskState::kSucceeded)}});
  EXPECT_EQ(*run.results.StatesOf({kRun, "one"}), (std::string{'\4', '\0', '\0'}));
  EXPECT_EQ(*run.results.StatesOf({kRun, "two"}), (std::string{'\xff', '\xff', '\xff'}));
  run.Commit({PutVisit{kRun, VisitTo("two", 2, Ordinals::Of({0}))},
              PutTask{Ended(KeyOf(2, 0), TaskState::kFailed, 1)}});
  EXPECT_EQ(*run.results.StatesOf({kRun, "one"}), (std::string{'\4', '\0', '\0'}));
  EXPECT_EQ(*run.results.StatesOf({kRun, "two"}), (std::string{'\5', '\xff', '\xff'}));
  EXPECT_EQ(*run.results.StatesOf({kRun}), (std::string{'\5', '\0', '\0'}));
}

TEST(RunResults, StageHasTheTasksOfTheStagesInsideIt) {
  FollowedRun run(3);
  StageVisit outer = VisitTo("one", 1, Ordinals::All(3));
  StageVisit inner = VisitTo("two", 2, Ordinals::All(2));
  inner.parent = Visit(1);
  run.Commit({PutVisit{kRun, outer}, PutVisit{kRun, inner},
              PutTask{Ended(KeyOf(2, 0), TaskState::kSucceeded)},
              PutTask{Ended(KeyOf(2, 1), TaskState::kFailed, 1)}});
  outer.state = StageState::kFailed;
  outer.results = {{TaskState::kSkipped, Ordinals::Of({2})}};
  run.Commit({PutVisit{kRun, outer}, PutRun{run.Now(RunState::kFailed)}});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(*run.results.StatesOf({kRun, "one"}), (std::string{'\4', '\5', '\x0b'}));
    run.results.Forget();
  }
}

// A run with a course at random: stages that recover, that clean up, that have others behind them,
// in one pass or two. Gives its visits and the last task of each host in them.
std::vector<Change> RandomCourse(std::mt19937_64& random, std::uint32_t hosts) {
  const auto coin = [&] { return random() % 2 == 0; };
  constexpr TaskState kEnds[] = {TaskState::kSucceeded, TaskState::kSucceeded, TaskState::kFailed,
                                 TaskState::kLost, TaskState::kTimedOut};
  std::vector<StageVisit> stages;
  for (std::uint32_t i = 0; i < 4; ++i) {
    StageVisit visit = VisitTo(fmt::format("s{}", i), 0, {});
    visit.stage = i;
    visit.recovers = random() % 4 == 0;
    visit.in_finally = i == 3 && coin();
    visit.onward = i < 2 && coin() ? Onward::kMore : Onward::kNone;
    stages.push_back(visit);
  }
  std::vector<Change> changes;
  std::uint32_t number = 0;
  for (std::uint32_t pass = 1; pass <= 1 + random() % 2; ++pass)
    for (std::uint32_t i = 0; i < 2 + random() % 4; ++i) {
      StageVisit visit = stages[random() % stages.size()];
      visit.visit = Visit(++number);
      visit.pass = pass;
      visit.state = StageState::kSucceeded;
      for (std::uint32_t host = 0; host < hosts; ++host) {
        if (!coin()) continue;
        visit.hosts.Insert(host);
        const TaskState end = kEnds[random() % std::size(kEnds)];
        if (end != TaskState::kSucceeded) visit.dropped.Insert(host);
        changes.emplace_back(PutTask{Ended(KeyOf(number, host), end)});
      }
      changes.insert(changes.begin(), PutVisit{kRun, visit});
    }
  return changes;
}

TEST(RunResults, TablesMadeFromRowsAreThoseThatFollowedTheRun) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    FollowedRun run(6);
    // Visits in their order, then their tasks.
    auto changes = RandomCourse(random, 6);
    std::ranges::stable_sort(changes, {}, [](const Change& change) {
      const auto* visit = std::get_if<PutVisit>(&change);
      return visit != nullptr ? visit->visit.visit.value
                              : 100 + std::get<PutTask>(change).task.key.visit.value;
    });
    run.Commit(std::move(changes));
    run.Commit({PutRun{run.Now(RunState::kSucceeded)}});
    const std::string followed = *run.results.StatesOf({kRun});
    run.results.Forget();
    std::string window;  // without a table
    for (const auto& row : run.results.RowsOf({kRun}, {.limit = 100})->rows)
      window.push_back(static_cast<char>(row.state));
    EXPECT_EQ(window, followed);
    EXPECT_EQ(*run.results.StatesOf({kRun}), followed);
  }
}

TEST(RunResults, UnknownRunsAndStagesAreNotFound) {
  FollowedRun run(1);
  EXPECT_EQ(run.results.StatesOf({kRun, "three"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run.results.StatesOf({kRun, "three"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run.results.StatesOf({RunId(9)}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*run.results.StatesOf({kRun}), std::string(1, '\0'));
}

TEST(RunResults, TablesMadeLateLearnWhatHasNoRow) {
  FollowedRun run(3);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(3))}, PutTask{Sent(KeyOf(1, 0))}});
  run.results.Forget();
  run.live = {3, 1, 0};
  EXPECT_EQ(*run.results.StatesOf({kRun}), (std::string{'\3', '\1', '\0'}));
}

TEST(RunResults, ForgetsWhatWasLongestWithoutUse) {
  FollowedRun run(100, {.most_places = 400});
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(100))}});
  for (std::uint32_t i = 0; i < 100; ++i)
    run.Commit({PutTask{Ended(KeyOf(1, i), TaskState::kSucceeded)}});
  for (std::uint64_t id = 2; id < 20; ++id) run.Commit({PutTargets{RunId(id), Hosts(100)}});
  EXPECT_LE(run.results.Places(), 400U);
  // What is gone is made again from the rows.
  EXPECT_EQ(*run.results.StatesOf({kRun}), std::string(100, '\4'));
  EXPECT_LE(run.results.Places(), 400U);
  run.Commit({DropRun{kRun}});
  EXPECT_LE(run.results.Places(), 400U);
}

TEST(RunResults, WindowsOfRunsNobodyAskedAboutNeedNoTable) {
  FollowedRun run(100);
  run.Commit({PutVisit{kRun, VisitTo("one", 1, Ordinals::All(100))},
              PutVisit{kRun, VisitTo("two", 2, Ordinals::Of({40, 42}))}});
  for (std::uint32_t i = 0; i < 60; ++i)
    run.Commit({PutTask{Ended(KeyOf(1, i), TaskState::kSucceeded)}});
  run.Commit({PutTask{Sent(KeyOf(2, 42))}});
  run.results.Forget();
  run.live = std::vector<std::uint8_t>(100, static_cast<std::uint8_t>(TaskState::kRunning));
  const auto window = run.results.RowsOf({kRun}, {.from = 40, .limit = 3});
  EXPECT_EQ(window->rows[0].key, KeyOf(1, 40));
  EXPECT_EQ(window->rows[2], (TaskRow{42, TaskState::kRunning, KeyOf(2, 42)}));
  EXPECT_EQ(window->next, 43U);
  EXPECT_EQ(run.results.RowsOf({kRun, "two"}, {.limit = 5})->rows.size(), 2U);
  EXPECT_EQ(run.results.RowsOf({kRun, "none"}, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run.results.Places(), 0U);
}

// The visit is over, and says who did not come through.
void EndVisit(FollowedRun& run, StageVisit visit) {
  std::map<std::uint32_t, TaskState> last;
  const auto rows = run.store.ListTasks(kRun, {}, std::nullopt, 1000);
  for (const auto& row : *rows)
    if (row.key.visit == visit.visit) last[row.key.ordinal] = row.state;
  for (const std::uint32_t ordinal : visit.hosts.List())
    if (last[ordinal] != TaskState::kSucceeded) visit.dropped.Insert(ordinal);
  visit.state = StageState::kFailed;
  run.Commit({PutVisit{kRun, visit}});
}

// Any history of two stages over two passes, told in any mixture of rows and news: what followed
// along is what a scan finds.
RC_GTEST_PROP(RunResults, IncrementalIsTheSameAsFromScratch, ()) {
  constexpr std::uint32_t kHosts = 6;
  FollowedRun run(kHosts);
  if (*rc::gen::arbitrary<bool>()) (void)run.results.StatesOf({kRun, "one"});
  std::uint32_t visits = 0;
  for (const std::uint32_t pass : {1U, 2U}) {
    for (const char* stage : {"one", "two"}) {
      Ordinals hosts;
      for (std::uint32_t i = 0; i < kHosts; ++i)
        if (*rc::gen::inRange(0, 3) > 0) hosts.Insert(i);
      const std::uint32_t visit = ++visits;
      const bool on_the_way = std::string(stage) == "one";
      const StageVisit entered = on_the_way ? VisitOnTheWay(stage, visit, hosts, pass)
                                            : VisitTo(stage, visit, hosts, pass);
      run.Commit({PutVisit{kRun, entered}});
      for (const std::uint32_t ordinal : hosts.List()) {
        const auto attempts = *rc::gen::inRange(0U, 3U);
        for (std::uint32_t attempt = 1; attempt <= attempts; ++attempt) {
          const TaskKey key = KeyOf(visit, ordinal, attempt);
          run.Commit({PutTask{Sent(key)}});
          if (attempt == attempts && *rc::gen::arbitrary<bool>()) break;
          const bool late = *rc::gen::inRange(0, 4) == 0;
          const TaskState state = late                          ? TaskState::kUnreachable
                                  : *rc::gen::arbitrary<bool>() ? TaskState::kSucceeded
                                                                : TaskState::kFailed;
          const int code = state == TaskState::kFailed ? *rc::gen::inRange(1, 3) : 0;
          const char output = *rc::gen::element('a', 'b');
          if (*rc::gen::arbitrary<bool>()) run.Commit({PutTask{Ended(key, state, code)}});
          run.Commit({PutTask{Ended(key, state, code, output, *rc::gen::element('m', 'n'))}});
          run.results.Take({Told(key, TaskState::kRunning)});  // news come after the commit
        }
      }
      if (*rc::gen::inRange(0, 4) == 0) (void)run.results.StatesOf({kRun, stage});
      if (*rc::gen::arbitrary<bool>()) EndVisit(run, entered);
    }
  }
  if (*rc::gen::arbitrary<bool>()) run.Commit({PutRun{run.Now(RunState::kFailed)}});
  const RunResults::LiveStates none = [](RunId) { return std::vector<std::uint8_t>(); };
  RunResults cold(run.store, none);
  RunResults fresh(run.store, none);
  for (const char* stage : {"", "one", "two"}) {
    const RowFilter filter{.from = *rc::gen::inRange(0U, kHosts),
                           .limit = *rc::gen::inRange<std::size_t>(1, kHosts + 1)};
    const auto straight = cold.RowsOf({kRun, stage}, filter);
    RC_ASSERT(*run.results.StatesOf({kRun, stage}) == *fresh.StatesOf({kRun, stage}));
    for (const auto by : {RunResults::GroupBy::kOutput, RunResults::GroupBy::kMaskedOutput,
                          RunResults::GroupBy::kOutcome})
      RC_ASSERT(Lines(*run.results.GroupsOf({kRun, stage}, by, 100)) ==
                Lines(*fresh.GroupsOf({kRun, stage}, by, 100)));
    const auto from_table = run.results.RowsOf({kRun, stage}, filter);
    RC_ASSERT(straight->rows == from_table->rows);
    RC_ASSERT(straight->next == from_table->next);
  }
}

}  // namespace
}  // namespace muster::server
