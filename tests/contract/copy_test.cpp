#include <sqlite3.h>

#include "adapters/copy/from_postgres.hpp"
#include "adapters/copy/into_postgres.hpp"
#include "adapters/copy/tuples.hpp"
#include "adapters/sqlite/schema.hpp"
#include "contract/copy_fixture.hpp"
#include "contract/log_store_fixture.hpp"

namespace muster {
namespace {

using copy::Filling;
using copy::Moment;

constexpr const char* kDay = "2025-11-15";  // of StandingClock

std::unique_ptr<SqliteStore> OpenFolder(const std::filesystem::path& folder) {
  auto store = SqliteStore::Open(folder, {.exclusive = false});
  EXPECT_TRUE(store) << store.error().message;
  return std::move(*store);
}

std::unique_ptr<PostgresStore> OpenDatabase(const std::string& address) {
  auto store = PostgresStore::Open({.address = address});
  EXPECT_TRUE(store) << store.error().message;
  return std::move(*store);
}

std::unique_ptr<sqlite::Database> OpenFile(const std::filesystem::path& file) {
  auto database = sqlite::Database::Open(file, sqlite::Database::Mode::kReadWrite);
  EXPECT_TRUE(database) << database.error().message;
  return std::move(*database);
}

// Copies a folder's records into the database, which it gives no other reason to refuse.
Result<> CopyRecords(const std::filesystem::path& folder, const std::string& address,
                     Filling::Over over = Filling::Over::kNothing) {
  auto filling = Filling::Begin({.address = address}, over);
  if (!filling) return Fail(filling.error());
  const auto copied = (*filling)->PutRecords(*OpenFile(folder / "muster.db"), nullptr);
  if (!copied) return Fail(copied.error());
  return (*filling)->Commit();
}

class StoreCopy : public testing::Test {
 protected:
  TempFolder folder_;
  std::string address_ = SharedPostgres().NewSchema();
};

TEST_F(StoreCopy, EveryReadOfTheDatabaseIsAsOfTheFile) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const TempFolder folder;
    const std::string address = SharedPostgres().NewSchema();
    const auto source = OpenFolder(folder.Path());
    const FilledStore filled(*source, seed);
    const auto done = CopyRecords(folder.Path(), address);
    ASSERT_TRUE(done) << done.error().message;
    const auto target = OpenDatabase(address);
    ExpectSame(StoreView::Of(*source), StoreView::Of(*target));
  }
}

TEST_F(StoreCopy, EveryReadOfTheFileIsAsOfTheDatabase) {
  for (std::uint64_t seed = 4; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const TempFolder folder;
    const std::string address = SharedPostgres().NewSchema();
    const auto source = OpenDatabase(address);
    const FilledStore filled(*source, seed);
    {
      const auto moment = Moment::Begin({.address = address}, false);
      ASSERT_TRUE(moment) << moment.error().message;
      const auto taken = (*moment)->TakeRecords(folder.Path() / "muster.db", nullptr);
      ASSERT_TRUE(taken) << taken.error().message;
    }
    const auto target = OpenFolder(folder.Path());
    ExpectSame(StoreView::Of(*source), StoreView::Of(*target));
    const auto file = OpenFile(folder.Path() / "muster.db");
    EXPECT_EQ(*file->AskInt("SELECT count(*) FROM pragma_integrity_check WHERE"
                            " integrity_check <> 'ok'"),
              0);
  }
}

TEST_F(StoreCopy, LeaderGoesOnWhereTheFileStopped) {
  Fence before;
  {
    const auto source = OpenFolder(folder_.Path());
    const FilledStore filled(*source);
    before = *source->ReadFence();
  }
  ASSERT_TRUE(CopyRecords(folder_.Path(), address_));
  const auto target = OpenDatabase(address_);
  const auto fence = target->TakeTerm();
  ASSERT_TRUE(fence) << fence.error().message;
  EXPECT_EQ(fence->term.value, before.term.value + 1);
  EXPECT_EQ(fence->number, before.number);
  // A node that is new gets a number that no other has.
  TaskRecord task = TaskRow(FilledStore::kRuns + 1, 0, 1);
  task.store = "new";
  task.boot = "node";
  const CommitNumber next(fence->number.value + 1);
  const auto done = CommitTo(*target, BatchOf({PutTask{task}}), fence->term, next);
  ASSERT_TRUE(done) << done.error().message;
  const auto found = target->FindTasks({task.key});
  ASSERT_TRUE(found && found->value.at(0));
  EXPECT_EQ(found->value.at(0)->store, "new");
}

TEST_F(StoreCopy, RestoredMarkComesAlong) {
  OpenFolder(folder_.Path()).reset();
  const Snapshot::Restored restored{.taken = {1'000'000}, .at = {2'000'000}, .logs = true};
  ASSERT_TRUE(sqlite::MarkRestored(folder_.Path() / "muster.db", restored, {}));
  ASSERT_TRUE(CopyRecords(folder_.Path(), address_));
  const auto target = OpenDatabase(address_);
  const auto snapshot = target->Load(target->ReadFence()->term);
  ASSERT_TRUE(snapshot && snapshot->restored);
  EXPECT_EQ(snapshot->restored->at.ms, 2'000'000);
  EXPECT_TRUE(snapshot->restored->logs);
  EXPECT_EQ(snapshot->restored->number, snapshot->fence.number);
}

TEST_F(StoreCopy, DatabaseWithRecordsIsLeftAloneUnlessReplaced) {
  const FilledStore old(*OpenDatabase(address_), 7);
  const auto source = OpenFolder(folder_.Path());
  const FilledStore filled(*source, 8);
  const auto before = StoreView::Of(*OpenDatabase(address_));
  const auto refused = CopyRecords(folder_.Path(), address_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  ExpectSame(before, StoreView::Of(*OpenDatabase(address_)));
  const auto replaced = CopyRecords(folder_.Path(), address_, Filling::Over::kRecords);
  ASSERT_TRUE(replaced) << replaced.error().message;
  ExpectSame(StoreView::Of(*source), StoreView::Of(*OpenDatabase(address_)));
}

TEST_F(StoreCopy, CopyThatDoesNotEndLeavesNothing) {
  const FilledStore filled(*OpenFolder(folder_.Path()));
  for (int tries = 0; tries < 2; ++tries) {
    auto filling = Filling::Begin({.address = address_}, Filling::Over::kNothing);
    ASSERT_TRUE(filling) << filling.error().message;
    ASSERT_TRUE((*filling)->PutRecords(*OpenFile(folder_.Path() / "muster.db"), nullptr));
    filling->reset();
    EXPECT_EQ(OpenDatabase(address_)->ReadFence()->term, Term(0));
  }
  EXPECT_TRUE(CopyRecords(folder_.Path(), address_));
}

TEST_F(StoreCopy, ServerThatLeadsIsNoticed) {
  const FilledStore filled(*OpenFolder(folder_.Path()));
  const auto leader = OpenDatabase(address_);
  ASSERT_TRUE(leader->TakeTerm());
  for (const auto over : {Filling::Over::kNothing, Filling::Over::kRecords}) {
    const auto begun = Filling::Begin({.address = address_}, over);
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, ErrorCode::kConflict);
    EXPECT_NE(begun.error().message.find("leads"), std::string::npos) << begun.error().message;
  }
  EXPECT_EQ(leader->ReadFence()->term, Term(1));
}

TEST_F(StoreCopy, ServerThatStartsMeanwhileWaitsForTheRecords) {
  const FilledStore filled(*OpenFolder(folder_.Path()));
  auto filling = Filling::Begin({.address = address_}, Filling::Over::kNothing);
  ASSERT_TRUE(filling) << filling.error().message;
  ASSERT_TRUE((*filling)->PutRecords(*OpenFile(folder_.Path() / "muster.db"), nullptr));
  const auto early = OpenDatabase(address_);
  const auto refused = early->TakeTerm();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << refused.error().message;
  const auto done = (*filling)->Commit();
  ASSERT_TRUE(done) << done.error().message;
  const auto fence = early->TakeTerm();
  ASSERT_TRUE(fence) << fence.error().message;
  EXPECT_EQ(fence->term, Term(2));
}

TEST_F(StoreCopy, MomentDoesNotMoveWhileTheLeaderGoesOn) {
  const auto leader = OpenDatabase(address_);
  const FilledStore filled(*leader);
  const auto before = StoreView::Of(*leader);
  {
    const auto moment = Moment::Begin({.address = address_}, false);
    ASSERT_TRUE(moment) << moment.error().message;
    const FilledStore more(*leader, 2);
    ASSERT_TRUE((*moment)->TakeRecords(folder_.Path() / "muster.db", nullptr));
  }
  ExpectSame(before, StoreView::Of(*OpenFolder(folder_.Path())));
}

TEST_F(StoreCopy, EmptyDatabaseHasNoMoment) {
  const auto moment = Moment::Begin({.address = address_}, true);
  ASSERT_FALSE(moment);
  EXPECT_EQ(moment.error().code, ErrorCode::kNotFound);
}

TEST_F(StoreCopy, OutputGoesBothWays) {
  const StandingClock clock;
  const std::string text(300'000, 'x');
  {
    auto logs = SqliteLogStore::Open(folder_.Path(), clock);
    ASSERT_TRUE(logs);
    ASSERT_TRUE(AppendTo(**logs, {Out(0, text), Err(text.size(), "warning")}));
  }
  const FilledStore filled(*OpenFolder(folder_.Path()));
  {
    auto filling = Filling::Begin({.address = address_}, Filling::Over::kNothing);
    ASSERT_TRUE(filling) << filling.error().message;
    ASSERT_TRUE((*filling)->PutRecords(*OpenFile(folder_.Path() / "muster.db"), nullptr));
    const auto day = (*filling)->PutDay(
        kDay, *OpenFile(folder_.Path() / "logs" / (std::string(kDay) + ".db")), nullptr);
    ASSERT_TRUE(day) << day.error().message;
    EXPECT_GT(day->rows, 1U);
    ASSERT_TRUE((*filling)->Commit());
  }
  auto in_database = PostgresLogStore::Open({.address = address_}, clock);
  ASSERT_TRUE(in_database);
  EXPECT_EQ(TextOf(**in_database, kTask), text + "warning");

  const TempFolder back;
  std::filesystem::create_directory(back.Path() / "logs");
  {
    const auto moment = Moment::Begin({.address = address_}, true);
    ASSERT_TRUE(moment) << moment.error().message;
    ASSERT_EQ((*moment)->Days(), std::vector<std::string>{kDay});
    const auto day =
        (*moment)->TakeDay(kDay, back.Path() / "logs" / (std::string(kDay) + ".db"), nullptr);
    ASSERT_TRUE(day) << day.error().message;
  }
  auto in_files = SqliteLogStore::Open(back.Path(), clock);
  ASSERT_TRUE(in_files);
  EXPECT_EQ(TextOf(**in_files, kTask), text + "warning");
}

TEST_F(StoreCopy, OutputOfReplacedRecordsIsGone) {
  const StandingClock clock;
  const FilledStore old(*OpenDatabase(address_), 7);
  auto logs = PostgresLogStore::Open({.address = address_}, clock);
  ASSERT_TRUE(logs);
  ASSERT_TRUE(AppendTo(**logs, {Out(0, "of another life")}));
  const FilledStore filled(*OpenFolder(folder_.Path()), 8);
  ASSERT_TRUE(CopyRecords(folder_.Path(), address_, Filling::Over::kRecords));
  EXPECT_EQ(TextOf(**logs, kTask), "");
  // A server that wrote before is told, and its day is made again.
  ASSERT_TRUE(AppendTo(**logs, {Out(0, "and of this one")}));
}

TEST_F(StoreCopy, RowThatTheDatabaseRefusesIsToldAsSuch) {
  auto connection = postgres::Connection::Open({.address = address_}, postgres::Purpose::kAppend);
  ASSERT_TRUE(connection) << connection.error().message;
  ASSERT_TRUE((*connection)->Execute("CREATE TABLE t (id bigint PRIMARY KEY, data bytea)"));
  ASSERT_TRUE((*connection)->BeginCopy("COPY t FROM STDIN (FORMAT binary)"));
  copy::TupleWriter to;
  const std::string data(10'000, 'x');
  for (int row = 0; row < 1000; ++row) {
    to.Row(2);
    to.Int(row == 5 ? 4 : row);
    to.Bytes(data);
    ASSERT_TRUE((*connection)->PutCopy(to.Gathered()));
    to.Gathered().clear();
  }
  const auto ended = (*connection)->EndCopy();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kInternal) << ended.error().message;
  EXPECT_NE(ended.error().message.find("duplicate"), std::string::npos) << ended.error().message;
}

TEST(CopyTuples, RowsComeWholeFromPiecesOfAnySize) {
  copy::TupleWriter writer;
  writer.Row(3);
  writer.Int(-5);
  writer.Bytes(std::string("a\0b", 3));
  writer.Null();
  writer.Row(3);
  writer.Int(1LL << 40);
  writer.Bytes("");
  writer.Bytes("z");
  writer.End();
  for (std::size_t piece = 1; piece <= writer.Gathered().size(); ++piece) {
    copy::TupleReader reader;
    std::vector<std::string> seen;
    std::vector<copy::Cell> row;
    for (std::size_t at = 0; at < writer.Gathered().size(); at += piece) {
      reader.Add(std::string_view(writer.Gathered()).substr(at, piece));
      while (*reader.Next(3, row))
        seen.push_back(fmt::format("{} {} {}", copy::NumberOf(row[0]), row[1].bytes.size(),
                                   row[2].null ? "-" : std::string(row[2].bytes)));
    }
    EXPECT_TRUE(reader.Ended());
    EXPECT_EQ(seen, (std::vector<std::string>{"-5 3 -", "1099511627776 0 z"})) << piece;
  }
}

}  // namespace
}  // namespace muster
