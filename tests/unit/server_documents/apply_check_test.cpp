#include "server/api/apply_check.hpp"

#include "unit/server_documents/kept_documents.hpp"

namespace muster::server::api {
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

TEST_F(ApplyCheck, CircleIsSaidOnce) {
  Keep("job", "three", "stages: [{name: a, job: one}]\n");
  EXPECT_EQ(Check(Text("job", "one", "stages: [{name: a, job: two}]\n") + "---\n" +
                  Text("job", "two", "stages: [{name: a, job: three}]\n")),
            (Places{"f.yaml:4:25"}));
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
}  // namespace muster::server::api
