#include "adapters/records/readers.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/schema.hpp"
#include "contract/store_fixture.hpp"

// How SQLite carries lists out: no list may cost more with more history.
namespace muster {
namespace {

// Answers nothing, and keeps how each question would be carried out.
class Plans final : public records::Queries {
 public:
  Plans() {
    auto opened =
        sqlite::Database::Open(folder_.Path() / "x.db", sqlite::Database::Mode::kReadWrite);
    EXPECT_TRUE(opened && sqlite::MakeRecordTables(**opened));
    database_ = std::move(*opened);
  }
  Result<> Each(std::string_view sql, const records::Values& values, const Take&) override {
    return sqlite::Queries(*database_)
        .Each(fmt::format("EXPLAIN QUERY PLAN {}", sql), values,
              [this](const records::Row& row) -> Result<> {
                text += row.Text(3) + "\n";
                return {};
              });
  }
  std::string IndexedBy(std::string_view index) const override {
    return sqlite::Queries(*database_).IndexedBy(index);
  }
  std::string Bound(std::string_view column, std::string_view second,
                    std::string_view sign) const override {
    return sqlite::Queries(*database_).Bound(column, second, sign);
  }
  bool Has(std::string_view part) const { return text.find(part) != std::string::npos; }

  std::string text;

 private:
  const TempFolder folder_;
  std::unique_ptr<sqlite::Database> database_;
};

TEST(SqlitePlans, TasksOfAHostAreFoundByTheHost) {
  Plans plans;
  ASSERT_TRUE(records::ListTasks(plans, RunId(1), {.state = {}, .host = HostId(1)}, {}, 5));
  EXPECT_TRUE(plans.Has("task_host (host=? AND run=?)")) << plans.text;
}

TEST(SqlitePlans, RunsAreReadFromTheCursorOn) {
  Plans by_state;
  ASSERT_TRUE(records::ListRuns(by_state, {.state = RunState::kFailed}, RunId(9), 5));
  EXPECT_TRUE(by_state.Has("run_state (state=? AND rowid>? AND rowid<?)")) << by_state.text;
  Plans by_caller;
  ASSERT_TRUE(records::ListRuns(by_caller, {.state = {}, .by = "ann"}, RunId(9), 5));
  EXPECT_TRUE(by_caller.Has("run_by (by=? AND rowid>? AND rowid<?)")) << by_caller.text;
  Plans of_host;
  ASSERT_TRUE(records::ListRuns(of_host, {.state = {}, .by = "", .host = HostId(1)}, RunId(9), 5));
  EXPECT_TRUE(of_host.Has("task_host (host=? AND run<?)")) << of_host.text;
}

TEST(SqlitePlans, TheTrailIsWalkedByTheIndexOfItsFilter) {
  Plans by_actor;
  ASSERT_TRUE(records::ListAudit(by_actor, {.by = "ann"}, 9, 5));
  EXPECT_TRUE(by_actor.Has("audit_actor (actor=? AND rowid>? AND rowid<?)")) << by_actor.text;
  Plans by_act;
  ASSERT_TRUE(records::ListAudit(by_act, {.act = "run.start"}, 9, 5));
  EXPECT_TRUE(by_act.Has("audit_act (act=? AND rowid>? AND rowid<?)")) << by_act.text;
}

}  // namespace
}  // namespace muster
