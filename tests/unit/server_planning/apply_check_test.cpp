#include "server/planning/apply_check.hpp"

#include "domain/nesting.hpp"
#include "unit/server_planning/kept_documents.hpp"

namespace muster::server {
namespace {

class ApplyCheck : public KeptDocuments {
 protected:
  std::vector<std::string> Check(const std::string& text, std::set<DocumentKey> drops = {}) {
    const auto puts = text.empty() ? std::vector<documents::Document>{} : Read(text);
    const auto problems = CheckReferences(store_, puts, drops);
    EXPECT_TRUE(problems) << (problems ? "" : problems.error().message);
    std::vector<std::string> places;
    if (problems)
      for (const auto& problem : *problems)
        places.push_back(
            fmt::format("{}:{}:{}", problem.file, problem.position.line, problem.position.column));
    return places;
  }
};

using Places = std::vector<std::string>;

TEST_F(ApplyCheck, WhatIsAppliedTogetherOrKeptIsThere) {
  Keep("job", "kept", "stages: [{name: a, script: 'true'}]\n");
  EXPECT_EQ(Check(Text("job", "top",
                       "notify: {on: failed, to: chat}\n"
                       "stages:\n  - {name: a, job: kept}\n  - {name: b, job: new}\n") +
                  "---\n" + Text("job", "new", "stages: [{name: a, script: 'true'}]\n") + "---\n" +
                  Text("channel", "chat", "type: chat\nurl: 'https://chat.example/hook'\n")),
            Places{});
}

TEST_F(ApplyCheck, WhatIsMissingIsSaidWhereItStands) {
  EXPECT_EQ(Check("# a comment\n" + Text("job", "top",
                                         "notify: {on: failed, to: chat}\n"
                                         "stages:\n  - name: job-of-mine\n    job: mine\n"
                                         "  - {name: b, notify: {to: mail, message: done}}\n")),
            (Places{"f.yaml:8:10", "f.yaml:5:26", "f.yaml:9:28"}));
}

TEST_F(ApplyCheck, ParametersOfAChildMustBeItsOwn) {
  Keep("job", "kept", "params: {who: {required: true}}\nstages: [{name: a, script: 'true'}]\n");
  EXPECT_EQ(
      Check(Text("job", "top", "stages:\n  - name: a\n    job: {name: kept, params: {what: x}}\n")),
      (Places{"f.yaml:6:32", "f.yaml:6:17"}));
}

TEST_F(ApplyCheck, TriggerCarriesParametersOfItsJobThatAreNoSecrets) {
  Keep("job", "kept",
       "params: {cursor: {default: x}, token: {type: secret, default: 'secret:a'}}\n"
       "stages: [{name: a, script: 'true'}]\n");
  EXPECT_EQ(Check(Text("trigger", "t", "every: 1h\njob: kept\ncarry: [cursor]\n")), Places{});
  EXPECT_EQ(Check(Text("trigger", "t", "every: 1h\njob: kept\ncarry: [cursor, token]\n")),
            (Places{"f.yaml:6:17"}));
  EXPECT_EQ(Check(Text("trigger", "t", "every: 1h\njob: kept\ncarry: [curser]\n")),
            (Places{"f.yaml:6:9"}));
}

TEST_F(ApplyCheck, CircleIsSaidOnce) {
  Keep("job", "three", "stages: [{name: a, job: one}]\n");
  EXPECT_EQ(Check(Text("job", "one", "stages: [{name: a, job: two}]\n") + "---\n" +
                  Text("job", "two", "stages: [{name: a, job: three}]\n")),
            (Places{"f.yaml:4:25"}));
}

// Names n0 to n`last`, each made of the next one.
std::string JobChain(std::size_t last) {
  std::string text;
  for (std::size_t i = 0; i < last; ++i)
    text += fmt::format(
        "apiVersion: muster/v1\nkind: job\nname: n{}\nstages: [{{name: a, job: n{}}}]\n---\n", i,
        i + 1);
  return text + fmt::format(
                    "apiVersion: muster/v1\nkind: job\nname: n{}\nstages: [{{name: a, "
                    "wait: 1h}}]\n",
                    last);
}

std::string GroupChain(std::size_t last) {
  std::string text;
  for (std::size_t i = 0; i < last; ++i)
    text += fmt::format("apiVersion: muster/v1\nkind: group\nname: n{}\ntargets: '@n{}'\n---\n", i,
                        i + 1);
  return text + fmt::format("apiVersion: muster/v1\nkind: group\nname: n{}\nhosts: [h1]\n", last);
}

TEST_F(ApplyCheck, JobsNestAsDeepAsRunsMay) {
  EXPECT_EQ(Check(JobChain(kDeepestJobs)), Places{});
  EXPECT_EQ(Check(JobChain(kDeepestJobs + 1)), (Places{"f.yaml:4:25"})) << "the first one tells";
  EXPECT_EQ(Check(JobChain(3'000)).size(), 1U) << "neither long nor too deep for the stack";
}

TEST_F(ApplyCheck, KeptJobsCountAsLevels) {
  for (std::size_t i = 0; i < kDeepestJobs; ++i)
    Keep("job", fmt::format("k{}", i), fmt::format("stages: [{{name: a, job: k{}}}]\n", i + 1));
  Keep("job", fmt::format("k{}", kDeepestJobs), "stages: [{name: a, wait: 1h}]\n");
  EXPECT_EQ(Check(Text("job", "top", "stages: [{name: a, job: k1}]\n")), Places{});
  EXPECT_EQ(Check(Text("job", "top", "stages: [{name: a, job: k1}, {name: b, job: k0}]\n")).size(),
            1U);
}

TEST_F(ApplyCheck, CircleThatOthersLeadToIsSaidByAJobInIt) {
  const auto starts = [](const std::string& name, const std::string& job) {
    return Text("job", name, "stages: [{name: a, job: " + job + "}]\n");
  };
  EXPECT_EQ(
      Check(starts("top", "two") + "---\n" + starts("one", "two") + "---\n" + starts("two", "one")),
      (Places{"f.yaml:9:25"}));
}

TEST_F(ApplyCheck, GroupsNestAFewLevels) {
  EXPECT_EQ(Check(GroupChain(kDeepestGroups)), Places{});
  EXPECT_EQ(Check(GroupChain(kDeepestGroups + 1)), (Places{"f.yaml:4:12"}));
  EXPECT_EQ(Check(GroupChain(3'000)).size(), 1U);
  Keep("group", "kept", "targets: 'zone=a or @top'\n");
  EXPECT_EQ(Check(Text("group", "top", "targets: 'web* and @kept'\n")), (Places{"f.yaml:4:21"}))
      << "a circle";
  EXPECT_EQ(Check(Text("group", "top", "targets: 'web* and @kept'\n"), {{"group", "kept"}}),
            Places{});
  EXPECT_EQ(Check(Text("group", "top", "targets: zone='@kept'\n")), Places{}) << "a value";
}

TEST_F(ApplyCheck, WhatAKeptJobNeedsIsNotDropped) {
  Keep("job", "child", "stages: [{name: a, script: 'true'}]\n");
  Keep("job", "parent", "notify: {on: failed, to: chat}\nstages: [{name: a, job: child}]\n");
  Keep("channel", "chat", "type: chat\nurl: 'https://chat.example/hook'\n");
  EXPECT_EQ(Check("", {{"job", "child"}}).size(), 1U);
  EXPECT_EQ(Check("", {{"channel", "chat"}}).size(), 1U);
  EXPECT_EQ(Check("", {{"job", "child"}, {"job", "parent"}}), Places{});
  EXPECT_EQ(Check(Text("job", "parent", "stages: [{name: a, script: 'true'}]\n"),
                  {{"job", "child"}, {"channel", "chat"}}),
            Places{});
}

}  // namespace
}  // namespace muster::server
