#include "domain/audit_facts.hpp"

#include <gtest/gtest.h>

#include "domain/audit.hpp"

namespace muster {
namespace {

RunSpec Plan() {
  Command command;
  command.script = "restart \"db\"\n";
  command.user = "root";
  command.env = {{"LD_PRELOAD", "hidden"}};
  command.secrets = {{"PASSWORD", "db.password"}};
  StageSpec ask;
  ask.name = "ask";
  ask.action = ApproveAction{.message = "go?", .by = {}};
  StageSpec work;
  work.name = "work";
  work.action = std::make_shared<const Command>(command);
  RunSpec plan;
  plan.title = "harmless";
  plan.job = "db";
  plan.version = 3;
  plan.params = {{"to", "6.1", false}, {"token", "deploy", true}};
  plan.stages = {ask, work};
  return plan;
}

TEST(AuditFacts, SayWhatIsDoneWithWhatAndUnderWhichApproval) {
  const std::string detail = DetailWith("job db\nversion 3", FactsOf(Plan()));
  const auto [sentence, facts] = SplitDetail(detail);
  EXPECT_EQ(sentence, "job db version 3");
  for (const std::string_view part :
       {R"("job":"db","version":3)", R"("params":{"to":"6.1","token":"secret:deploy"})",
        R"("name":"work","action":"script","text":"restart \"db\"\u000a","user":"root",)"
        R"("env":["LD_PRELOAD"])",
        R"("secrets":["param token=secret:deploy","PASSWORD=secret:db.password"])",
        R"("approvals":["ask"])", R"("title":"harmless")"})
    EXPECT_NE(facts.find(part), std::string_view::npos) << part << " in " << facts;
  EXPECT_EQ(facts.find("hidden"), std::string_view::npos) << "values of variables are not told";
}

TEST(AuditFacts, NameWhatTheServerUsesItself) {
  RunSpec plan = Plan();
  StageSpec call;
  call.name = "call";
  call.action =
      HttpAction{.method = "POST",
                 .url = "https://example.com",
                 .headers = {{"Authorization", "Bearer secret:lb.token"}, {"X", "plain"}}};
  StageSpec look;
  look.name = "look";
  look.action = ConditionAction{.request = {.headers = {{"X-Key", "secret:metrics"}}}};
  StageSpec tell;
  tell.name = "tell";
  tell.action = NotifyAction{.channel = "ops", .message = "hello"};
  plan.stages = {call, look, tell};
  plan.notices = {{.on = {"failed"}, .channel = "pager"}, {.on = {"paused"}, .channel = "ops"}};
  AuditFacts facts = FactsOf(plan);
  EXPECT_EQ(facts.secrets, (std::vector<std::string>{"param token=secret:deploy",
                                                     "header Authorization=secret:lb.token",
                                                     "header X-Key=secret:metrics"}));
  EXPECT_EQ(facts.channels, (std::vector<std::string>{"ops", "pager"}));
  facts.parent = "r12";
  const std::string detail = DetailWith("x", facts);
  EXPECT_NE(detail.find(R"("parent":"r12")"), std::string::npos) << detail;
  EXPECT_NE(detail.find(R"("channels":["ops","pager"])"), std::string::npos) << detail;
}

TEST(AuditFacts, SentenceWithoutThemStaysAsItIs) {
  EXPECT_EQ(DetailWith("version 3", {}), "version 3");
  const auto parts = SplitDetail("two\nlines");
  EXPECT_EQ(parts.sentence, "two\nlines");
  EXPECT_EQ(parts.facts, "");
}

TEST(AuditFacts, AreBoundedHoweverLargeThePlanIs) {
  RunSpec plan = Plan();
  plan.params.assign(1000, {"p", std::string(100'000, 'x'), false});
  plan.stages.assign(1000, plan.stages[1]);
  EXPECT_LT(DetailWith("", FactsOf(plan)).size(), 100'000U);
}

TEST(PlanHash, ChangesWithEverythingThatIsDone) {
  const std::string hash = PlanHash(Plan());
  const std::vector<void (*)(RunSpec&)> changes{
      [](RunSpec& plan) { plan.params[0].value = "6.2"; },
      [](RunSpec& plan) { plan.version = 4; },
      [](RunSpec& plan) { plan.stages.erase(plan.stages.begin()); },
      [](RunSpec& plan) { std::get<ApproveAction>(plan.stages[0].action).not_starter = true; },
      [](RunSpec& plan) { plan.stages[1].when = "false"; },
      [](RunSpec& plan) {
        Command command;
        command.script = "other";
        plan.stages[1].action = std::make_shared<const Command>(command);
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RunSpec plan = Plan();
    changes[i](plan);
    EXPECT_NE(PlanHash(plan), hash) << i;
  }
  RunSpec renamed = Plan();
  renamed.title = "other words";
  EXPECT_EQ(PlanHash(renamed), hash);
}

TEST(CommandHash, CoversFilesRebootsAndSecrets) {
  const Command plain;
  const std::string hash = CommandHash(plain);
  Command push;
  push.push = std::make_shared<const FilePush>(FilePush{.files = {}, .content = "a", .to = "/x"});
  Command other_push;
  other_push.push =
      std::make_shared<const FilePush>(FilePush{.files = {}, .content = "b", .to = "/x"});
  Command pull;
  pull.pull = std::make_shared<const FilePull>(FilePull{.paths = {"/etc/shadow"}});
  Command reboot;
  reboot.reboot = std::make_shared<const Reboot>();
  Command secret;
  secret.secrets = {{"A", "b"}};
  const std::vector<std::string> hashes{hash,
                                        CommandHash(push),
                                        CommandHash(other_push),
                                        CommandHash(pull),
                                        CommandHash(reboot),
                                        CommandHash(secret)};
  for (std::size_t i = 0; i < hashes.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(hashes[i], hashes[k]) << i << " " << k;
}

TEST(AuditText, NamesFilesAndPaths) {
  Command push;
  push.push = std::make_shared<const FilePush>(
      FilePush{.files = {{.path = "", .sha256 = std::string(32, '\x11'), .size = 3}},
               .to = "/etc/app/",
               .name = "app.conf",
               .mode = 0600,
               .owner = "root"});
  EXPECT_EQ(AuditText(push),
            "push app.conf (sha256 "
            "1111111111111111111111111111111111111111111111111111111111111111) to /etc/app/ owner "
            "root mode 0600");
  Command pull;
  pull.pull = std::make_shared<const FilePull>(FilePull{.paths = {"/var/log/*", "/etc/a b"}});
  EXPECT_EQ(AuditText(pull), "pull '/var/log/*' '/etc/a b'");
  Command reboot;
  reboot.reboot = std::make_shared<const Reboot>();
  EXPECT_EQ(AuditText(reboot), "reboot");
}

TEST(PlanHash, IsTheSameWithHashesThatAreKnown) {
  RunSpec shared;
  shared.job = "shared";
  const auto below = std::make_shared<const RunSpec>(shared);
  RunSpec plan;
  plan.job = "top";
  plan.jobs["shared"] = below;
  StageSpec stage;
  stage.name = "a";
  stage.action = JobAction{.job = "shared", .params = {}};
  plan.stages = {stage};
  std::map<const RunSpec*, std::string> known;
  EXPECT_EQ(PlanHash(plan, known), PlanHash(plan));
  EXPECT_EQ(known.size(), 2U);
  EXPECT_EQ(known[below.get()], PlanHash(shared));
  known[below.get()] = "another";
  known.erase(&plan);
  EXPECT_NE(PlanHash(plan, known), PlanHash(plan)) << "what is known is not made again";
}

TEST(AuditFacts, OfAChannelSayWhereItSendsWhichSecrets) {
  const auto facts = [](auto way) {
    return DetailWith("x", FactsOf(Channel{.name = "ops", .way = std::move(way)}));
  };
  EXPECT_EQ(facts(WebhookChannel{.url = "https://ann:T0K3N@hooks.example.com:8443/T0K3N?a=T0K3N",
                                 .headers = {{"X-Plain", "p"},
                                             {"Authorization", "Bearer secret:prod.db"},
                                             {"X-S", "secret:other"}}}),
            "x\n{\"secrets\":[\"header Authorization=secret:prod.db\",\"header X-S=secret:other\"],"
            "\"host\":\"hooks.example.com:8443\"}");
  EXPECT_EQ(facts(ChatChannel{.url = "secret:chat.url"}),
            "x\n{\"secrets\":[\"url=secret:chat.url\"]}");
  EXPECT_EQ(
      facts(MailChannel{.server = "mail.example.com:587",
                        .from = "a@example.com",
                        .to = {"b@example.com"},
                        .user = "muster",
                        .password = "secret:mail.password"}),
      "x\n{\"secrets\":[\"password=secret:mail.password\"],\"host\":\"mail.example.com:587\"}");
}

TEST(AuditFacts, OfAChannelLeaveNoSecretOut) {
  WebhookChannel webhook{.url = "secret:url"};
  for (std::size_t i = 0; i < kMaxChannelHeaders; ++i)
    webhook.headers.emplace_back(fmt::format("X-{}", i), fmt::format("secret:s{}", i));
  const Channel channel{.name = "ops", .way = webhook};
  ASSERT_TRUE(CheckChannel(channel));
  EXPECT_EQ(FactsOf(channel).secrets.size(), kMaxChannelHeaders + 1);
  webhook.headers.emplace_back("X-More", "secret:more");
  EXPECT_FALSE(CheckChannel({.name = "ops", .way = webhook}));
}

}  // namespace
}  // namespace muster
