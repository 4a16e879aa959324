#include "adapters/postgres/protection.hpp"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "adapters/postgres/address.hpp"

namespace muster::postgres {
namespace {

// Which host of the address is not protected; "?" when it cannot be read.
std::string Unprotected(const std::string& address) {
  const auto read = KeywordsOf(address);
  return read ? UnprotectedHost(*read) : "?";
}

std::string Value(const ConnectionParameters& parameters, const std::string& name) {
  const auto found = std::ranges::find(parameters.names, name);
  if (found == parameters.names.end()) return "";
  return parameters.values[static_cast<std::size_t>(found - parameters.names.begin())];
}

TEST(PostgresProtection, SocketsAndLoopbackNeedNone) {
  for (const char* address :
       {"", "dbname=muster", "postgres:///muster", "host=/var/run/postgresql",
        "postgres://%2Fvar%2Frun%2Fpostgresql/muster", "host=@abstract", "host=''",
        "host=127.0.0.1", "postgres://muster@127.3.2.1:5432/muster", "postgres://[::1]/muster",
        "host=localhost", "postgres://muster@localhost,127.0.0.1,[::1]/muster?sslmode=disable",
        "host=db.example hostaddr=127.0.0.1", "hostaddr=::1", "host=a,b hostaddr=127.0.0.1,::1"})
    EXPECT_EQ(Unprotected(address), "") << address;
}

TEST(PostgresProtection, EveryOtherHostNeedsAVerifiedCertificate) {
  for (const std::string address :
       {"host=db.example", "postgres://muster@db.example/muster", "postgresql://db.example",
        "host=localhost,db.example", "host=,db.example", "postgres://127.0.0.1,db.example/muster",
        "host=localhost hostaddr=db.example", "host=/run,x hostaddr=,db.example",
        "hostaddr=127.0.0.1,db.example", "host='db.example'", "postgres:///muster?host=db.example",
        "postgres://localhost/muster?hostaddr=db.example", "postgres://d%62.example/muster"}) {
    EXPECT_EQ(Unprotected(address), "db.example") << address;
    const bool url = address.starts_with("postgres");
    const auto with = [&](const std::string& mode) {
      if (!url) return address + " sslmode=" + mode;
      const std::string path = address.contains("/muster") ? "" : "/";
      return address + path + (address.contains('?') ? "&" : "?") + "sslmode=" + mode;
    };
    for (const char* weak : {"disable", "allow", "prefer", "require"})
      EXPECT_EQ(Unprotected(with(weak)), "db.example") << with(weak);
    for (const char* verified : {"verify-ca", "verify-full"})
      EXPECT_EQ(Unprotected(with(verified)), "") << with(verified);
  }
  for (const char* host : {"10.0.0.1", "127.evil.example", "localhost.evil.example", "127.1",
                           "::ffff:127.0.0.1", "fe80::1", "0.0.0.0"})
    EXPECT_EQ(Unprotected(std::string("host=") + host), host);
}

TEST(PostgresProtection, OlderWordsForEncryptionVerifyNothing) {
  EXPECT_EQ(Unprotected("host=db requiressl=1"), "db");
  EXPECT_EQ(Unprotected("postgres://db/muster?ssl=true"), "db");
  EXPECT_EQ(Unprotected("host=db sslmode=verify-full sslmode=disable"), "db") << "the last counts";
}

TEST(PostgresProtection, ServicesAreNotRead) {
  EXPECT_EQ(Unprotected("service=muster"), "?");
  EXPECT_EQ(Unprotected("postgres://localhost/muster?service=muster"), "?");
}

TEST(PostgresProtection, ParametersAreRefusedUnlessTheRiskIsTaken) {
  const PostgresOptions plain{.address = "host=db.example password=s3cret"};
  const auto refused = ParametersOf(plain, Purpose::kRead);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(refused.error().message.contains("s3cret"));
  const auto taken =
      ParametersOf({.address = plain.address, .allow_unprotected = true}, Purpose::kRead);
  ASSERT_TRUE(taken);
  EXPECT_EQ(Value(*taken, "host"), "db.example");
  EXPECT_EQ(taken->secret, "s3cret");
}

TEST(PostgresProtection, AHostThatIsHalfAPasswordIsNotRepeated) {
  for (const char* address : {"postgres://u:half@s3cret@db.example/muster",
                              "postgres://u:half@@s3cret@db.example/muster?sslmode=verify-full",
                              "postgres://u:half@s3cret@localhost,db.example/muster"}) {
    for (const bool risk : {false, true}) {
      const auto refused =
          ParametersOf({.address = address, .allow_unprotected = risk}, Purpose::kRead);
      ASSERT_FALSE(refused) << address;
      EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
      EXPECT_FALSE(refused.error().message.contains("s3cret")) << refused.error().message;
      EXPECT_TRUE(refused.error().message.contains("%40")) << refused.error().message;
    }
  }
  EXPECT_EQ(Unprotected("host=/run/a@b"), "");
  EXPECT_EQ(Unprotected("postgres://u:half%40s3cret@db.example/muster"), "db.example");
}

TEST(PostgresProtection, WhatWasCheckedIsWhatIsUsed) {
  // A database's name that is an address itself would be read by libpq in place of this one.
  const auto odd = ParametersOf(
      {.address = "host=127.0.0.1 dbname='postgres://db.example/x' gssencmode=require"},
      Purpose::kWrite);
  ASSERT_TRUE(odd);
  EXPECT_EQ(Value(*odd, "host"), "127.0.0.1");
  EXPECT_EQ(Value(*odd, "dbname"), "postgres://db.example/x");
  EXPECT_EQ(Value(*odd, "sslmode"), "prefer");
  EXPECT_EQ(Value(*odd, "gssencmode"), "disable");
  EXPECT_EQ(Value(*odd, "client_encoding"), "UTF8");
  const auto own =
      ParametersOf({.address = "postgres://u@db.example:7/x?sslmode=verify-full&connect_timeout=9&"
                               "options=-csearch_path%3Dmine"},
                   Purpose::kWrite);
  ASSERT_TRUE(own);
  EXPECT_EQ(Value(*own, "sslmode"), "verify-full");
  EXPECT_EQ(Value(*own, "connect_timeout"), "9");
  EXPECT_EQ(Value(*own, "port"), "7");
  EXPECT_TRUE(Value(*own, "options").ends_with(" -csearch_path=mine"));
}

TEST(PostgresProtection, VariablesOfLibpqAreDropped) {
  for (const char* name : {"PGHOST", "PGHOSTADDR", "PGSSLMODE", "PGSERVICE", "PGSERVICEFILE",
                           "PGPASSWORD", "PGOPTIONS", "PGREQUIRESSL"})
    setenv(name, "x", 1);
  setenv("PGDATA", "/kept", 1);  // not libpq's
  const auto dropped = DropEnvironment();
  EXPECT_EQ(dropped.size(), 8U);
  for (const auto& name : dropped) EXPECT_EQ(std::getenv(name.c_str()), nullptr) << name;
  EXPECT_NE(std::getenv("PGDATA"), nullptr);
  EXPECT_TRUE(DropEnvironment().empty());
}

}  // namespace
}  // namespace muster::postgres
