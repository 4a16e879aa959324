#include <algorithm>

#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Tokens : public EngineFixture {
 protected:
  Token TokenOf(std::string name, WallTime expires = {}) {
    Token token;
    token.name = std::move(name);
    token.hash = "hash-" + token.name;
    token.role = Role::kOperator;
    token.created = now_.wall;
    token.expires = expires;
    return token;
  }
  Result<CreateToken::Answer> Create(Token token) {
    const auto id = Ask(CreateToken{.caller = {{}, "admin", "10.0.0.1", "c"}, .token = token});
    EXPECT_FALSE(replies_.contains(id)) << "answered before the commit";
    Settle();
    return AnswerTo<CreateToken>(id);
  }
  Result<TokenAnswer> Revoke(std::string name) {
    const auto id =
        Ask(RevokeToken{.caller = {{}, "admin", "10.0.0.1", "c"}, .name = name, .reason = "left"});
    Settle();
    return AnswerTo<RevokeToken>(id);
  }
  // The token as listeners were last told.
  std::optional<Token> Told(const std::string& name) {
    std::optional<Token> told;
    for (const auto& one : news_) {
      const auto* news = std::get_if<TokenNews>(&one);
      if (news == nullptr) continue;
      if (news->all) told.reset();
      if (std::ranges::find(news->dropped, name) != news->dropped.end()) told.reset();
      for (const auto& token : news->tokens)
        if (token.name == name) told = token;
    }
    return told;
  }
  std::vector<AuditEntry> Trail() { return *store_.ReadAudit(1, 1000); }
};

TEST_F(Tokens, AreToldAfterTheCommitAndAudited) {
  ASSERT_TRUE(Create(TokenOf("alice")));
  ASSERT_TRUE(Told("alice"));
  EXPECT_EQ(Told("alice")->hash, "hash-alice");
  ASSERT_EQ(Trail().size(), 1U);
  EXPECT_EQ(Trail()[0].act, "token.create");
  EXPECT_EQ(Trail()[0].object, "token alice");
  EXPECT_EQ(Trail()[0].actor, "admin");
  EXPECT_EQ(Trail()[0].client, "c");
}

TEST_F(Tokens, NameInUseIsRefused) {
  ASSERT_TRUE(Create(TokenOf("alice")));
  const auto again = Ask(CreateToken{.caller = {}, .token = TokenOf("alice")});
  Settle();
  ASSERT_FALSE(replies_.at(again));
  EXPECT_EQ(replies_.at(again).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Trail().size(), 1U);
}

TEST_F(Tokens, RevokedOnceIsRevokedForGoodAndItsNameIsFree) {
  ASSERT_TRUE(Create(TokenOf("alice")));
  ASSERT_TRUE(Revoke("alice"));
  EXPECT_TRUE(Told("alice")->revoked);
  EXPECT_EQ(Told("alice")->revoked_by, "admin");
  const WallTime when = Told("alice")->revoked;
  Advance(std::chrono::seconds(5));
  ASSERT_TRUE(Revoke("alice"));
  EXPECT_EQ(Told("alice")->revoked, when);
  ASSERT_EQ(Trail().size(), 2U);
  EXPECT_EQ(Trail()[1].reason, "left");
  auto next = TokenOf("alice");
  next.hash = "other";
  ASSERT_TRUE(Create(next));
  EXPECT_EQ(Told("alice")->hash, "other");
  EXPECT_FALSE(Told("alice")->revoked);
}

TEST_F(Tokens, KeyMakesOneTokenAlsoUnderTheNextLeader) {
  const auto create = [&](const std::string& name, const std::string& hash) {
    auto token = TokenOf(name);
    token.hash = hash;
    const auto id = Ask(CreateToken{.caller = {{}, "admin", "10.0.0.1", "c"},
                                    .token = token,
                                    .key = "token k1",
                                    .body_sha256 = "body of " + name,
                                    .known = *store_.FindKey("admin", "token k1")});
    Settle();
    return AnswerTo<CreateToken>(id);
  };
  ASSERT_TRUE(create("alice", "derived"));
  for (int leader = 0; leader < 2; ++leader) {
    const auto again = create("alice", "derived");
    ASSERT_TRUE(again);
    ASSERT_TRUE(std::holds_alternative<TokenAnswer>(*again));
    EXPECT_EQ(std::get<TokenAnswer>(*again).token.hash, "derived");
    const auto other = create("bob", "derived");
    ASSERT_TRUE(other);
    EXPECT_TRUE(std::holds_alternative<KeyRefused>(*other));
    Lead();
  }
  EXPECT_EQ(Trail().size(), 1U);
  EXPECT_FALSE(Told("bob"));

  // A later token of the name is not the key's.
  ASSERT_TRUE(Revoke("alice"));
  EXPECT_TRUE(std::holds_alternative<KeyRefused>(*create("alice", "derived")));
  auto next = TokenOf("alice");
  next.hash = "other";
  ASSERT_TRUE(Create(next));
  EXPECT_TRUE(std::holds_alternative<KeyRefused>(*create("alice", "derived")));
}

TEST_F(Tokens, SecretOfAKeyIsMadeWithTheSaltOnRecord) {
  const auto create = [&](const std::string& salt, const std::string& hash) {
    auto token = TokenOf("alice");
    token.hash = hash;
    const auto id = Ask(CreateToken{.caller = {{}, "admin", "10.0.0.1", "c"},
                                    .token = token,
                                    .key = "POST /tokens k1",
                                    .body_sha256 = "body:" + salt,
                                    .known = *store_.FindKey("admin", "POST /tokens k1")});
    Settle();
    return AnswerTo<CreateToken>(id);
  };
  ASSERT_TRUE(create("s1", "with s1"));
  const auto raced = create("s2", "with s2");
  ASSERT_FALSE(raced) << "made before the first was on record";
  EXPECT_EQ(raced.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(create("s1", "with s1"));
}

TEST_F(Tokens, UnknownOneCannotBeRevoked) {
  const auto answer = Revoke("nobody");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
}

TEST_F(Tokens, NewLeaderTellsThemAll) {
  ASSERT_TRUE(Create(TokenOf("alice")));
  ASSERT_TRUE(Create(TokenOf("bob")));
  ASSERT_TRUE(Revoke("bob"));
  news_.clear();
  Lead();
  EXPECT_EQ(Told("alice")->role, Role::kOperator);
  EXPECT_TRUE(Told("bob")->revoked);
}

TEST_F(Tokens, LongEndedOnesAreForgotten) {
  ASSERT_TRUE(Create(TokenOf("short", now_.wall + std::chrono::hours(1))));
  ASSERT_TRUE(Create(TokenOf("gone")));
  ASSERT_TRUE(Revoke("gone"));
  ASSERT_TRUE(Create(TokenOf("stays")));
  Advance(std::chrono::hours(32 * 24));
  ASSERT_TRUE(Create(TokenOf("new")));
  EXPECT_FALSE(Told("short"));
  EXPECT_FALSE(Told("gone"));
  EXPECT_TRUE(Told("stays"));
  news_.clear();
  Lead();
  EXPECT_FALSE(Told("short"));
  EXPECT_TRUE(Told("new"));
}

TEST_F(Tokens, TrailOfEverythingIsOneChainAcrossLeaders) {
  AddHosts(3);
  const RunId run = Start(3);
  Ask(StopRun{.caller = {{}, "alice", "10.0.0.2"},
              .run = run,
              .host = {},
              .reason = "wrong hosts",
              .known = {}});
  Settle();
  Lead();
  ASSERT_TRUE(Create(TokenOf("alice")));
  AuditWalk walk;
  std::map<std::string, AuditEntry> by_act;
  for (const auto& entry : Trail()) {
    EXPECT_TRUE(walk.Take(entry)) << walk.bad() << ": " << walk.why();
    by_act[entry.act] = entry;
  }
  EXPECT_TRUE(walk.Reaches(*store_.ReadAuditHead()));
  EXPECT_EQ(by_act["run.start"].run, run);
  EXPECT_EQ(by_act["run.start"].hosts, 3U);
  EXPECT_EQ(by_act["run.start"].command_sha256.size(), 32U);
  EXPECT_EQ(by_act["run.stop"].reason, "wrong hosts");
  EXPECT_EQ(by_act["run.stop"].hosts, 3U);
  EXPECT_EQ(by_act["run.stop"].names, "h[1-3]");
  // Both are found by a host they touched.
  AuditFilter filter;
  filter.host = HostId(2);
  filter.by = "alice";
  EXPECT_EQ(store_.ListAudit(filter, 0, 10)->entries.size(), 1U);
}

}  // namespace
}  // namespace muster::engine
