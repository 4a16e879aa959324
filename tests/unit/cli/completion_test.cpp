#include "cli/completion/completion.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "help/manual.hpp"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Completion : public testing::Test {
 protected:
  Completion() {
    app_.fallthrough();
    app_.add_option("--context", context_, "Which server")->type_name("CONTEXT");
    app_.add_option("-o,--output", output_)->check(CLI::IsMember({"table", "json"}));
    auto* run = app_.add_subcommand("run", "Run it\nat length");
    run->add_option("-t,--targets", targets_, "Which hosts")->type_name("EXPR");
    run->add_option("--script", script_)->type_name("FILE");
    run->add_flag("-d,--detach", detach_, "Leave it");
    app_.add_subcommand("show", "Show a run")->add_option("run", run_)->type_name("RUN");
    app_.add_subcommand("context", "Choose")
        ->add_subcommand("use", "This one")
        ->add_option("name", name_)
        ->type_name("CONTEXT");
    auto* get = app_.add_subcommand("get", "Show documents");
    get->add_option("kind", kind_)->type_name("KIND");
    get->add_option("name", name_)->type_name("DOCUMENT");
    app_.add_subcommand("pause", "Pause triggers")
        ->add_option("trigger", names_)
        ->type_name("TRIGGER");
    app_.add_subcommand("__hidden", "Not for people")->group("");
  }

  Wanted At(const std::vector<std::string>& words) {
    std::vector<std::string> all{"muster"};
    all.insert(all.end(), words.begin(), words.end());
    return WantedAt(app_, all);
  }

  static std::vector<std::string> Values(const Wanted& wanted) {
    std::vector<std::string> values;
    for (const auto& word : wanted.words) values.push_back(word.value);
    return values;
  }

  CLI::App app_{"Muster", "muster"};
  std::string context_, output_, targets_, script_, run_, name_, kind_;
  std::vector<std::string> names_;
  bool detach_ = false;
};

TEST_F(Completion, BeginsWithCommands) {
  const auto wanted = At({""});
  EXPECT_EQ(wanted.kind, ValueKind::kWords);
  EXPECT_THAT(Values(wanted), ElementsAre("run", "show", "context", "get", "pause"));
  EXPECT_EQ(wanted.words.front().about, "Run it");
  EXPECT_THAT(Values(At({"context", ""})), ElementsAre("use"));
}

TEST_F(Completion, OffersOptionsOfTheCommandAndThoseOfAll) {
  const auto values = Values(At({"run", "--"}));
  EXPECT_THAT(values, testing::IsSupersetOf({"--targets", "--script", "--detach", "--context"}));
  EXPECT_THAT(Values(At({"show", "-"})), testing::Not(testing::Contains("--targets")));
}

TEST_F(Completion, KnowsWhatAnOptionTakes) {
  EXPECT_EQ(At({"run", "-t", "we"}).kind, ValueKind::kTargets);
  EXPECT_EQ(At({"run", "-d", "--script", ""}).kind, ValueKind::kFiles);
  EXPECT_EQ(At({"--context", "p"}).kind, ValueKind::kContexts);
  EXPECT_THAT(Values(At({"run", "-o", ""})), ElementsAre("table", "json"));
  const auto joined = At({"run", "--targets=we"});
  EXPECT_EQ(joined.kind, ValueKind::kTargets);
  EXPECT_EQ(joined.head, "--targets=");
  EXPECT_EQ(joined.text, "we");
  EXPECT_EQ(At({"run", "-twe"}).text, "we");
}

TEST_F(Completion, KnowsPositionals) {
  EXPECT_EQ(At({"show", ""}).kind, ValueKind::kRuns);
  EXPECT_EQ(At({"context", "use", ""}).kind, ValueKind::kContexts);
  EXPECT_EQ(At({"show", "r1", ""}).kind, ValueKind::kNothing);
}

TEST_F(Completion, KnowsTheKindOfADocumentByTheWordBefore) {
  EXPECT_THAT(Values(At({"get", ""})), testing::Contains("trigger"));
  const auto wanted = At({"get", "jobs", "dep"});
  EXPECT_EQ(wanted.kind, ValueKind::kDocuments);
  EXPECT_EQ(wanted.before, "jobs");
}

TEST_F(Completion, TheLastArgumentMayTakeManyWords) {
  const auto trigger = At({"pause", "nightly", "we"});
  EXPECT_EQ(trigger.kind, ValueKind::kDocuments);
  EXPECT_EQ(trigger.before, "trigger");
  EXPECT_EQ(At({"show", "r1", "r2", ""}).kind, ValueKind::kNothing);
}

TEST_F(Completion, LeavesWordsAfterTheMarkToTheShell) {
  EXPECT_EQ(At({"run", "-t", "web1", "--", "ca"}).kind, ValueKind::kFiles);
}

TEST_F(Completion, RemembersWhichServerTheLineNames) {
  EXPECT_EQ(At({"--context", "prod", "run", "-t", ""}).flags.context, "prod");
  EXPECT_EQ(At({"run", "--context=lab", "-t", ""}).flags.context, "lab");
}

TEST_F(Completion, TakesAnyLine) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"nonsense", ""}, {"-"}, {"--=", ""}, {"run", "--nope", ""}, {"-x", "-y", "-z"}})
    EXPECT_NE(At(words).kind, ValueKind::kTargets);
}

TEST_F(Completion, TheManualHasTheSameWords) {
  auto* run = app_.get_subcommand("run");
  run->footer("Examples:\n  muster run -- 'a\\b'\n\n.leading dot");
  const auto page = help::ManualPage(*run, {.version = "1.0"});
  EXPECT_THAT(page, HasSubstr(".TH MUSTER\\-RUN 1"));
  EXPECT_THAT(page, HasSubstr("muster\\-run \\- Run it\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-t\\fR, \\fB\\-\\-targets\\fR \\fIEXPR\\fR\nWhich hosts.\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\n  muster run \\-\\- \\(aqa\\eb\\(aq\n.fi\n"));
  EXPECT_THAT(page, HasSubstr(".SH NOTES\n\\&.leading dot\n"));
  EXPECT_THAT(help::ManualPage(app_, {.version = "1.0"}), testing::Not(HasSubstr("__hidden")));
}

TEST(SplitTyped, ReadsAsAShellWould) {
  EXPECT_THAT(SplitTyped("muster run -t 'a b' c\\ d \"e\"f ").words,
              ElementsAre("muster", "run", "-t", "a b", "c d", "ef", ""));
  const auto open = SplitTyped("muster run -t 'zone=s");
  EXPECT_EQ(open.words.back(), "zone=s");
  EXPECT_TRUE(open.quoted);
  EXPECT_FALSE(SplitTyped("muster run").quoted);
}

TEST(TermBegin, IsAfterTheLastSeparator) {
  EXPECT_EQ(TermBegin("we"), 0U);
  EXPECT_EQ(TermBegin("a,we"), 2U);
  EXPECT_EQ(TermBegin("zone=x and not (ho"), 16U);
}

}  // namespace
}  // namespace muster::cli
