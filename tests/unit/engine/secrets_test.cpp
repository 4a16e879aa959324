#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Secrets : public EngineFixture {
 protected:
  Result<Secret> Set(const std::string& sealed) {
    return AnswerOf(Ask(SetSecret{
        .caller = kAdmin, .name = "db", .sealed = sealed, .known = *store_.FindSecret("db")}));
  }
  Result<Secret> Remove() {
    return AnswerOf(
        Ask(RemoveSecret{.caller = kAdmin, .name = "db", .known = *store_.FindSecret("db")}));
  }
  Result<Secret> AnswerOf(RequestId id) {
    EXPECT_FALSE(replies_.contains(id) && replies_.at(id)) << "answered before the commit";
    Settle();
    const auto& answer = replies_.at(id);
    if (!answer) return Fail(answer.error());
    return std::get<SecretAnswer>(*answer).secret;
  }
  std::vector<AuditEntry> Trail() { return *store_.ReadAudit(1, 1000); }

  const Caller kAdmin{{}, "admin", "10.0.0.1", "c"};
};

TEST_F(Secrets, SetIsKeptToldAndAudited) {
  const auto set = Set("sealed-1");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->version, 1U);
  EXPECT_EQ(set->by, "admin");
  EXPECT_EQ(store_.FindSecret("db")->value->sealed, "sealed-1");
  ASSERT_FALSE(news_.empty());
  EXPECT_EQ(std::get<SecretNews>(news_.back()).secrets.at(0).sealed, "sealed-1");
  ASSERT_EQ(Trail().size(), 1U);
  EXPECT_EQ(Trail()[0].act, "secret.set");
  EXPECT_EQ(Trail()[0].object, "secret db");
}

TEST_F(Secrets, WhatIsSealedIsInNoAnswerAndOnNoTrail) {
  const auto set = Set("sealed-1");
  ASSERT_TRUE(set);
  EXPECT_EQ(set->sealed, "");
  const auto gone = Remove();
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->sealed, "");
  for (const auto& entry : Trail())
    for (const auto& text : {entry.object, entry.detail, entry.reason, entry.command})
      EXPECT_EQ(text.find("sealed-1"), std::string::npos) << text;
}

TEST_F(Secrets, VersionsGrowAlsoWhenALookUpIsOld) {
  const auto old = *store_.FindSecret("db");
  ASSERT_TRUE(Set("one"));
  ASSERT_TRUE(Set("two"));
  const auto third =
      AnswerOf(Ask(SetSecret{.caller = kAdmin, .name = "db", .sealed = "x", .known = old}));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->version, 3U);
  Lead();
  const auto fourth = Set("four");
  ASSERT_TRUE(fourth);
  EXPECT_EQ(fourth->version, 4U);
}

TEST_F(Secrets, LookUpFromBeforeThisTermIsNotTrusted) {
  const auto old = *store_.FindSecret("db");
  ASSERT_TRUE(Set("one"));
  Lead();
  const auto set =
      AnswerOf(Ask(SetSecret{.caller = kAdmin, .name = "db", .sealed = "x", .known = old}));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kUnavailable);
}

TEST_F(Secrets, RemovedIsGoneAndBeginsAnew) {
  ASSERT_TRUE(Set("one"));
  ASSERT_TRUE(Set("two"));
  const auto removed = Remove();
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->version, 2U);
  EXPECT_FALSE(store_.FindSecret("db")->value);
  EXPECT_EQ(std::get<SecretNews>(news_.back()).dropped, std::vector<std::string>{"db"});
  EXPECT_EQ(Trail().back().act, "secret.remove");
  const auto again = Remove();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Set("three")->version, 1U);
}

}  // namespace
}  // namespace muster::engine
