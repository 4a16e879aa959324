#include "cli/runs/report.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OutcomeGroup Group(std::uint64_t count, std::string state, std::int64_t exit_code,
                   std::string hosts) {
  OutcomeGroup group;
  group.count = count;
  group.state = std::move(state);
  group.exit_code = exit_code;
  group.hosts = std::move(hosts);
  return group;
}

TEST(GroupHead, NamesOutcomeAndHosts) {
  EXPECT_EQ(GroupHead(Group(9871, "succeeded", 0, "web[1-9871]")),
            "9,871 hosts succeeded: web[1-9871]");
  EXPECT_EQ(GroupHead(Group(1, "failed", 3, "web3")), "1 host failed (exit 3): web3");
  auto refused = Group(1, "refused", 0, "web3");
  refused.reason = "user 'x' does not exist";
  EXPECT_EQ(GroupHead(refused), "1 host refused, user 'x' does not exist: web3");
  auto killed = Group(2, "killed", 0, "a,b");
  killed.signal = 9;
  killed.log = "complete";
  EXPECT_EQ(GroupHead(killed), "2 hosts killed (signal 9): a,b");
  killed.log = "cut";
  EXPECT_EQ(GroupHead(killed), "2 hosts killed (signal 9), output cut: a,b");
}

TEST(SummaryLine, PutsWhatWentWellFirstAndNamesTheRest) {
  const auto run = json::parse(
      R"({"id":"r12","state":"failed","created":"2026-11-15T10:43:19.100Z","ended":"2026-11-15T10:43:20.340Z"})");
  EXPECT_EQ(
      SummaryLine(run, {Group(1, "failed", 3, "web3"), Group(9, "succeeded", 0, "web[4-12]")}),
      "r12 failed: 9 succeeded, 1 failed (exit 3): web3 · 1.2 s");
  EXPECT_EQ(SummaryLine(run, {Group(1, "failed", 1, "web3"), Group(1, "failed", 1, "web4"),
                              Group(1, "lost", 0, "web9")}),
            "r12 failed: 2 failed (exit 1): web[3-4], 1 lost: web9 · 1.2 s");
}

TEST(SummaryLine, CountsHostsThatTheGroupsLeaveOut) {
  const auto run =
      json::parse(R"({"id":"r1","state":"failed","counts":{"failed":1200,"succeeded":8800}})");
  EXPECT_EQ(SummaryLine(run, {Group(1000, "failed", 3, "a[1-1000]")}),
            "r1 failed: 1,000 failed (exit 3): a[1-1000], 8,800 more succeeded, 200 more failed");
  EXPECT_EQ(SummaryLine(run, {Group(1200, "failed", 3, "a"), Group(8800, "succeeded", 0, "b")}),
            "r1 failed: 8,800 succeeded, 1,200 failed (exit 3): a");
}

TEST(SummaryLine, TellsWhyWhereOutputDoesNot) {
  const auto run = json::parse(R"({"id":"r75","state":"failed"})");
  auto group = Group(2, "failed", 0, "web[1-2]");
  group.reason = "out of memory: limit 64 MiB";
  EXPECT_EQ(SummaryLine(run, {group}),
            "r75 failed: 2 failed, out of memory: limit 64 MiB: web[1-2]");
  for (const auto* state : {"timed_out", "refused", "lost"}) {
    group.state = state;
    EXPECT_THAT(SummaryLine(run, {group}), HasSubstr(fmt::format("2 {}, out of memory", state)));
  }
  auto other = Group(1, "lost", 0, "web3");
  other.reason = "revoked";
  EXPECT_EQ(SummaryLine(run, {group, other}), "r75 failed: 3 lost: web[1-3]");
}

TEST(OutputRemarks, NameHostsWhoseOutputIsNotWhole) {
  const auto with = [](OutcomeGroup group, std::string log) {
    group.log = std::move(log);
    return group;
  };
  const auto whole = with(Group(1, "succeeded", 0, "web9"), "complete");
  EXPECT_THAT(OutputRemarks({whole}), IsEmpty());
  EXPECT_THAT(
      OutputRemarks({with(Group(2, "succeeded", 0, "web[1-2]"), "cut"), whole,
                     with(Group(1, "failed", 1, "web3"), "cut"),
                     with(Group(1, "lost", 0, "web4"), "gap")}),
      ElementsAre("output cut at the quota (--max-output): web[1-3]", "output with a gap: web4"));
}

TEST(ProgressBar, FitsItsWidth) {
  TaskCounts counts;
  counts[TaskState::kSucceeded] = 4200;
  counts[TaskState::kFailed] = 10;
  counts[TaskState::kRunning] = 50;
  EXPECT_EQ(ProgressBar(counts, 10'000, 200),
            "[########------------] 4,210 of 10,000 · 10 failed, 4,200 succeeded, 50 running");
  EXPECT_LE(ProgressBar(counts, 10'000, 40).size(), 40U);
}

TEST(ExitCode, FollowsTheRunAndItsHosts) {
  EXPECT_EQ(
      ExitCodeOfRun(json::parse(R"({"state":"succeeded","exit_code":0,"counts":{"succeeded":1}})")),
      0);
  EXPECT_EQ(ExitCodeOfRun(json::parse(R"({"state":"failed","exit_code":1})")), 1);
  EXPECT_EQ(ExitCodeOfRun(json::parse(R"({"state":"succeeded","exit_code":6})")), 6);
  EXPECT_EQ(ExitCodeOfRun(json::parse(R"({"state":"failed","counts":{"unreachable":2}})")), 6);
  EXPECT_EQ(ExitCodeOfRun(json::parse(R"({"state":"cancelled","exit_code":0})")), 1);
}

TEST(ExitCode, OfErrors) {
  const auto code = [](int status, std::string_view api_code) {
    return ExitCodeOfError(
        ErrorOfAnswer(status, fmt::format(R"({{"error":{{"code":"{}","message":"m"}}}})", api_code))
            .code);
  };
  EXPECT_EQ(code(400, "invalid"), 2);
  EXPECT_EQ(code(413, "too_large"), 2);
  EXPECT_EQ(code(422, "key_reused"), 2);
  EXPECT_EQ(code(401, "unauthenticated"), 3);
  EXPECT_EQ(code(403, "denied"), 3);
  EXPECT_EQ(code(404, "not_found"), 4);
  EXPECT_EQ(code(404, "no_match"), 4);
  EXPECT_EQ(code(409, "conflict"), 1);
  EXPECT_EQ(code(500, "internal"), 1);
  EXPECT_EQ(code(503, "unavailable"), 5);
  EXPECT_EQ(code(504, "timeout"), 5);
  EXPECT_EQ(ErrorOfAnswer(502, "<html>").code, ErrorCode::kUnavailable);
  // A server that passed the request on and got nonsense back: it may have happened.
  EXPECT_EQ(ErrorOfAnswer(502, R"({"error":{"code":"timeout","message":"m"}})").code,
            ErrorCode::kTimeout);
}

TEST(ErrorOfAnswer, NamesAServerThatIsNotMuster) {
  for (const int status : {301, 400, 404, 405, 501}) {
    const auto error = ErrorOfAnswer(status, "<html>", "http://127.0.0.1:80");
    EXPECT_EQ(error.code, ErrorCode::kInvalid) << status;
    EXPECT_THAT(error.message, HasSubstr("http://127.0.0.1:80"));
  }
  EXPECT_EQ(ErrorOfAnswer(403, "", "http://127.0.0.1:80").code, ErrorCode::kDenied);
  // A proxy before a server that restarts, and a Muster server that says why.
  EXPECT_EQ(ErrorOfAnswer(503, "<html>", "http://127.0.0.1:80").code, ErrorCode::kUnavailable);
  EXPECT_EQ(ErrorOfAnswer(404, R"({"error":{"code":"not_found","message":"m"}})", "http://x").code,
            ErrorCode::kNotFound);
}

TEST(ErrorOfAnswer, SaysWhereAMusterTokenComesFrom) {
  const auto error = ErrorOfAnswer(
      401,
      R"({"error":{"code":"unauthenticated","message":"no valid token; send 'Authorization: Bearer TOKEN'"}})");
  EXPECT_THAT(error.message, HasSubstr("no valid token; give"));
  EXPECT_THAT(error.message, testing::Not(HasSubstr("Bearer")));
  for (const auto* way : {"--token", "MUSTER_TOKEN or", "MUSTER_TOKEN_FILE", "muster login"})
    EXPECT_THAT(error.message, HasSubstr(way));
}

TEST(ApiTarget, EncodesWhatItIsGiven) {
  EXPECT_EQ(ApiTarget("/hosts", {{"targets", "a=\"x y\"&b"}, {"cursor", ""}}),
            "/api/v1/hosts?targets=a%3D%22x%20y%22%26b");
  EXPECT_EQ(Segment("../r1"), "..%2Fr1");
}

TEST(FirstLines, SaysHowManyAreLeft) {
  std::size_t left = 9;
  EXPECT_EQ(FirstLines("a\nb\nc", 2, left), "a\nb\n");
  EXPECT_EQ(left, 1U);
  EXPECT_EQ(FirstLines("a\nb", 2, left), "a\nb");
  EXPECT_EQ(left, 0U);
}

TEST(Output, FormatsForPeople) {
  EXPECT_EQ(Count(1234567), "1,234,567");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Hosts(1), "1 host");
  EXPECT_EQ(Lasted(Duration(0)), "0.00 s");
  EXPECT_EQ(Lasted(Duration(3)), "0.01 s");
  EXPECT_EQ(Lasted(Duration(350)), "0.35 s");
  EXPECT_EQ(Lasted(Duration(1'250)), "1.2 s");
  EXPECT_EQ(LastedExactly(Duration(350)), "350 ms");
  EXPECT_EQ(Lasted(Duration(250'000)), "4m10s");
  EXPECT_EQ(Lasted(Duration(7'500'000)), "2h05m");
  EXPECT_EQ(Ago({}, {5}), "never");
  EXPECT_EQ(Ago({1'000}, {13'000}), "12s ago");
  EXPECT_EQ(FormatTime(ParseTime("2026-11-15T10:43:19.123Z")), "2026-11-15T10:43:19.123Z");
  EXPECT_FALSE(ParseTime("2026-13-45T00:00:00Z"));
  EXPECT_FALSE(ParseTime("2h"));
}

TEST(Table, AlignsColumnsAndDisarmsCells) {
  Table table({"NAME", "STATE"});
  table.Add({"web1", "online"});
  table.Add({"grün-10", "a\x1b[2Jb\nc"});
  EXPECT_EQ(table.Text(), "NAME     STATE\nweb1     online\ngrün-10  a␛[2Jb␊c\n");
}

TEST(Table, FitsATerminal) {
  Table table({"NAME", "STATE", "NOTE", "COMMAND"});
  table.Add({"a-rather-long-name", "online", "", "echo größe; echo many more words than fit"});
  table.Fit(45, {0, 3});
  EXPECT_EQ(table.Text(),
            "NAME                STATE   COMMAND\na-rather-long-name  online  echo größe; echo…\n");
  table.Fit(30, {3});
  EXPECT_EQ(table.Text(),
            "NAME                STATE   COMMAND\na-rather-long-name  online  echo gr…\n");
  table.Fit(0, {3});
  EXPECT_EQ(table.Text(),
            "NAME                STATE   NOTE  COMMAND\n"
            "a-rather-long-name  online        echo größe; echo many more words than fit\n");
}

TEST(HostsCell, SaysAsLittleAsTellsTheStory) {
  TaskCounts counts;
  counts[TaskState::kSucceeded] = 3;
  EXPECT_EQ(HostsCell(counts, 3), "3");
  EXPECT_EQ(HostsCell(counts, 1000), "3 of 1,000 done");
  counts[TaskState::kFailed] = 2;
  counts[TaskState::kLost] = 1;
  EXPECT_EQ(HostsCell(counts, 6), "2 of 6 failed, 1 lost");
  TaskCounts failed;
  failed[TaskState::kFailed] = 2;
  EXPECT_EQ(HostsCell(failed, 2), "2 failed");
}

TEST(PausedText, NamesEachWayToGoOnAndWhatItDoes) {
  const boost::json::value limit{{"id", "r19"},
                                 {"pause", {{"by", "(limit)"}, {"reason", "2 failed"}}},
                                 {"counts", {{"failed", 2}}}};
  EXPECT_EQ(PausedText(limit),
            "r19 is paused: 2 failed · retry failed hosts: muster retry r19 · accept the failures "
            "and go on: muster resume r19 · end it: muster stop r19");
  const boost::json::value person{
      {"id", "r19"}, {"pause", {{"by", "alice"}}}, {"counts", {{"succeeded", 2}}}};
  EXPECT_EQ(PausedText(person),
            "r19 is paused by alice · go on: muster resume r19 · end it: muster stop r19");
}

TEST(LargestCode, IsThatOfTheHosts) {
  EXPECT_EQ(LargestCode({Group(9, "succeeded", 0, "a"), Group(1, "failed", 3, "b"),
                         Group(1, "failed", 2, "c")},
                        1),
            3);
  EXPECT_EQ(LargestCode({Group(1, "unreachable", 0, "a")}, 6), 6);
  auto killed = Group(1, "failed", 0, "a");
  killed.signal = 9;
  EXPECT_EQ(LargestCode({killed}, 1), 137);
}

TEST(Document, AsLinesIsOneForEachItem) {
  const auto lines = [](std::string_view text) {
    return Document(json::parse(text), Format::kJsonl);
  };
  EXPECT_EQ(lines(R"({"hosts": [{"name": "a"}, {"name": "b"}], "total": 2, "online": 1})"),
            "{\"name\":\"a\"}\n{\"name\":\"b\"}\n");
  EXPECT_EQ(lines(R"({"runs": []})"), "");
  EXPECT_EQ(lines(R"([1, 2])"), "1\n2\n");
  EXPECT_EQ(lines(R"({"id": "r1", "hosts": [1, 2]})"), "{\"id\":\"r1\",\"hosts\":[1,2]}\n");
  EXPECT_EQ(lines(R"({"a": [1], "b": [2]})"), "{\"a\":[1],\"b\":[2]}\n");
  EXPECT_EQ(lines(R"({"hosts": 3, "changed": 1})"), "{\"hosts\":3,\"changed\":1}\n");
}

TEST(Document, IsJsonOrYaml) {
  const auto value = json::parse(R"({"id":"r1","on":true,"list":[{"a":1,"b":[]},2],"empty":{}})");
  EXPECT_EQ(json::parse(Document(value, Format::kJson)), value);
  EXPECT_EQ(Document(value, Format::kYaml),
            "id: \"r1\"\n\"on\": true\nlist:\n  - a: 1\n    b: []\n  - 2\nempty: {}\n");
}

}  // namespace
}  // namespace muster::cli
