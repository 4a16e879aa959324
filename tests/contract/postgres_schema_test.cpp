#include "adapters/postgres/schema.hpp"
#include "contract/store_fixture.hpp"

namespace muster {
namespace {

using postgres::SchemaStep;

// Servers of three releases: each knows one step more than the one before.
std::vector<SchemaStep> Release(std::size_t known) {
  std::vector<SchemaStep> steps(postgres::RecordSteps().begin(), postgres::RecordSteps().end());
  constexpr SchemaStep kLater[] = {
      {"ALTER TABLE fence ADD COLUMN mood text NOT NULL DEFAULT 'calm'",
       "ALTER TABLE meta ADD COLUMN contracted text"},
      {"CREATE TABLE later (id bigint)", ""},
  };
  for (std::size_t i = 0; i < known; ++i) steps.push_back(kLater[i]);
  return steps;
}

class PostgresSchema : public testing::Test {
 protected:
  std::unique_ptr<PostgresStore> Server(std::size_t release) {
    auto store = PostgresStore::Open({.address = address_}, releases_[release]);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  bool Has(const std::string& table, const std::string& column) {
    return PrivatePostgres::Sql(
               "SELECT count(*) FROM information_schema.columns WHERE table_schema ="
               " current_schema() AND table_name = '" +
                   table + "' AND column_name = '" + column + "'",
               address_) == "1";
  }
  // Whether a server of the release leads and writes.
  Result<> Lead(std::size_t release) {
    auto server = Server(release);
    const auto fence = server->TakeTerm();
    if (!fence) return Fail(fence.error());
    return CommitTo(*server, BatchOf({PutRun{RunOf(fence->term.value)}}), fence->term,
                    CommitNumber(fence->number.value + 1));
  }
  // By a leader of the release.
  Result<std::vector<std::uint64_t>> Finalize(std::size_t release) {
    auto server = Server(release);
    const auto fence = server->TakeTerm();
    if (!fence) return Fail(fence.error());
    return server->Finalize(fence->term);
  }
  // The number of the first step that only later releases know.
  std::uint64_t First() const { return releases_[1].size(); }

  std::string address_ = SharedPostgres().NewSchema();
  const std::vector<SchemaStep> releases_[3] = {Release(0), Release(1), Release(2)};
};

TEST_F(PostgresSchema, NewLeaderExpandsAndTheOldReleaseGoesOnBesideIt) {
  ASSERT_TRUE(Lead(0));
  EXPECT_FALSE(Has("fence", "mood"));
  ASSERT_TRUE(Lead(1));
  EXPECT_TRUE(Has("fence", "mood"));
  EXPECT_FALSE(Has("meta", "contracted"));
  const auto back = Lead(0);
  EXPECT_TRUE(back) << back.error().message;
  EXPECT_TRUE(Lead(1));
}

TEST_F(PostgresSchema, FinalizeContractsAndTheOldReleaseNoLongerLeads) {
  ASSERT_TRUE(Lead(0));
  ASSERT_TRUE(Lead(1));
  const auto done = Finalize(1);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, std::vector{First()});
  EXPECT_TRUE(Has("meta", "contracted"));
  const auto again = Finalize(1);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->empty()) << "once more is harmless";
  const auto old = Lead(0);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(Lead(1));
  // The last step takes nothing away, so the release before it may go on whoever finalized.
  ASSERT_TRUE(Lead(2));
  ASSERT_TRUE(Finalize(2));
  EXPECT_TRUE(Lead(1));
}

TEST_F(PostgresSchema, EachReleaseSaysWhatWaitsAndWhatItLacks) {
  EXPECT_EQ(Server(1)->ReadSchema()->version, 0U);
  ASSERT_TRUE(Lead(0));
  EXPECT_EQ(*Server(1)->ReadSchema(),
            (SchemaState{.version = First() - 1, .needed = 0, .known = First()}));
  ASSERT_TRUE(Lead(2));
  EXPECT_EQ(*Server(1)->ReadSchema(),
            (SchemaState{
                .version = First() + 1, .needed = 0, .known = First(), .unfinished = {First()}}));
  EXPECT_TRUE(Server(0)->ReadSchema()->unfinished.empty()) << "nothing that it knows of";
  ASSERT_TRUE(Finalize(2));
  EXPECT_EQ(*Server(0)->ReadSchema(),
            (SchemaState{.version = First() + 1, .needed = First(), .known = First() - 1}));
}

TEST_F(PostgresSchema, LeaderOfTheTermBeforeDoesNotFinalize) {
  ASSERT_TRUE(Lead(0));
  auto old = Server(1);
  const auto term = old->TakeTerm()->term;
  ASSERT_TRUE(Lead(0));
  // Its session was ended; what it does next is done in a new one.
  auto done = old->Finalize(term);
  if (!done && done.error().code != ErrorCode::kFenced) done = old->Finalize(term);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kFenced) << done.error().message;
  EXPECT_FALSE(Has("meta", "contracted"));
  EXPECT_TRUE(Lead(0));
}

TEST_F(PostgresSchema, FinalizeThatIsHeldUpLeavesNothingAndIsRepeated) {
  ASSERT_TRUE(Lead(0));
  ASSERT_TRUE(Lead(1));
  auto server = Server(1);
  const auto term = server->TakeTerm()->term;
  auto reader = postgres::Connection::Open({.address = address_}, postgres::Purpose::kRead);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(
      (*reader)->Execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;"
                         "SELECT count(*) FROM meta"));
  EXPECT_FALSE(server->Finalize(term));
  EXPECT_FALSE(Has("meta", "contracted"));
  EXPECT_EQ(server->ReadSchema()->unfinished, std::vector{First()});
  ASSERT_TRUE((*reader)->Execute("ROLLBACK"));
  const auto done = server->Finalize(term);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, std::vector{First()});
}

TEST_F(PostgresSchema, FreshDatabaseTakesEveryStep) {
  ASSERT_TRUE(Lead(2));
  EXPECT_TRUE(Has("fence", "mood"));
  EXPECT_TRUE(Has("meta", "contracted"));
  EXPECT_EQ(Lead(0).error().code, ErrorCode::kInvalid);
}

TEST_F(PostgresSchema, OlderReleaseDoesNotFinalizeWhatANewerOneExpanded) {
  ASSERT_TRUE(Lead(0));
  ASSERT_TRUE(Lead(2));
  EXPECT_EQ(Finalize(0).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(Lead(0));
}

TEST_F(PostgresSchema, ServersThatComeTogetherMakeTheTablesOnce) {
  std::vector<std::unique_ptr<PostgresStore>> servers;
  std::vector<std::future<Result<Fence>>> terms;
  for (int i = 0; i < 4; ++i) servers.push_back(Server(2));
  for (auto& server : servers)
    terms.push_back(std::async(std::launch::async, [&] { return server->TakeTerm(); }));
  std::size_t taken = 0;
  for (auto& term : terms) {
    const auto fence = term.get();
    if (fence) ++taken;
    // Another candidate may have ended this one's session, also while it waited for its answer.
    if (!fence && fence.error().code != ErrorCode::kTimeout)
      EXPECT_EQ(fence.error().code, ErrorCode::kUnavailable) << fence.error().message;
  }
  // Two that end each other's sessions at once may leave none that knows its term.
  const auto next = Server(2)->TakeTerm();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->term.value, taken);
}

TEST_F(PostgresSchema, FrozenLeaderDoesNotHoldUpAStep) {
  ASSERT_TRUE(Lead(0));
  const std::unique_ptr<PGconn, decltype(&PQfinish)> frozen(PQconnectdb(address_.c_str()),
                                                            PQfinish);
  PQclear(PQexec(frozen.get(), "BEGIN; UPDATE fence SET number = number + 1"));
  const auto led = Lead(1);
  EXPECT_TRUE(led) << led.error().message;
  EXPECT_TRUE(Has("fence", "mood"));
}

TEST_F(PostgresSchema, ReleaseThatMayNotLeadLeavesTheLeaderAlone) {
  auto leader = Server(2);
  const Fence fence = *leader->TakeTerm();
  const std::string session = PrivatePostgres::Sql(
      "SELECT max(pid) FROM pg_stat_activity WHERE state = 'idle' AND application_name ="
      " 'musterd writer of ' || current_schema()",
      address_);
  EXPECT_EQ(Lead(0).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(SharedPostgres().Sql("SELECT count(*) FROM pg_stat_activity WHERE pid = " + session),
            "1");
  EXPECT_TRUE(CommitTo(*leader, BatchOf({}), fence.term, CommitNumber(fence.number.value + 1)));
}

TEST_F(PostgresSchema, StoreWithoutTablesIsUnavailableUntilSomeoneLeads) {
  auto follower = Server(0);
  const auto before = follower->ReadFence();
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(Lead(0));
  EXPECT_EQ(follower->ReadFence()->number, CommitNumber(1));
}

}  // namespace
}  // namespace muster
