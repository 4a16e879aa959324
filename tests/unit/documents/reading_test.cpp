#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "support.hpp"

namespace muster::documents {
namespace {

using testing::HasSubstr;

Reading ReadText(std::string text) {
  const Source source{"t.yaml", std::move(text)};
  return ReadDocuments({&source, 1}, ReadBeside);
}

constexpr std::string_view kHost =
    "apiVersion: muster/v1\nkind: host\nname: h\nlabels: {zone: sh1}\n";

TEST(ReadDocuments, SeveralKindsOfOneFileComeInOrder) {
  const auto reading = ReadTreeFile("tests/documents/good/every-key.yaml");
  ASSERT_TRUE(reading.problems.empty()) << Written(reading.problems.front());
  std::string kinds;
  for (const auto& document : reading.documents)
    kinds += fmt::format("{}/{} ", Name(KindOf(document)), NameOf(document));
  EXPECT_EQ(kinds,
            "job/every-key host/web1.example group/web group/lab channel/ops channel/hook "
            "channel/mail trigger/nightly trigger/often trigger/launch ");
}

TEST(ReadDocuments, HostsGroupsAndChannelsAreTaken) {
  const auto reading = ReadTreeFile("tests/documents/good/every-key.yaml");
  ASSERT_EQ(reading.documents.size(), 10U);
  const auto& host = std::get<HostDocument>(reading.documents[1].body);
  EXPECT_EQ(host.labels, (Labels{{"zone", "sh1"}, {"app.name", "web"}, {"empty", ""}}));
  const auto& web = std::get<GroupDocument>(reading.documents[2].body);
  EXPECT_EQ(web.targets, "app=web and zone in (sh1, sh2)");
  EXPECT_EQ(web.description, "The web servers.");
  const auto& lab = std::get<GroupDocument>(reading.documents[3].body);
  EXPECT_EQ(lab.hosts, (std::vector<std::string>{"lab01", "lab02", "lab03", "bench"}));
  const auto& ops = std::get<ChannelDocument>(reading.documents[4].body);
  EXPECT_EQ(ops.type, ChannelType::kChat);
  EXPECT_EQ(ops.url, "secret:ops-url");
  ASSERT_EQ(ops.headers.size(), 2U);
  EXPECT_EQ(ops.headers[0].second, "secret:ops-token");
  EXPECT_EQ(std::get<ChannelDocument>(reading.documents[5].body).type, ChannelType::kWebhook);
  const auto& mail = std::get<ChannelDocument>(reading.documents[6].body);
  EXPECT_EQ(mail.type, ChannelType::kSmtp);
  EXPECT_EQ(mail.server, "mail.example:587");
  EXPECT_EQ(mail.from, "muster@example.com");
  EXPECT_EQ(mail.to, (std::vector<std::string>{"ops@example.com", "boss@example.com"}));
  EXPECT_EQ(mail.user, "muster");
  EXPECT_EQ(mail.password, "secret:mail");
}

TEST(ReadDocuments, TriggersAreTaken) {
  const auto reading = ReadTreeFile("tests/documents/good/every-key.yaml");
  ASSERT_EQ(reading.documents.size(), 10U);
  const auto& nightly = std::get<TriggerDocument>(reading.documents[7].body);
  TriggerSpec expected;
  expected.name = "nightly";
  expected.cron = "30 2 * * 1-5";
  expected.tz = "Europe/Berlin";
  expected.both_days = true;
  expected.gap = cron::GapRule::kSkip;
  expected.fold = cron::FoldRule::kBoth;
  expected.job = "every-key";
  expected.params = {{"version", "1.2.3"}};
  expected.carry = {"count"};
  expected.targets = "app=web";
  expected.exclude = "web13";
  expected.start = ParseTime("2027-01-01T00:00:00Z");
  expected.end = ParseTime("2027-12-31T23:00:00Z");
  expected.missed = MissedRule::kAll;
  expected.missed_window = std::chrono::hours(48);
  expected.missed_most = 7;
  expected.overlap = OverlapRule::kAllow;
  expected.overlap_allowed = 3;
  expected.jitter = std::chrono::minutes(10);
  expected.deadline = std::chrono::hours(1);
  expected.blackouts = {
      {.cron = "0 0 24 12 *", .lasts = std::chrono::hours(72), .tz = "Europe/Berlin"},
      {.cron = "0 0 * * sun", .lasts = std::chrono::hours(4), .tz = "UTC"}};
  expected.channel = "ops";
  expected.constraints = {{"zone", "sh1"}};
  EXPECT_EQ(nightly.spec, expected);
  EXPECT_EQ(nightly.description, "Each working night.");
  EXPECT_TRUE(nightly.paused);
  EXPECT_FALSE(std::get<TriggerDocument>(reading.documents[8].body).paused);
  const auto& often = std::get<TriggerDocument>(reading.documents[8].body).spec;
  EXPECT_EQ(often.every, std::chrono::minutes(15));
  EXPECT_EQ(often.missed, MissedRule::kSkip);
  EXPECT_EQ(often.overlap, OverlapRule::kQueue);
  EXPECT_EQ(often.queue_most, 10U);
  const auto& launch = std::get<TriggerDocument>(reading.documents[9].body).spec;
  EXPECT_EQ(launch.once, ParseTime("2027-03-01T08:00:00Z"));
}

TEST(ReadDocuments, EveryMistakeIsToldAtOnce) {
  const auto problems =
      ProblemsOf(JobWith("timeuot: 5m\n"
                         "targets: 'a and'\n"
                         "stages:\n"
                         "  - {name: a, script: 'true', needs: [b], retries: many}\n"
                         "  - {name: a, approve: 'Go ${{ params.x }}?'}\n"
                         "branches: [5]\n"));
  for (const auto* line :
       {"t.yaml:4:1: unknown key 'timeuot'", "t.yaml:5:10: targets, column",
        "t.yaml:7:39: needs: there is no stage 'b'", "t.yaml:7:52: retries: 'many' is not",
        "t.yaml:8:12: there is another stage 'a'", "t.yaml:8:32: there is no parameter 'x'",
        "t.yaml:9:12: 'branches' takes a map"})
    EXPECT_THAT(problems, HasSubstr(line));
  EXPECT_EQ(Split(problems, '\n').size(), 8U) << problems;
}

TEST(ReadDocuments, AtMostTwentyProblemsOfADocumentAreTold) {
  std::string text(kHost);
  for (int i = 0; i < 30; ++i) text += fmt::format("unknown{}: x\n", i);
  const auto reading = ReadText(text + "---\n" + "kind: nothing\n");
  ASSERT_EQ(reading.problems.size(), kMaxProblems + 2);
  EXPECT_EQ(reading.problems[kMaxProblems].sentence, "and 10 more");
  EXPECT_THAT(reading.problems.back().sentence, HasSubstr("unknown kind"));
}

TEST(ReadDocuments, AMistakeInOneDocumentLeavesTheOthersAlone) {
  const auto reading = ReadText("a: [\n---\n" + std::string(kHost));
  EXPECT_EQ(reading.problems.size(), 1U);
  ASSERT_EQ(reading.documents.size(), 1U);
  EXPECT_EQ(reading.documents[0].position, (Position{3, 1}));
}

TEST(ReadDocuments, LineEndsMarkersAndCommentsDoNotMatter) {
  std::string text = "\xEF\xBB\xBF# first\r\n---\r\n";
  for (const auto line : Split(kHost, '\n')) text += std::string(line) + "\r\n";
  const auto reading = ReadText(text + "...\r\n# last\r\n---\r\n");
  ASSERT_TRUE(reading.problems.empty()) << Written(reading.problems.front());
  ASSERT_EQ(reading.documents.size(), 1U);
  const auto& host = std::get<HostDocument>(reading.documents[0].body);
  EXPECT_EQ(host.labels, (Labels{{"zone", "sh1"}}));
}

TEST(ReadDocuments, WhatStandsBehindADocumentIsNotLost) {
  EXPECT_THAT(ProblemsOf(std::string(kHost) + "]\n"), HasSubstr("t.yaml:5:1: "));
  EXPECT_THAT(ProblemsOf("--- x\n"), HasSubstr("expected a document"));
}

TEST(ReadDocuments, ValuesKeepTheCharactersThatWereTyped) {
  const auto job =
      JobOf(JobWith("params: {v: {default: 1.10}, w: {default: 0644}, x: {default: 'null'}}\n"
                    "stages: [{name: a, push: {from: f, to: /f, mode: 0640}}]\n"));
  EXPECT_EQ(job.params[0].fallback, "1.10");
  EXPECT_EQ(job.params[1].fallback, "0644");
  EXPECT_EQ(job.params[2].fallback, "null");
  EXPECT_EQ(CommandOf(job.spec.stages[0])->push->mode, 0640U);
}

TEST(ReadDocuments, AliasesTagsAndDepthAreRefused) {
  EXPECT_THAT(ProblemsOf("a: &x 1\nb: *x\n"), HasSubstr("anchors"));
  EXPECT_THAT(ProblemsOf("b: *x\n"), HasSubstr("t.yaml:1:4: "));
  EXPECT_THAT(ProblemsOf("kind: !!str job\n"), HasSubstr("tags"));
  EXPECT_THAT(ProblemsOf("a: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("levels"));
  EXPECT_THAT(ProblemsOf("[a]: b\n"), HasSubstr("expected a key, found a list"));
  EXPECT_THAT(ProblemsOf("a: " + std::string(kMaxDocumentBytes, 'x')), HasSubstr("at most"));
}

TEST(ReadDocuments, AJobHasAThousandStagesAtMost) {
  std::string text = JobWith("stages:\n");
  for (int i = 0; i < 1002; ++i) text += fmt::format("  - {{name: s{}, script: x}}\n", i);
  EXPECT_EQ(ProblemsOf(text), "t.yaml:1005:5: a job has at most 1000 stages\n");
}

TEST(ReadDocuments, ASwitchGoesBackInAPlainList) {
  const auto job =
      JobOf(JobWith("stages:\n"
                    "  - {name: a, script: x}\n"
                    "  - {name: b, script: x, switch: {again: a, failed: fix, succeeded: c}}\n"
                    "  - {name: c, script: x, switch: {default: end}}\n"
                    "branches:\n"
                    "  - {name: fix, script: x, switch: {succeeded: b, failed: c}}\n"));
  EXPECT_EQ(job.spec.stages[1].next, (std::map<std::string, std::uint32_t, std::less<>>{
                                         {"again", 0}, {"failed", 3}, {"succeeded", 2}}));
  EXPECT_EQ(job.spec.stages[2].next.at("default"), StageSpec::kEnd);
  EXPECT_EQ(job.spec.stages[3].next.at("succeeded"), 1U);
}

TEST(ReadDocuments, FlowStaysWithinReach) {
  const auto problems = ProblemsOf(
      JobWith("stages:\n"
              "  - name: outer\n"
              "    switch: {failed: inner}\n"
              "    stages:\n"
              "      - {name: inner, script: x, switch: {failed: fix}}\n"
              "  - {name: last, needs: [fix, last], script: x, switch: {failed: report}}\n"
              "branches:\n"
              "  - {name: fix, script: x, needs: [outer]}\n"
              "finally:\n"
              "  - {name: report, script: x, switch: {failed: outer}}\n"));
  for (const auto* line :
       {"t.yaml:6:22: switch: stage 'inner' is not within reach",
        "t.yaml:8:51: switch: stage 'fix' is not within reach",
        "t.yaml:9:26: stage 'fix' is not in this list", "t.yaml:9:31: stage 'last' needs itself",
        "t.yaml:9:66: switch: stage 'report' is not within reach",
        "t.yaml:11:28: a stage of 'branches' is entered only by 'switch'",
        "t.yaml:13:48: switch: stage 'outer' is not within reach"})
    EXPECT_THAT(problems, HasSubstr(line));
}

TEST(ReadDocuments, NamesInTemplatesAreLookedAt) {
  const auto stage = [](std::string_view argument) {
    return ProblemsOf(
        JobWith(fmt::format("params: {{p: {{}}}}\n"
                            "stages:\n"
                            "  - {{name: one, script: x}}\n"
                            "  - {{name: two, script: {{run: x, args: ['{}']}}}}\n",
                            argument)));
  };
  EXPECT_EQ(stage("${{ params.p }} ${{ run.id }} ${{ targets.count }} ${{ host.zone }}"), "");
  EXPECT_EQ(stage("${{ host.name }} ${{ host.facts.os }} ${{ stages.one.outputs.x }}"), "");
  EXPECT_EQ(stage("${{ stages.one.all.x }} ${{ stages.one.succeeded }}"), "");
  EXPECT_EQ(stage("${{ stages.two.outputs.x | default: 0 }}"), "");
  EXPECT_THAT(stage("${{ param.p }}"), HasSubstr("did you mean 'params'?"));
  EXPECT_THAT(stage("${{ run.ids }}"), HasSubstr("there is no 'run.ids'; did you mean 'id'?"));
  EXPECT_THAT(stage("${{ run }}"), HasSubstr("needs a part"));
  EXPECT_THAT(stage("${{ params }}"), HasSubstr("needs a part"));
  EXPECT_THAT(stage("${{ params.p.q }}"), HasSubstr("'params.p' has no parts"));
  EXPECT_THAT(stage("${{ host }}"), HasSubstr("needs a part"));
  EXPECT_THAT(stage("${{ host.labels }}"), HasSubstr("host.labels.NAME"));
  EXPECT_THAT(stage("${{ host.zone.x }}"), HasSubstr("has no parts"));
  EXPECT_THAT(stage("${{ stages }}"), HasSubstr("needs a part"));
  EXPECT_THAT(stage("${{ stages.ones.state }}"), HasSubstr("did you mean 'one'?"));
  EXPECT_THAT(stage("${{ stages.one }}"), HasSubstr("needs a part"));
  EXPECT_THAT(stage("${{ stages.one.output.x }}"), HasSubstr("did you mean 'outputs'?"));
  EXPECT_THAT(stage("${{ stages.one.outputs }}"), HasSubstr("stages.one.outputs.NAME"));
  EXPECT_THAT(stage("${{ stages.one.state.x }}"), HasSubstr("has no parts"));
  EXPECT_THAT(stage("${{ stages.two.state }}"), HasSubstr("stage 'two' is this one"));
}

TEST(ReadDocuments, ASecretGoesOnOnlyByItsName) {
  const auto child = [](std::string_view value) {
    return ProblemsOf(
        JobWith(fmt::format("params: {{t: {{type: secret}}}}\n"
                            "stages:\n"
                            "  - {{name: a, job: {{name: x, params: {{t: \"{}\"}}}}}}\n",
                            value)));
  };
  EXPECT_EQ(child("${{ params.t }}"), "");
  EXPECT_THAT(child("x${{ params.t }}"), HasSubstr("is a secret"));
  EXPECT_THAT(child("${{ params.t | upper }}"), HasSubstr("is a secret"));
  EXPECT_THAT(child("${{ params.t == 'a' }}"), HasSubstr("is a secret"));
}

TEST(ContentHash, FollowsTextAndScripts) {
  const std::string text = JobWith("stages: [{name: a, script: {file: f}}]\n");
  const auto hash = [](const std::string& document, const std::string& script) {
    const Source source{"t.yaml", document};
    const auto all = ReadAll(
        {&source, 1},
        [&](const std::string&, const std::string&) -> Result<std::string> { return script; });
    EXPECT_TRUE(all);
    return all ? ContentHash(all->front()) : "";
  };
  EXPECT_EQ(hash(text, "x").size(), 32U);
  EXPECT_EQ(hash(text, "x"), hash(text, "x"));
  EXPECT_NE(hash(text, "x"), hash(text, "y"));
  EXPECT_NE(hash(text, "x"), hash(text + "owner: me\n", "x"));
}

TEST(Format, IsTheDocumentsOwnText) {
  const auto reading = ReadText("# mine\n" + std::string(kHost) + "---\n" +
                                JobWith("stages: [{name: a, script: x}]\n"));
  ASSERT_EQ(reading.documents.size(), 2U);
  EXPECT_EQ(Format(reading.documents[0]), "# mine\n" + std::string(kHost));
  const auto again = ReadText(Format(reading.documents[1]));
  ASSERT_EQ(again.documents.size(), 1U);
  EXPECT_EQ(ContentHash(again.documents[0]), ContentHash(reading.documents[1]));
}

TEST(ReadDocuments, ATriggerHasSoManyBlackoutsAtMost) {
  const auto with = [](int blackouts) {
    std::string text =
        "apiVersion: muster/v1\nkind: trigger\nname: t\nevery: 1s\njob: j\nblackouts:\n";
    for (int i = 0; i < blackouts; ++i) text += "  - {cron: '0 0 30 2 *', lasts: 1s}\n";
    return ReadText(text).problems;
  };
  EXPECT_TRUE(with(100).empty());
  const auto problems = with(15'000);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().position, (Position{107, 5}));
  EXPECT_THAT(problems.front().sentence, HasSubstr("at most 100 blackouts"));
}

TEST(ReadDocuments, AChannelHasSoManyHeadersAtMost) {
  const auto with = [](int headers) {
    std::string text =
        "apiVersion: muster/v1\nkind: channel\nname: c\ntype: webhook\nurl: https://a.example\n"
        "headers:\n";
    for (int i = 0; i < headers; ++i) text += fmt::format("  X-{}: secret:s{}\n", i, i);
    return ReadText(text).problems;
  };
  EXPECT_TRUE(with(50).empty());
  ASSERT_EQ(with(51).size(), 1U);
  EXPECT_EQ(with(51).front().position, (Position{57, 3}));
}

}  // namespace
}  // namespace muster::documents
