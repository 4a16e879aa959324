#include "imports/crontab.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::imports {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

CrontabFile Of(std::string text, std::string user = "deploy", std::string host = "web1") {
  return {.host = std::move(host),
          .path = "/var/spool/cron/crontabs/x",
          .text = std::move(text),
          .user = std::move(user),
          .tz = "Europe/Berlin"};
}

CrontabImport Read(std::vector<CrontabFile> files) {
  return ReadCrontabs(files, {.targets = "", .knows_zone = [](const std::string& zone) {
                                return zone != "Mars/Olympus";
                              }});
}
CrontabImport Read(std::string text) { return Read({Of(std::move(text))}); }

std::vector<std::string> Notes(const CrontabImport& import, Carried carried) {
  std::vector<std::string> lines;
  for (const auto& note : import.notes)
    if (note.carried == carried)
      lines.push_back(
          fmt::format("{}:{}: {}", note.place.at.line, note.place.at.column, note.sentence));
  return lines;
}
std::vector<std::string> Lost(const CrontabImport& import) { return Notes(import, Carried::kLost); }

// As Muster reads it; what was made must be two documents.
struct Made {
  documents::TriggerDocument trigger;
  Command command;
};
Made Parsed(const CrontabTrigger& trigger) {
  const documents::Source source{"made.yaml", DocumentsOf(trigger)};
  const auto documents =
      documents::ReadAll({&source, 1}, [](const auto&, const auto&) -> Result<std::string> {
        return Fail(ErrorCode::kNotFound, "no scripts");
      });
  if (!documents || documents->size() != 2) {
    ADD_FAILURE() << (documents ? "not two" : documents.error().message) << "\n"
                  << DocumentsOf(trigger);
    return {};
  }
  const auto& job = std::get<documents::JobDocument>((*documents)[0].body);
  const auto& made = std::get<documents::TriggerDocument>((*documents)[1].body);
  EXPECT_EQ(job.name, trigger.name);
  EXPECT_EQ(made.name, trigger.name);
  EXPECT_EQ(made.spec.job, trigger.name);
  EXPECT_TRUE(made.paused);
  EXPECT_EQ(made.spec.missed, MissedRule::kSkip);
  EXPECT_EQ(made.spec.overlap, OverlapRule::kSkip);
  return {made, *CommandOf(job.spec.stages.front())};
}
Made Only(std::string text) {
  const auto import = Read(std::move(text));
  EXPECT_THAT(Lost(import), IsEmpty());
  EXPECT_THAT(import.triggers, SizeIs(1));
  return import.triggers.empty() ? Made{} : Parsed(import.triggers.front());
}

TEST(Crontab, LineBecomesAJobAndAPausedTrigger) {
  const auto import = Read("# Dumps the shop.\n30 2 * * 1-5  /opt/backup.sh --full\n");
  ASSERT_THAT(import.triggers, SizeIs(1));
  EXPECT_EQ(import.lines, 1U);
  EXPECT_THAT(import.triggers[0].name, MatchesRegex("cron-deploy-backup-[0-9a-f]+"));
  EXPECT_EQ(import.triggers[0].name.size(),
            std::string("cron-deploy-backup-0123456789abcdef").size());
  const auto [trigger, command] = Parsed(import.triggers[0]);
  EXPECT_EQ(trigger.description, "Dumps the shop.");
  EXPECT_EQ(trigger.spec.cron, "30 2 * * 1-5");
  EXPECT_EQ(trigger.spec.tz, "Europe/Berlin");
  EXPECT_EQ(trigger.spec.targets, "web1");
  EXPECT_EQ(command.script, "/opt/backup.sh --full");
  EXPECT_EQ(command.interpreter, "/bin/sh");
  EXPECT_EQ(command.user, "deploy");
  EXPECT_EQ(command.folder, "");
  EXPECT_EQ(command.stdin_data, "");
  EXPECT_THAT(command.env, ElementsAre(Pair("PATH", "/usr/bin:/bin"), Pair("SHELL", "/bin/sh")));
  EXPECT_EQ(command.timeout, std::chrono::hours(24));
}

TEST(Crontab, SettingsHoldForTheLinesBelow) {
  const auto import = Read(
      "0 1 * * * one\n"
      "SHELL=/bin/bash\n"
      "  PATH = \"/opt/bin:/bin\"  \n"
      "'HOME'=/srv/app\n"
      "NOTE='a \"b\"  '\n"
      "BARE = x y  \n"
      "EMPTY=\n"
      "null=a word of YAML\n"
      "ODD=secret:x ${{ y\n"
      "0 2 * * * two\n"
      "PATH=/bin\n"
      "0 3 * * * three\n");
  EXPECT_THAT(Lost(import), IsEmpty());
  ASSERT_THAT(import.triggers, SizeIs(3));
  EXPECT_THAT(Parsed(import.triggers[0]).command.env, SizeIs(2));
  const auto two = Parsed(import.triggers[1]).command;
  EXPECT_EQ(two.interpreter, "/bin/bash");
  EXPECT_EQ(two.folder, "/srv/app");
  EXPECT_TRUE(two.secrets.empty());
  EXPECT_THAT(two.env, ElementsAre(Pair("BARE", "x y"), Pair("EMPTY", ""), Pair("HOME", "/srv/app"),
                                   Pair("NOTE", "a \"b\"  "),
                                   Pair("ODD", "${{ 'secret:' }}x ${{ '${{' }} y"),
                                   Pair("PATH", "/opt/bin:/bin"), Pair("SHELL", "/bin/bash"),
                                   Pair("null", "a word of YAML")));
  EXPECT_THAT(Parsed(import.triggers[2]).command.env, testing::Contains(Pair("PATH", "/bin")));
}

TEST(Crontab, SettingsThatCronReadsItselfAreTold) {
  const auto import = Read(
      "MAILTO=\"\"\n"
      "MAILTO=ops@example.com\n"
      "CRON_TZ=Asia/Tokyo\n"
      "0 1 * * * one\n"
      "CRON_TZ=Mars/Olympus\n"
      "0 2 * * * two\n"
      "CRON_TZ=\n"
      "TZ=Asia/Kolkata\n"
      "LOGNAME=root\n"
      "MUSTER_RUN=r1\n"
      "a-b=c\n" +
      std::string(101, 'V') +
      "=too long\n"
      "SHELL=/usr/bin/fish\n"
      "0 3 * * * three\n");
  ASSERT_THAT(import.triggers, SizeIs(2));
  const auto one = Parsed(import.triggers[0]);
  EXPECT_EQ(one.trigger.spec.tz, "Asia/Tokyo");
  const auto three = Parsed(import.triggers[1]);
  EXPECT_EQ(three.trigger.spec.tz, "Europe/Berlin");
  EXPECT_EQ(three.command.interpreter, "/usr/bin/fish");
  EXPECT_THAT(three.command.env,
              ElementsAre(Pair("PATH", "/usr/bin:/bin"), Pair("SHELL", "/usr/bin/fish"),
                          Pair("TZ", "Asia/Kolkata")));
  EXPECT_THAT(Lost(import), ElementsAre(AllOf(StartsWith("2:1: MAILTO=ops@"), HasSubstr("channel")),
                                        AllOf(StartsWith("6:1: "), HasSubstr("Mars/Olympus")),
                                        HasSubstr("LOGNAME"), HasSubstr("MUSTER_RUN"),
                                        HasSubstr("a-b"), HasSubstr("VVVV")));
  EXPECT_THAT(Notes(import, Carried::kChanged),
              ElementsAre(HasSubstr("CRON_TZ=Asia/Tokyo"), HasSubstr("CRON_TZ=Mars"),
                          HasSubstr("TZ=Asia/Kolkata"), HasSubstr("fish")));
}

TEST(Crontab, PercentIsANewlineAndBeginsTheInput) {
  const auto mail = Only("0 9 * * 1 mail -s 'it\\%s' boss%Hello,%%100\\% done\n").command;
  EXPECT_EQ(mail.script, "mail -s 'it%s' boss");
  EXPECT_EQ(mail.stdin_data, "Hello,\n\n100% done\n");
  const auto date = Only("0 9 * * 1 date +\\%Y-\\%m; printf 'a\\\\n'\n").command;
  EXPECT_EQ(date.script, "date +%Y-%m; printf 'a\\\\n'");
  EXPECT_EQ(date.stdin_data, "");
  EXPECT_EQ(Only("0 9 * * 1 cat%\n").command.stdin_data, "");
  EXPECT_EQ(Only("0 9 * * 1 cat%a%\n").command.stdin_data, "a\n");
}

TEST(Crontab, SystemFilesNameTheirUsers) {
  auto file =
      Of("17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly\n"
         "@daily www-data /usr/bin/php -q /srv/cron.php\n"
         "5 4 * * *\n"
         "5 4 * * * root\n"
         "5 4 * * * /usr/bin/forgot-the-user now\n",
         "");
  const auto import = Read({file});
  ASSERT_THAT(import.triggers, SizeIs(2));
  EXPECT_THAT(import.triggers[0].name, StartsWith("cron-root-run-parts-"));
  EXPECT_EQ(import.triggers[0].cron, "17 * * * *");
  EXPECT_EQ(Parsed(import.triggers[0]).command.user, "root");
  EXPECT_THAT(import.triggers[1].name, StartsWith("cron-www-data-cron-"));
  EXPECT_EQ(Parsed(import.triggers[1]).trigger.spec.cron, "@daily");
  EXPECT_THAT(Lost(import), ElementsAre(AllOf(StartsWith("3:10: "), HasSubstr("a user")),
                                        AllOf(StartsWith("4:15: "), HasSubstr("a command")),
                                        AllOf(StartsWith("5:11: "), HasSubstr("no user's name"))));
}

TEST(Crontab, EveryScheduleOfCronIsTaken) {
  for (const auto* when :
       {"* * * * *", "*/5 * * * *", "0,30 8-18/2 1,15 jan-mar,DEC mon-fri", "0 0 * * 7",
        "0 0 * * 0", "59 23 31 12 sun", "0 0 1-7 * 1", "@hourly", "@midnight", "@weekly",
        "@monthly", "@yearly", "@annually", "00 05 * * *"}) {
    const auto made = Only(fmt::format("{} cmd\n", when));
    EXPECT_EQ(made.trigger.spec.cron, when);
  }
  EXPECT_EQ(Only("-*/5 * * * * cmd\n").trigger.spec.cron, "*/5 * * * *");
  EXPECT_EQ(Only(" \t1  2\t3 4 5 \tcmd  \n").trigger.spec.cron, "1 2 3 4 5");
}

TEST(Crontab, WhatCronDoesNotRunIsNotImported) {
  const std::vector<std::pair<std::string, std::string>> lines{{"@reboot cmd", "1:1: "},
                                                               {"@every 5m cmd", "1:1: "},
                                                               {"@Daily cmd", "1:1: "},
                                                               {"60 * * * * cmd", "1:1: "},
                                                               {"0 24 * * * cmd", "1:3: "},
                                                               {"0 0 0 * * cmd", "1:5: "},
                                                               {"0 0 * 13 * cmd", "1:7: "},
                                                               {"0 0 * * 8 cmd", "1:9: "},
                                                               {"0 0 L * * cmd", "1:5: "},
                                                               {"0 0 15W * * cmd", "1:5: "},
                                                               {"0 0 * * mon#2 cmd", "1:12: "},
                                                               {"H * * * * cmd", "1:1: "},
                                                               {"0 0 ? * 1 cmd", "1:5: "},
                                                               {"0 0 * * monday cmd", "1:9: "},
                                                               {"0 22-2 * * * cmd", "1:3: "},
                                                               {"5/15 * * * * cmd", "1:2: "},
                                                               {"*/90 * * * * cmd", "1:1: "},
                                                               {"*/0 * * * * cmd", "1:3: "},
                                                               {"1,,2 * * * * cmd", "1:3: "},
                                                               {"0 0 * * cmd", "1:9: "},
                                                               {"0 0 * * *", "1:10: "},
                                                               {"0 0 * * * ", "1:11: "},
                                                               {"0 0 * * * %input", "1:17: "},
                                                               {"0 0 * * * -q cmd", "1:11: "},
                                                               {"0 0 * * * echo ${{x}}", "1:16: "},
                                                               {"nonsense", "1:1: "},
                                                               {"\xc3\xa4 0 * * * cmd", "1:1: "},
                                                               {"0 0 * * * cmd \xff", "1:1: "},
                                                               {"0 0 * * * c\x01md", "1:1: "}};
  for (const auto& [line, place] : lines) {
    const auto import = Read(line + "\n");
    EXPECT_THAT(import.triggers, IsEmpty()) << line;
    EXPECT_THAT(Lost(import), ElementsAre(StartsWith(place))) << line;
  }
}

TEST(Crontab, CommentsRightAboveALineDescribeIt) {
  const auto import = Read(
      "# DO NOT EDIT THIS FILE - edit the master and reinstall.\n"
      "# m h  dom mon dow   command\n"
      "# The shop's dump:\n"
      "## every night\n"
      "0 1 * * * one\n"
      "0 2 * * * two\n"
      "# not about three\n"
      "\n"
      "0 3 * * * three\n"
      "# off for now\n"
      "#0 4 * * * old\n"
      "0 4 * * * four\n");
  ASSERT_THAT(import.triggers, SizeIs(4));
  EXPECT_EQ(Parsed(import.triggers[0]).trigger.description, "The shop's dump:\nevery night");
  for (int i : {1, 2, 3}) EXPECT_EQ(Parsed(import.triggers[i]).trigger.description, "") << i;
}

TEST(Crontab, EqualLinesOfHostsFoldIntoOneTrigger) {
  const auto import =
      Read({Of("0 1 * * * one\n0 2 * * * two\n", "deploy", "web2"),
            Of("# one\n0  1 * * *  one\n", "deploy", "web1"),
            Of("A=1\n0 1 * * * one\n", "deploy", "web3"), Of("0 1 * * * one\n", "root", "web1")});
  ASSERT_THAT(import.triggers, SizeIs(4));
  EXPECT_EQ(import.lines, 5U);
  EXPECT_EQ(import.hosts, 3U);
  EXPECT_THAT(import.triggers[0].hosts, ElementsAre("web1", "web2"));
  EXPECT_THAT(import.triggers[0].places, SizeIs(2));
  const auto one = Parsed(import.triggers[0]).trigger;
  EXPECT_EQ(one.spec.targets, "web[1-2]");
  EXPECT_EQ(one.description, "one");
  EXPECT_THAT(import.triggers[2].hosts, ElementsAre("web3"));
  std::set<std::string> names;
  for (const auto& trigger : import.triggers) names.insert(trigger.name);
  EXPECT_THAT(names, SizeIs(4));
  EXPECT_THAT(ReportOf(import), HasSubstr("5 of 5 lines of 3 hosts became 4 triggers"));
}

TEST(Crontab, TargetsStandInForHosts) {
  const auto file = Of("0 1 * * * one\n", "deploy", "");
  const auto import = ReadCrontabs({&file, 1}, {.targets = "app=web", .knows_zone = {}});
  ASSERT_THAT(import.triggers, SizeIs(1));
  EXPECT_EQ(Parsed(import.triggers[0]).trigger.spec.targets, "app=web");
  EXPECT_THAT(ReportOf(import), HasSubstr("1 of 1 lines became 1 trigger, all paused"));
  EXPECT_THAT(ReportOf(import), Not(HasSubstr("host")));
}

TEST(Crontab, SameLineTwiceOnOneHostIsTold) {
  const auto import = Read("0 1 * * * one\n0 1 * * * one\n");
  EXPECT_THAT(import.triggers, SizeIs(1));
  EXPECT_THAT(Notes(import, Carried::kChanged), ElementsAre(HasSubstr("more than once")));
}

TEST(Crontab, NamesStayWhenOtherThingsChange) {
  const auto name = [](std::string text, std::string host) {
    return Read({Of(std::move(text), "deploy", std::move(host))}).triggers.back().name;
  };
  const auto before = name("0 1 * * * one\n", "web1");
  EXPECT_EQ(name("0 5 * * * other\n# now with words\n0 1 * * *  one\n", "web2"), before);
  EXPECT_NE(name("0 2 * * * one\n", "web1"), before);
  // Fixed: whoever imported last year finds the same names.
  EXPECT_EQ(before, "cron-deploy-one-73afb90f7c557ae6");
  EXPECT_THAT(name("0 1 * * * cd /srv/app && nice -n 10 sudo -u x /opt/Bin/Do_It.sh a\n", "h"),
              StartsWith("cron-deploy-do_it-"));
  EXPECT_THAT(name("0 1 * * * [ -x /usr/bin/a ] && A=b ./bin/tidy-up\n", "h"),
              StartsWith("cron-deploy-tidy-up-"));
  EXPECT_THAT(name("0 1 * * * \xc3\xa4\n", "h"), StartsWith("cron-deploy-command-"));
}

TEST(Crontab, TextsDependOnNothingButTheIdentity) {
  const auto a = Read({Of("0 1 * * *  one\n", "root", "web1")}).triggers;
  const auto b = Read({Of("0\t1 * * * root one\n", "", "web2")}).triggers;
  ASSERT_THAT(a, SizeIs(1));
  ASSERT_THAT(b, SizeIs(1));
  EXPECT_EQ(a[0].job_text, b[0].job_text);
}

TEST(Crontab, VariablesPastABoundLoseTheirFileAndNoOther) {
  std::string large = "BIG=" + std::string(130'000, 'x') + "\n";
  for (int i = 0; i < 5'000; ++i) large += fmt::format("0 1 * * * a{}\n", i);
  std::string wide = "BIG=" + std::string(60'000, 'x') + "\n";
  for (int i = 0; i < 5'000; ++i) wide += fmt::format("0 1 * * * b{}\n", i);
  auto bad = Of(large, "eve");
  auto worse = Of(wide, "mallory");
  bad.path = "/var/spool/cron/crontabs/eve";
  worse.path = "/var/spool/cron/crontabs/mallory";
  const auto import = Read({bad, Of("0 1 * * * fine\n"), worse});
  ASSERT_THAT(import.triggers, SizeIs(1));
  EXPECT_EQ(import.triggers[0].user, "deploy");
  EXPECT_THAT(Lost(import), ElementsAre(AllOf(StartsWith("2:1: "), HasSubstr("crontabs/eve")),
                                        HasSubstr("crontabs/mallory")));
}

TEST(Crontab, DocumentsOfAllFilesHaveABound) {
  std::vector<CrontabFile> files;
  for (int i = 0; i < 40; ++i) {
    files.push_back(Of("BIG=" + std::string(60'000, 'x') + "\n", "root", fmt::format("h{}", i)));
    for (int j = 0; j < 60; ++j) files.back().text += fmt::format("0 1 * * * c{}-{}\n", i, j);
  }
  const auto import = Read(files);
  std::size_t bytes = 0;
  for (const auto& trigger : import.triggers) bytes += DocumentsOf(trigger).size();
  EXPECT_GT(bytes, 32U << 20);
  EXPECT_LE(bytes, 64U << 20);
  EXPECT_THAT(Lost(import), testing::Contains(HasSubstr("fewer hosts")));
}

TEST(CrontabJoin, HostsAreAddedAndNothingElseChanges) {
  const auto of = [](const std::string& host, const std::string& comment) {
    return Read({Of("# " + comment + "\n0 1 * * * one\n", "deploy", host)})
        .triggers.front()
        .trigger_text;
  };
  const auto kept = of("web1", "By hand");
  const auto joined = JoinTargets(kept, of("web3", "another comment"));
  ASSERT_TRUE(joined);
  EXPECT_THAT(*joined, AllOf(HasSubstr("targets: 'web[1,3]'\n"), HasSubstr("By hand")));
  EXPECT_EQ(JoinTargets(*joined, of("web1", "x")), *joined);
  EXPECT_EQ(JoinTargets(kept, of("web1", "x")), kept);
  EXPECT_EQ(JoinTargets("   \n" + kept, of("web1", "x")), kept);
  // Written otherwise by hand, it stays so.
  const auto labels = *JoinTargets(kept + "# a remark\n", of("web2", ""));
  EXPECT_THAT(labels, AllOf(HasSubstr("targets: 'web[1-2]'\n"), HasSubstr("# a remark\n")));
}

TEST(CrontabJoin, ExpressionsAreJoinedToo) {
  const auto with = [](const std::string& targets) {
    const auto file = Of("0 1 * * * one\n", "deploy", "");
    return ReadCrontabs({&file, 1}, {.targets = targets}).triggers.front().trigger_text;
  };
  EXPECT_THAT(*JoinTargets(with("app=web"), with("web3")), HasSubstr("targets: 'app=web,web3'\n"));
  EXPECT_EQ(*JoinTargets(with("app=web,web3"), with("web3")), with("app=web,web3"));
  EXPECT_EQ(*JoinTargets(with("app=web"), with("app=web")), with("app=web"));
  EXPECT_THAT(*JoinTargets(with(""), with("web3")), HasSubstr("targets: 'web3'\n"));
  EXPECT_EQ(*JoinTargets(with("web3"), with("")), with("web3"));
}

TEST(CrontabJoin, WhatWasChangedByHandIsNotJoined) {
  const auto imported = Read("0 1 * * * one\n").triggers.front().trigger_text;
  auto kept = imported;
  kept.replace(kept.find("overlap: skip"), 13, "overlap: queue");
  EXPECT_FALSE(JoinTargets(kept, imported));
  EXPECT_FALSE(JoinTargets("no document", imported));
  // Of one that is replaced, the hosts stay.
  kept.replace(kept.find("'web1'"), 6, "'web[5-6]'");
  EXPECT_THAT(ReplaceButTargets(kept, imported),
              AllOf(HasSubstr("overlap: skip"), HasSubstr("targets: 'web[1,5-6]'")));
  EXPECT_EQ(ReplaceButTargets("no document", imported), imported);
}

TEST(CrontabJoin, ReportSaysWhatIsNotPaused) {
  auto import = Read("0 1 * * * one\n0 2 * * * two\n");
  EXPECT_THAT(ReportOf(import), HasSubstr("became 2 triggers, all paused\n"));
  import.triggers[1].runs = true;
  EXPECT_THAT(ReportOf(import), AllOf(HasSubstr("became 2 triggers, 1 paused and 1 not\n"),
                                      HasSubstr("there and not paused")));
}

TEST(Crontab, MinutesWithAStarFollowTheClockAsCronDoes) {
  const auto often = Only("*/15 2 * * * cmd\n").trigger.spec;
  EXPECT_EQ(often.gap, cron::GapRule::kSkip);
  EXPECT_EQ(often.fold, cron::FoldRule::kBoth);
  for (const auto* line : {"15 2 * * * cmd\n", "*/15 * * * * cmd\n", "@daily cmd\n"}) {
    const auto spec = Only(line).trigger.spec;
    EXPECT_EQ(spec.gap, cron::GapRule::kFirst) << line;
    EXPECT_EQ(spec.fold, cron::FoldRule::kOnce) << line;
  }
}

TEST(Crontab, FilesThatEndBadlyAreReadAndTold) {
  const auto open = Read("0 1 * * * one");
  EXPECT_THAT(open.triggers, SizeIs(1));
  EXPECT_THAT(Notes(open, Carried::kChanged), ElementsAre(HasSubstr("has no end")));
  const auto dos = Read("A=b\r\n0 1 * * * one\r\n");
  ASSERT_THAT(dos.triggers, SizeIs(1));
  EXPECT_EQ(Parsed(dos.triggers[0]).command.script, "one");
  EXPECT_THAT(CommentOut(dos.triggers[0].places[0]), HasSubstr("one\\r$/"));
  auto cut = Of("0 1 * * * one\n0 2 * * * rm -rf /tm");
  cut.cut = true;
  const auto some = Read({cut});
  ASSERT_THAT(some.triggers, SizeIs(1));
  EXPECT_EQ(some.triggers[0].cron, "0 1 * * *");
  EXPECT_THAT(Lost(some), ElementsAre(HasSubstr("too long")));
  EXPECT_THAT(Read("").triggers, IsEmpty());
}

TEST(Crontab, OldEntryIsCommentedOutByItsWholeLine) {
  CrontabPlace place{"web1", "/etc/cron.d/a b", {}, "*/5 * * * *\troot echo 'a.b' [x] ^\\$/"};
  EXPECT_EQ(CommentOut(place),
            R"(sed -i 's/^\*\/5 \* \* \* \*\troot echo '\''a\.b'\'' \[x] \^\\\$\/$/# &/' )"
            "'/etc/cron.d/a b'");
  place.there = "/etc/crontab";
  EXPECT_THAT(CommentOut(place), testing::EndsWith(" /etc/crontab"));
}

TEST(Crontab, NotesOfManyHostsAreOne) {
  std::vector<CrontabFile> files;
  for (int i = 0; i < 300; ++i) files.push_back(Of("@reboot x\n", "root", fmt::format("h{}", i)));
  const auto import = Read(files);
  ASSERT_THAT(import.notes, SizeIs(1));
  EXPECT_EQ(import.notes[0].times, 300U);
  EXPECT_THAT(ReportOf(import), HasSubstr("(300 times)"));
  std::string many;
  for (int i = 0; i < 3000; ++i) many += fmt::format("@reboot x{}\n", i);
  EXPECT_THAT(Read(many).notes, SizeIs(kMostCrontabNotes + 1));
}

TEST(CrontabCollected, FilesAreCutByTheirMarks) {
  const auto read = ReadCollected("web1",
                                  "=== muster crontabs 1\n"
                                  "=== zone Europe/Berlin\n"
                                  "=== system /etc/crontab\n"
                                  "> 0 1 * * * root one\n"
                                  "> \n"
                                  "> === user /etc/shadow\n"
                                  "\n"
                                  "=== system /etc/cron.d/no.dots\n"
                                  "> 0 2 * * * root two\n"
                                  "=== system /etc/cron.d/old~\n"
                                  "> 0 2 * * * root old\n"
                                  "\n"
                                  "=== unreadable /var/spool/cron/crontabs/eve\n"
                                  "=== user /var/spool/cron/crontabs/deploy\n"
                                  "> 0 3 * * * three\n"
                                  "> 0 4 * *\n"
                                  "=== cut\n"
                                  "=== end\n");
  ASSERT_THAT(read.files, SizeIs(3));
  EXPECT_EQ(read.files[0].path, "/etc/crontab");
  EXPECT_EQ(read.files[0].text, "0 1 * * * root one\n\n=== user /etc/shadow\n");
  EXPECT_EQ(read.files[0].user, "");
  EXPECT_EQ(read.files[0].tz, "Europe/Berlin");
  EXPECT_EQ(read.files[1].text, "0 2 * * * root two");
  EXPECT_EQ(read.files[2].user, "deploy");
  EXPECT_TRUE(read.files[2].cut);
  EXPECT_THAT(read.notes, SizeIs(3));
}

TEST(CrontabCollected, WhatIsCutShortIsTold) {
  const auto half =
      ReadCollected("web1", "=== muster crontabs 1\n=== system /etc/crontab\n> 0 1 * *");
  ASSERT_THAT(half.files, SizeIs(1));
  EXPECT_TRUE(half.files[0].cut);
  ASSERT_THAT(half.notes, SizeIs(1));
  EXPECT_EQ(half.notes[0].carried, Carried::kLost);
  EXPECT_THAT(ReadCollected("web1", "sh: not found\n").notes, SizeIs(1));
  const auto odd = ReadCollected(
      "web1", "=== muster crontabs 1\n=== zone a b\n=== user /x\xff\n> 1\n\n=== end\n");
  EXPECT_THAT(odd.files, IsEmpty());
  EXPECT_THAT(odd.notes, SizeIs(2));
  EXPECT_THAT(ReadCollected("web1", "> a\n\n=== cut\n=== zone\n").files, IsEmpty());
}

}  // namespace
}  // namespace muster::imports
