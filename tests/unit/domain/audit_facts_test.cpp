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

}  // namespace
}  // namespace muster
