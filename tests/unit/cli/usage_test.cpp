#include "cli/usage.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ComplaintAbout(std::vector<std::string> words) {
  CLI::App app("Muster", "muster");
  app.fallthrough();
  app.require_subcommand(1);
  std::string text;
  app.add_subcommand("run")->add_option("-t,--targets", text);
  app.add_subcommand("runs")->add_option("--limit", text);
  auto* group = app.add_subcommand("context");
  group->require_subcommand(1);
  group->add_subcommand("use")->add_option("name", text)->required();
  auto* hosts = app.add_subcommand("hosts");
  hosts->add_option("targets", text);
  hosts->add_option("--limit", text)->check(CLI::Range(0, 9));
  hosts->add_subcommand("label")->add_option("labelled", text);
  auto* skip = app.add_subcommand("skip")->group("");
  skip->add_option("stage", text, "Which stage")->type_name("STAGE")->required();
  app.add_subcommand("backfill")->group("")->add_option("--to", text, "Slots up to")->required();
  std::vector<std::string> several;
  app.add_subcommand("cp")->add_option("paths", several);
  app.add_subcommand("__complete")->group("")->add_option("--line", text);
  std::ranges::reverse(words);
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& problem) {
    return ExplainUsage(app, problem);
  }
  return ExplainEmpty(app).value_or("");
}

std::string Complaint(std::string_view line) {
  std::vector<std::string> words;
  for (const auto word : Split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return ComplaintAbout(std::move(words));
}

TEST(Usage, NamesWhatMayHaveBeenMeant) {
  EXPECT_EQ(Complaint("contxt"),
            "muster: muster has no command 'contxt'; did you mean context?\nSee: muster --help\n");
  EXPECT_THAT(Complaint("runs --limt 3"),
              HasSubstr("muster runs has no option --limt; did you mean --limit?"));
  EXPECT_THAT(Complaint("context us prod"), HasSubstr("did you mean use?\nSee: muster context "));
}

TEST(Usage, SpeaksOfTheCommandRatherThanOfWhatCameBehindIt) {
  EXPECT_THAT(Complaint("rnu -t web1"),
              HasSubstr("muster has no command 'rnu'; did you mean run?"));
  EXPECT_THAT(Complaint("--sevrer x"), HasSubstr("muster has no option --sevrer"));
  EXPECT_THAT(Complaint("hosts lable web1 a=b"),
              HasSubstr("muster hosts has no command 'lable'; did you mean label?"));
  EXPECT_THAT(Complaint("hosts lable web1 --yes"), HasSubstr("did you mean label?"));
  EXPECT_THAT(Complaint("hosts web1 web2"), HasSubstr("muster hosts has no command 'web2'"));
}

TEST(Usage, NamesWhatIsMissing) {
  EXPECT_THAT(Complaint("skip"), HasSubstr("muster skip: STAGE is missing (which stage)"));
  EXPECT_THAT(Complaint("backfill"), HasSubstr("--to is missing"));
}

TEST(Usage, SaysWhereHostsAndCommandGo) {
  EXPECT_THAT(Complaint("run web1 uptime"), HasSubstr("unexpected 'web1': hosts go behind -t"));
}

TEST(Usage, NamesTheServersProgramForWhatIsItsOwn) {
  EXPECT_EQ(Complaint("store copy --to postgres://db/muster"),
            "muster: this is done on the server's machine: musterd store copy, see musterd store "
            "copy --help\n");
  EXPECT_THAT(Complaint("backup FILE"), HasSubstr("musterd backup --help"));
  EXPECT_THAT(Complaint("run backup"), HasSubstr("unexpected 'backup'"));
}

TEST(Usage, ListsCommandsWhenNoneWasGiven) {
  EXPECT_THAT(Complaint(""), HasSubstr("expected a command: run, runs, context, hosts, cp\n"));
  EXPECT_THAT(Complaint("context use"), HasSubstr("See: muster context use --help\n"));
}

TEST(Usage, NamesTheOptionOfACommandThatHasCommands) {
  EXPECT_THAT(Complaint("hosts --limit -3"), HasSubstr("muster: --limit: "));
}

TEST(Usage, RefusesAnEmptyValueRatherThanTakingItForNone) {
  EXPECT_THAT(ComplaintAbout({"run", "--targets", ""}),
              HasSubstr("the value of --targets is empty"));
  EXPECT_THAT(ComplaintAbout({"run", "-t", ""}), HasSubstr("See: muster run --help\n"));
  EXPECT_THAT(ComplaintAbout({"hosts", ""}), HasSubstr("the value of targets is empty"));
  EXPECT_THAT(ComplaintAbout({"cp", "a", "", "b"}), HasSubstr("the value of paths is empty"));
  EXPECT_EQ(ComplaintAbout({"run", "-t", "web1"}), "");
  EXPECT_EQ(ComplaintAbout({"__complete", "--line", ""}), "");
}

TEST(Similar, AllowsASlipOrTwo) {
  const std::vector<std::string> known{"status", "stop", "why"};
  EXPECT_THAT(Similar("statsu", known), ElementsAre("status"));
  EXPECT_THAT(Similar("wyh", known), ElementsAre("why"));
  EXPECT_THAT(Similar("sto", known), ElementsAre("stop"));
  EXPECT_THAT(Similar("banana", known), IsEmpty());
  EXPECT_THAT(Similar("", known), IsEmpty());
}

}  // namespace
}  // namespace muster::cli
