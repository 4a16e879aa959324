#include "adapters/etcd/messages.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::etcd {
namespace {

using namespace std::chrono_literals;

ErrorCode CodeOf(int status, std::string_view body) {
  const auto answer = ReadAnswer(status, body);
  return answer ? ErrorCode::kInternal : answer.error().code;
}

TEST(EtcdRequests, NameKeysInBase64AndNumbersAsText) {
  EXPECT_EQ(GrantBody(2), R"({"TTL":"2"})");
  EXPECT_EQ(LeaseBody(77), R"({"ID":"77"})");
  EXPECT_EQ(RangeBody("/muster/"), R"({"key":"L211c3Rlci8=","range_end":"L211c3RlcjA="})");
  EXPECT_EQ(WatchBody("a", 9),
            R"({"create_request":{"key":"YQ==","range_end":"Yg==","start_revision":"9"}})");
}

TEST(EtcdRequests, RangeOfAPrefixEndsBehindItsLastKey) {
  EXPECT_EQ(RangeBody(std::string("a\xff", 2)), R"({"key":"Yf8=","range_end":"Yg=="})");
  EXPECT_EQ(RangeBody("\xff"), R"({"key":"/w==","range_end":"AA=="})");
}

TEST(EtcdAnswers, ErrorsOfEtcdAreToldFromThoseOfAnEndpoint) {
  EXPECT_EQ(CodeOf(404, R"({"error":"requested lease not found","code":5})"), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(403, R"({"error":"permission denied","code":7})"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(401, R"({"error":"invalid auth token","code":16})"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(412, R"({"error":"authentication is not enabled","code":9})"),
            ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(503, R"({"error":"etcdserver: no leader","code":14})"), ErrorCode::kUnavailable);
  EXPECT_EQ(CodeOf(200, R"({"error":{"grpc_code":14,"message":"no leader"}})"),
            ErrorCode::kUnavailable);
  for (const char* other : {"", "no", "[]", "{}", "7", R"({"header":)", R"({"result":7})"})
    EXPECT_EQ(CodeOf(200, other), ErrorCode::kUnavailable) << other;
  EXPECT_EQ(CodeOf(404, R"({"header":{}})"), ErrorCode::kUnavailable);
}

TEST(EtcdAnswers, LeaseThatIsGoneHasNoTime) {
  const auto gone = ReadAnswer(200, R"({"result":{"header":{},"ID":"123"}})");
  ASSERT_TRUE(gone);
  EXPECT_EQ(ReadKeptAlive(*gone), 0s);
  const auto kept = ReadAnswer(200, R"({"result":{"header":{},"ID":"123","TTL":"2"}})");
  EXPECT_EQ(ReadKeptAlive(*kept), 2s);
  EXPECT_FALSE(ReadGrant(*gone));
  EXPECT_EQ(ReadGrant(*kept)->lease, 123);
  EXPECT_FALSE(ReadKeptAlive(*ReadAnswer(200, R"({"header":{}})")));
}

TEST(EtcdAnswers, EventsOfAWatch) {
  const auto answer = ReadAnswer(200, R"({"result":{"header":{"revision":"7"},"events":[
        {"kv":{"key":"YQ==","mod_revision":"6","value":"Yg==","lease":"5"}},
        {"type":"DELETE","kv":{"key":"YQ==","mod_revision":"7"}}, 3, {"type":"DELETE"}]}})");
  ASSERT_TRUE(answer);
  const auto news = ReadNews(*answer);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->revision, 7);
  EXPECT_FALSE(news->created || news->canceled);
  const std::vector<KeyValue> expected{{.key = "a", .value = "b", .revision = 6, .lease = 5},
                                       {.key = "a", .revision = 7, .deleted = true}};
  EXPECT_EQ(news->events, expected);
}

TEST(EtcdAnswers, CompactedWatchIsCanceled) {
  const auto answer =
      ReadAnswer(200, R"({"result":{"header":{},"canceled":true,"compact_revision":"3"}})");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(ReadNews(*answer)->canceled);
}

TEST(EtcdAnswers, TransactionFindsWhoWasFirst) {
  const auto answer = ReadAnswer(200, R"({"header":{"revision":"2"},"responses":[
      {"response_range":{"kvs":[{"key":"YQ==","mod_revision":"2","value":"Yg==","lease":"5"}]}}]})");
  ASSERT_TRUE(answer);
  const auto txn = ReadTxn(*answer);
  ASSERT_TRUE(txn);
  EXPECT_FALSE(txn->succeeded);
  ASSERT_EQ(txn->found.size(), 1U);
  EXPECT_EQ(txn->found[0].lease, 5);
}

TEST(EtcdValues, MembersAndLeadersComeBackAsTheyWere) {
  const Member member{.name = "a\"\n",
                      .url = "https://a:8440",
                      .version = "1.2",
                      .labels = {{"region", "sh"}, {"zone", "ü"}},
                      .links = 1ULL << 40,
                      .draining = true,
                      .unfit = "too old"};
  EXPECT_EQ(ReadMember(MemberText(member)), member);
  EXPECT_EQ(ReadLeader(LeaderText("a\"", 7)), "a\"");
}

TEST(EtcdValues, WhatIsNoMemberIsNone) {
  for (const char* other : {"", "{}", "[]", R"({"name":7})", R"({"name":""})"}) {
    EXPECT_FALSE(ReadMember(other)) << other;
    EXPECT_FALSE(ReadLeader(other)) << other;
  }
  // A newer server may say more.
  EXPECT_EQ(ReadMember(R"({"name":"a","more":[1],"labels":{"x":7}})"), Member{.name = "a"});
}

}  // namespace
}  // namespace muster::etcd
