#include "cli/usage.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "cli/command_groups.hpp"

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
  std::uint32_t number = 0;
  auto* runs = app.add_subcommand("runs");
  runs->add_option("-n,--limit", number)->type_name("N")->check(CLI::Range(1, 1'000'000));
  runs->add_option("--state", text)->check(CLI::IsMember({"failed", "running"}));
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
  bool flag = false;
  app.add_flag("--version", flag);
  app.add_subcommand("get")->add_option("--version", number);
  auto* start = app.add_subcommand("start");
  start->add_option("job", text);
  start->add_option("-p,--param", several)->expected(1);
  start->add_option("-t,--targets", text);
  auto* logs = app.add_subcommand("logs");
  logs->add_option("run", text);
  logs->add_option("--host", text);
  app.add_subcommand("triggers")->add_subcommand("show")->add_option("name", text);
  app.add_subcommand("__complete")->group("")->add_option("--line", text);
  GroupCommands(app);
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
}

TEST(Usage, NamesAnOptionOnceThatTheProgramHasToo) {
  EXPECT_THAT(Complaint("get --versions 3"), HasSubstr("did you mean --version?"));
}

TEST(Usage, SaysWhereAWordWithoutItsOptionGoes) {
  EXPECT_THAT(Complaint("hosts web1 web2"), HasSubstr("one expression: muster hosts 'web1,web2'"));
  EXPECT_THAT(Complaint("run -t web1 uptime -p"), HasSubstr("muster run -t web1 -- uptime …"));
  EXPECT_THAT(Complaint("run -t web1 uptime"), HasSubstr("muster run -t web1 -- uptime\n"));
  EXPECT_THAT(Complaint("start roll version=1.2"), HasSubstr("-p version=1.2"));
  EXPECT_THAT(Complaint("start roll web1"), HasSubstr("-t web1"));
  EXPECT_THAT(Complaint("logs r22 web1"), HasSubstr("--host web1"));
  EXPECT_THAT(Complaint("triggers nightly"), HasSubstr("muster triggers show nightly"));
}

TEST(Usage, SaysPlainlyWhichValuesAreExpected) {
  EXPECT_THAT(Complaint("runs -n 0"),
              HasSubstr("--limit: expected a whole number from 1 to 1,000,000, found '0'"));
  EXPECT_THAT(Complaint("runs -n x"), HasSubstr("found 'x'"));
  EXPECT_THAT(Complaint("get --version x"),
              HasSubstr("--version: expected a whole number like 0, 1 or 20, found 'x'"));
  EXPECT_THAT(Complaint("runs --state fialed"),
              HasSubstr("--state: expected one of failed, running; found 'fialed'"));
  EXPECT_THAT(Complaint("runs -n"), HasSubstr("--limit needs a value: --limit N"));
}

TEST(Usage, NamesWhatIsMissing) {
  EXPECT_THAT(Complaint("skip"), HasSubstr("muster: skip: STAGE is missing (which stage)"));
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
  const auto text = Complaint("");
  EXPECT_THAT(text,
              HasSubstr("muster: expected a command\n  Start work                run cp start\n"));
  EXPECT_THAT(text, HasSubstr("\nSee: muster --help\n"));
  for (const auto line : Split(text, '\n')) EXPECT_LE(line.size(), 79U) << line;
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
