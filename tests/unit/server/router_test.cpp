#include "server/api/router.hpp"

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/memory/memory_store.hpp"

namespace muster::server::api {
namespace {

class UnmovedClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = {}}; }
};

// What the router makes of heads, before their bodies are read.
class JudgedHeads : public ::testing::Test {
 protected:
  JudgedHeads() {
    people_.Take({Person("op", Role::kOperator), Person("view", Role::kViewer)}, {}, true);
    router_.Add(
        {{"POST", "/api/v1/runs", Privilege::kOperate, [](const CallPtr&) {}},
         {"POST", "/api/v1/runs/{id}/stop", Privilege::kOperate, [](const CallPtr&) {}},
         {"POST", "/api/v1/join", Privilege::kJoin, [](const CallPtr&) {}},
         {"GET", "/api/v1/artifacts/{sha256}", Privilege::kTransfer, [](const CallPtr&) {}}});
  }
  static Token Person(std::string name, Role role) {
    return {.name = name, .hash = crypto::Sha256("secret of " + name), .role = role};
  }
  static net::HttpRequest Head(std::string method, std::string target, const std::string& token) {
    net::HttpRequest head{.method = std::move(method), .target = std::move(target)};
    if (!token.empty()) head.headers.emplace_back("Authorization", "Bearer secret of " + token);
    return head;
  }
  enum class Fate { kRefused, kUnknown, kKnown };
  static Fate FateOf(const net::BodyVerdict& verdict) {
    if (verdict.refuse) return Fate::kRefused;
    return verdict.known_caller ? Fate::kKnown : Fate::kUnknown;
  }
  Fate Judge(std::string method, std::string target, const std::string& token) {
    return FateOf(router_.Judge(Head(std::move(method), std::move(target), token)));
  }

  UnmovedClock clock_;
  WorkerPool workers_{1};
  FailureWatch failures_{{.per_minute = 1000}, [](const std::string&) {}};
  Refusals refusals_{failures_, clock_,
                     [](Duration, const std::function<void()>& work) { work(); }};
  Authenticator people_{"admin"};
  Router router_{people_, refusals_, workers_, clock_};
};

TEST_F(JudgedHeads, ABodyIsReadOfCallersThatMayMakeTheCall) {
  EXPECT_EQ(Judge("POST", "/api/v1/runs", "op"), Fate::kKnown);
  EXPECT_EQ(Judge("POST", "/api/v1/runs?x=1", "op"), Fate::kKnown);
  EXPECT_EQ(Judge("POST", "/api/v1/runs/r1/stop", "op"), Fate::kKnown);
  EXPECT_EQ(Judge("POST", "/api/v1/runs", "view"), Fate::kRefused);
  EXPECT_EQ(Judge("POST", "/api/v1/runs/r1/stop", "view"), Fate::kRefused);
  EXPECT_EQ(Judge("POST", "/api/v1/runs", "nobody"), Fate::kRefused);
  EXPECT_EQ(Judge("POST", "/api/v1/runs", ""), Fate::kRefused);
}

TEST_F(JudgedHeads, RoutesWithoutATokenHaveUnknownCallers) {
  EXPECT_EQ(Judge("POST", "/api/v1/join", ""), Fate::kUnknown);
  EXPECT_EQ(Judge("POST", "/api/v1/join", "op"), Fate::kUnknown);
  net::HttpRequest host = Head("GET", "/api/v1/artifacts/ab", "");
  EXPECT_EQ(FateOf(router_.Judge(host)), Fate::kRefused);
  host.peer_key = "key";
  EXPECT_EQ(FateOf(router_.Judge(host)), Fate::kUnknown);
}

TEST_F(JudgedHeads, UnknownRoutesAreForCallersThatAreKnown) {
  for (const char* target : {"/", "/api/v1/runs/", "/api/v1/runs/r1", "/api/v1/runs/r1/stop/x"}) {
    EXPECT_EQ(Judge("POST", target, ""), Fate::kRefused) << target;
    EXPECT_EQ(Judge("POST", target, "view"), Fate::kKnown) << target;
  }
  EXPECT_EQ(Judge("PUT", "/api/v1/runs", ""), Fate::kRefused);
}

// Keeps the answer.
class KeptAnswer final : public net::HttpExchange {
 public:
  void Respond(net::HttpResponse response) override { answer = std::move(response); }
  void BeginStream(int, net::Headers) override {}
  void Write(std::string) override {}
  void End() override {}
  bool Gone() const override { return false; }
  std::size_t Unsent() const override { return 0; }
  void OnGone(std::function<void()>) override {}
  void BeginSized(int, net::Headers, std::uint64_t) override {}
  void OnRoom(std::size_t, std::function<void()>) override {}
  void ReadBody(std::function<void(net::BodyPiece)>) override {}
  void Keep(std::shared_ptr<void>) override {}

  net::HttpResponse answer;
};

TEST_F(JudgedHeads, QueryWithVeryManyParametersIsRefused) {
  const auto asked = std::make_shared<KeptAnswer>();
  std::string target = "/api/v1/runs?";
  for (int i = 0; i < 101; ++i) target += std::to_string(i) + "&";
  router_.Handle(Head("POST", target, "op"), asked);
  EXPECT_EQ(asked->answer.status, 400) << asked->answer.body;
}

TEST_F(JudgedHeads, PathOfManySlashesIsNotRepeatedInTheAnswer) {
  const auto asked = std::make_shared<KeptAnswer>();
  router_.Handle(Head("GET", std::string(8'000, '/'), ""), asked);
  EXPECT_EQ(asked->answer.status, 404);
  EXPECT_LT(asked->answer.body.size(), 1'000U);
}

TEST_F(JudgedHeads, OtherServersJudgeTheirCallersThemselves) {
  net::HttpRequest head = Head("POST", "/api/v1/runs", "");
  head.peer_server = "s2";
  EXPECT_EQ(FateOf(router_.Judge(head)), Fate::kKnown);
}

TEST_F(JudgedHeads, AServerThatDoesNotLeadReadsTheTokensFirst) {
  MemoryStore store;
  std::vector<std::function<void()>> work;
  PeopleOnRecord people(store, "admin",
                        {.to_worker =
                             [&](std::function<void()> one) {
                               work.push_back(std::move(one));
                               return true;
                             },
                         .to_loop = [](const std::function<void()>& one) { one(); }});
  std::vector<Fate> fates;
  const auto decide = [&](const net::BodyVerdict& verdict) { fates.push_back(FateOf(verdict)); };
  router_.JudgeOnRecord(people, Head("POST", "/api/v1/join", ""), decide);
  EXPECT_EQ(fates, std::vector{Fate::kUnknown}) << "nothing is to be read for it";
  net::HttpRequest admin = Head("POST", "/api/v1/runs", "");
  admin.headers.emplace_back("Authorization", "Bearer admin");
  router_.JudgeOnRecord(people, admin, decide);
  router_.JudgeOnRecord(people, Head("POST", "/api/v1/runs", "op"), decide);
  EXPECT_EQ(fates.size(), 1U);
  for (std::size_t i = 0; i < work.size(); ++i) work[i]();
  EXPECT_EQ(fates, (std::vector{Fate::kUnknown, Fate::kKnown, Fate::kRefused}))
      << "the store has no such token";
}

}  // namespace
}  // namespace muster::server::api
