#include <thread>

#include "adapters/postgres/connection.hpp"
#include "adapters/postgres/sqlstate.hpp"
#include "contract/store_fixture.hpp"

namespace muster {
namespace {

using postgres::Connection;
using postgres::Params;
using postgres::Purpose;

std::unique_ptr<Connection> OpenAt(PostgresOptions options, Purpose purpose = Purpose::kWrite) {
  auto opened = Connection::Open(options, purpose);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

std::string Setting(Connection& connection, std::string_view name) {
  const auto rows = connection.Ask(fmt::format("SELECT current_setting('{}')", name));
  EXPECT_TRUE(rows) << rows.error().message;
  return rows ? rows->At(0).Text(0) : "";
}

TEST(PostgresConnection, SessionIsBoundedInTimeUnlessTheAddressSaysOtherwise) {
  PostgresOptions options{.address = SharedPostgres().Address()};
  auto plain = OpenAt(options);
  EXPECT_EQ(Setting(*plain, "idle_in_transaction_session_timeout"), "2s");
  EXPECT_EQ(Setting(*plain, "statement_timeout"), "30s");
  EXPECT_EQ(Setting(*plain, "lock_timeout"), "5s");
  EXPECT_EQ(Setting(*plain, "synchronous_commit"), "on");
  options.address += " options='-c statement_timeout=7s -c synchronous_commit=off'";
  auto other = OpenAt(options);
  EXPECT_EQ(Setting(*other, "statement_timeout"), "7s");
  EXPECT_EQ(Setting(*other, "lock_timeout"), "5s");
  EXPECT_EQ(Setting(*other, "synchronous_commit"), "on") << "what was answered is durable";
}

TEST(PostgresConnection, ReadersCannotWrite) {
  auto reader = OpenAt({.address = SharedPostgres().NewSchema()}, Purpose::kRead);
  const auto written = reader->Execute("CREATE TABLE t (id bigint)");
  ASSERT_FALSE(written);
  EXPECT_EQ(reader->LastState(), "25006");
}

TEST(PostgresConnection, AddressIsAUrlTooAndReachesALoopbackPort) {
  auto connection = OpenAt({.address = SharedPostgres().LoopbackAddress()});
  EXPECT_TRUE(connection->Alive());
}

TEST(PostgresConnection, EncryptionAndTheServersNameAreInsistedOnWhenTheAddressSaysSo) {
  const std::string verified = "?sslmode=verify-full&sslrootcert=" + SharedPostgres().RootFile();
  const std::string address = SharedPostgres().LoopbackAddress();
  auto connection = OpenAt({.address = address + verified});
  const auto encrypted =
      connection->Ask("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
  EXPECT_EQ(encrypted->At(0).Int(0), 1);
  std::string other_name = address;
  other_name.replace(other_name.find("127.0.0.1"), 9, "localhost");
  for (const auto& wrong :
       {other_name + verified, address + "?sslmode=verify-full&sslrootcert=/none"}) {
    const auto refused = Connection::Open({.address = wrong}, Purpose::kRead);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  }
}

TEST(PostgresConnection, VerifyCaTakesAnotherNameButNoOtherCa) {
  std::string address = SharedPostgres().LoopbackAddress();
  address.replace(address.find("127.0.0.1"), 9, "localhost");
  const std::string mode = "?sslmode=verify-ca&sslrootcert=";
  EXPECT_TRUE(OpenAt({.address = address + mode + SharedPostgres().RootFile()})->Alive());
  const TempFolder folder;
  const std::string other = (folder.Path() / "other.pem").string();
  const std::string make = fmt::format(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
      "/CN=other -keyout {0}.key -out {0} 2>/dev/null",
      other);
  ASSERT_EQ(std::system(make.c_str()), 0);
  const auto refused = Connection::Open({.address = address + mode + other}, Purpose::kRead);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

TEST(PostgresConnection, PasswordsAreNotRepeated) {
  for (const char* address :
       {"postgres://muster:s3cret@127.0.0.1:1/x", "host=127.0.0.1 port=1 password=s3cret",
        "password=s3cret wrong", "postgres://muster:s3cret@[::1/x",
        "postgres://muster:s3cret%zz@h/x"}) {
    const auto refused = Connection::Open({.address = address}, Purpose::kWrite);
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().message.find("s3cret"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(PostgresStore::Open({.address = "password=s3cret wrong"}).error().code,
            ErrorCode::kInvalid);
}

TEST(PostgresConnection, BytesOfAnyKindComeBack) {
  auto connection = OpenAt({.address = SharedPostgres().Address()});
  const std::string bytes("\0\xff\\?'\xc3", 6);
  Params params;
  AddStrings(params.Bytes(bytes).Int(-7), std::vector<std::string>{bytes, "", "z"});
  const auto rows = connection->Ask("SELECT ?::bytea, ?::bigint, unnest(?)", params);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->Count(), 3);
  EXPECT_EQ(rows->At(0).Bytes(0), bytes);
  EXPECT_EQ(rows->At(0).Int(1), -7);
  EXPECT_EQ(rows->At(0).Bytes(2), bytes);
  EXPECT_EQ(rows->At(1).Bytes(2), "");
  EXPECT_FALSE(rows->At(1).IsNull(2));
}

TEST(PostgresConnection, TransactionThatIdlesIsEnded) {
  auto connection = OpenAt(
      {.address = SharedPostgres().Address(), .idle_transaction = std::chrono::milliseconds(20)});
  static_cast<void>(connection->Execute("BEGIN"));  // may end before its answer is read
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (connection->Alive() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_FALSE(connection->Alive());
}

TEST(PostgresConnection, ServerThatFallsSilentIsGivenUp) {
  PrivatePostgres database;
  auto connection =
      OpenAt({.address = database.Address(), .statement = std::chrono::milliseconds(100)});
  const auto rows = connection->Ask("SELECT pg_backend_pid()");
  const auto backend = static_cast<pid_t>(rows->At(0).Int(0));
  ASSERT_EQ(kill(backend, SIGSTOP), 0);
  const auto silent = connection->Ask("SELECT 1");
  kill(backend, SIGCONT);
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(connection->Alive());
}

TEST(PostgresConnection, TransactionIsWholeOrNothing) {
  auto connection = OpenAt({.address = SharedPostgres().NewSchema()});
  ASSERT_TRUE(connection->Execute("CREATE TABLE t (id bigint PRIMARY KEY)"));
  const char* insert = "INSERT INTO t VALUES (?)";
  ASSERT_TRUE(connection->Transact({{insert, Params().Int(1)}, {insert, Params().Int(2)}}));
  const auto refused = connection->Transact({{insert, Params().Int(3)}, {insert, Params().Int(1)}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
  EXPECT_EQ(connection->LastState(), "23505");
  EXPECT_EQ(connection->Ask("SELECT count(*) FROM t")->At(0).Int(0), 2);
  ASSERT_TRUE(connection->Transact({{insert, Params().Int(3)}}));
}

TEST(PostgresErrors, CodesSayWhetherToTryAgain) {
  for (const char* state : {"08006", "53100", "53300", "57P01", "57P03", "57014", "55P03", "40001",
                            "40P01", "25006", "58030", ""})
    EXPECT_EQ(postgres::ErrorOf(state, "m").code, ErrorCode::kUnavailable) << state;
  for (const char* state : {"23505", "23502", "42601", "XX000", "22021"})
    EXPECT_EQ(postgres::ErrorOf(state, "m").code, ErrorCode::kInternal) << state;
  EXPECT_EQ(postgres::ErrorOf("MU001", "m").code, ErrorCode::kFenced);
}

}  // namespace
}  // namespace muster
