#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/budget.hpp"
#include "support.hpp"
#include "support/cpu_time.hpp"

// Documents that an attacker writes to cost as much as possible.
namespace muster::documents {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Group(std::string_view hosts, std::string_view name = "g") {
  return fmt::format("apiVersion: muster/v1\nkind: group\nname: {}\nhosts: [{}]\n", name, hosts);
}

// `each` for every number below `count`.
template <typename Each>
std::string Repeated(std::size_t count, const Each& each) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += each(i);
  return text;
}

std::string Env(std::string_view pairs) {
  return JobWith(
      fmt::format("stages:\n  - name: s\n    script:\n      run: 'true'\n      env:\n{}", pairs));
}

std::string Args(std::string_view items) {
  return JobWith(fmt::format("stages:\n  - name: s\n    script: {{run: x, args: [{}]}}\n", items));
}

TEST(HeavyDocuments, AScriptCountsForEachStageThatUsesIt) {
  const std::string script = "true\n" + std::string((1 << 20) - 5, '#');
  int reads = 0;
  const auto problems_of = [&](std::size_t jobs, std::size_t stages) {
    reads = 0;
    const auto text = Repeated(jobs, [&](std::size_t job) {
      return fmt::format("---\napiVersion: muster/v1\nkind: job\nname: j{}\nstages:\n", job) +
             Repeated(stages, [](std::size_t i) {
               return fmt::format("- {{name: s{}, script: {{file: a.sh}}}}\n", i);
             });
    });
    const Source source{.file = "t.yaml", .text = text};
    const auto reading =
        ReadDocuments({&source, 1}, [&](const auto&, const auto&) -> Result<std::string> {
          ++reads;
          return script;
        });
    return reading.problems.size();
  };
  EXPECT_EQ(problems_of(1, 16), 0U);
  EXPECT_EQ(problems_of(1, 17), 1U);
  EXPECT_GT(problems_of(1, 1000), 0U);
  EXPECT_EQ(reads, 17) << "nothing is read any more once nothing fits";
  EXPECT_EQ(problems_of(4, 16), 0U);
  EXPECT_EQ(problems_of(5, 16), 16U) << "also not into another document";
}

TEST(HeavyDocuments, AScriptThatNoTaskMayHaveIsRefusedAtOnce) {
  const Source source{.file = "t.yaml",
                      .text = JobWith("stages: [{name: s, script: {file: a.sh}}]\n")};
  const auto reading = ReadDocuments({&source, 1}, [](const auto&, const auto&) {
    return Result<std::string>(std::string((1 << 20) + 1, '#'));
  });
  ASSERT_EQ(reading.problems.size(), 1U);
  EXPECT_THAT(reading.problems[0].sentence, HasSubstr("a script is at most 1.0 MB"));
}

TEST(HeavyDocuments, ALimitCountsForEachStageThatHasIt) {
  const auto job = [](std::size_t key, std::size_t stages) {
    return JobWith("limit: [{key: 'k-" + std::string(key, 'x') + "-${{ host.name }}'}]\nstages:\n" +
                   Repeated(stages, [](std::size_t i) {
                     return fmt::format("- {{name: s{}, script: x}}\n", i);
                   }));
  };
  EXPECT_EQ(ProblemsOf(job(10'000, 900)), "");
  EXPECT_THAT(ProblemsOf(job(100'000, 900)), HasSubstr("counted for each stage"));
}

TEST(HeavyDocuments, MessagesOfApprovalsAreShort) {
  const std::string most(4096, 'x');
  EXPECT_EQ(ProblemsOf(JobWith("stages: [{name: a, approve: " + most + "}]\n")), "");
  for (const auto* stage : {"{name: a, approve: M}", "{name: a, approve: {message: M}}",
                            "{name: a, script: x, batches: [1], between: {approve: M}}"}) {
    std::string text = JobWith("stages: [" + std::string(stage) + "]\n");
    text.replace(text.find(" M") + 1, 1, most + "x");
    EXPECT_THAT(ProblemsOf(text), HasSubstr("the message of an approval is at most 4.0 KB"));
  }
}

TEST(HeavyDocuments, AGroupNamesAHundredThousandHostsAtMost) {
  EXPECT_EQ(ProblemsOf(Group("'h[1-100000]'")), "");
  EXPECT_EQ(ProblemsOf(Group("'h[1-50000]', 'h[1-50000]'")), "");
  const auto problems = ProblemsOf(Group("'h[1-99999]', a, b, 'h[1-100000]', 'h[1-5]'"));
  EXPECT_THAT(problems, HasSubstr("t.yaml:4:26: hosts: a document may name 100000 hosts"));
  EXPECT_EQ(std::ranges::count(problems, '\n'), 1) << "told once: " << problems;
}

TEST(HeavyDocuments, NamesOfBrokenRangesCountToo) {
  const auto problems = ProblemsOf(Group("'h[1-60000][', 'h[1-60000][', 'h[1-60000]['"));
  EXPECT_THAT(problems, HasSubstr("t.yaml:4:24: hosts: a document may name 100000 hosts"));
  EXPECT_EQ(std::ranges::count(problems, '\n'), 2) << problems;
}

TEST(HeavyDocuments, NumbersOfNamesDoNotOverflow) {
  const std::string huge = "[0-4294967295]";
  for (const auto& text : {"h[1-2]" + huge + huge, "h[1-100000]" + huge + huge + huge,
                           "h[0-18446744073709551615]" + huge})
    EXPECT_GT(MeasureHostNames(text).names, ReadBudget::kMostTogether) << text;
  const auto problems = ProblemsOf(Group("'h[1-100000]" + huge + huge + "', 'h1'"));
  EXPECT_THAT(problems, HasSubstr("t.yaml:4:9: hosts: a document may name 100000 hosts"));
}

TEST(HeavyDocuments, NamesThatNoHostCanHaveAreNotMade) {
  const auto problems = ProblemsOf(Group("'h[1-100000]" + std::string(5000, 'a') + "'"));
  EXPECT_THAT(problems, HasSubstr("t.yaml:4:9: hosts: "));
  EXPECT_THAT(problems, HasSubstr("too long for a host name"));
  EXPECT_LT(problems.size(), 200U);
}

TEST(HeavyDocuments, DocumentsTogetherNameAMillionHostsAtMost) {
  const auto groups = [](std::size_t count) {
    return Repeated(count, [](std::size_t i) {
      return "---\n" + Group("'h[1-100000]'", fmt::format("g{}", i));
    });
  };
  EXPECT_EQ(ProblemsOf(groups(10)), "");
  EXPECT_THAT(ProblemsOf(groups(11)), HasSubstr("t.yaml:55:9: hosts: documents that are read"));
  const auto targets = [](std::size_t count) {
    return Repeated(count, [](std::size_t i) {
      return fmt::format(
          "---\napiVersion: muster/v1\nkind: group\nname: g{}\ntargets: h[1-90000]\n", i);
    });
  };
  EXPECT_EQ(ProblemsOf(targets(11)), "");
  EXPECT_THAT(ProblemsOf(targets(12)), HasSubstr("t.yaml:60:10: targets: documents that are read"));
}

TEST(HeavyDocuments, DocumentsTogetherHaveTwoThousandPatternsAtMost) {
  const auto jobs = Repeated(6, [](std::size_t job) {
    return fmt::format("---\napiVersion: muster/v1\nkind: job\nname: j{}\nparams:\n", job) +
           Repeated(400, [](std::size_t i) { return fmt::format("  p{}: {{pattern: a}}\n", i); }) +
           "stages: [{name: s, script: x}]\n";
  });
  EXPECT_THAT(ProblemsOf(jobs), HasSubstr("t.yaml:2036:17: pattern: documents that are read"));
}

TEST(HeavyDocuments, AJobHasAHundredLimitsAtMost) {
  const auto job = [](std::size_t limits) {
    return JobWith("limit:\n" +
                   Repeated(limits,
                            [](std::size_t i) {
                              return fmt::format("  - {{key: 'k{}-${{{{ host.name }}}}'}}\n", i);
                            }) +
                   "stages: [{name: s, script: x}]\n");
  };
  EXPECT_EQ(ProblemsOf(job(100)), "");
  EXPECT_EQ(ProblemsOf(job(300)), "t.yaml:105:5: a job has at most 100 limits\n");
}

TEST(HeavyDocuments, OfVeryManyKnownWordsTheFirstAreNamed) {
  const auto problems = ProblemsOf(
      JobWith("params:\n" +
              Repeated(200, [](std::size_t i) { return fmt::format("  p{:05}: {{}}\n", i); }) +
              "stages: [{name: s, script: {run: x, args: ['${{ params.unlike }}']}}]\n"));
  EXPECT_THAT(problems, HasSubstr("known are p00000, p00001"));
  EXPECT_THAT(problems, Not(HasSubstr("p00199")));
}

TEST(HeavyDocuments, KeysCostTheirNumber) {
  EXPECT_LT(
      GrowthOverFour(
          10'000,
          [](std::size_t size) {
            EXPECT_EQ(
                ProblemsOf(Env(Repeated(
                    size, [](std::size_t i) { return fmt::format("        V{:05}: a\n", i); }))),
                "");
          }),
      kNotTheSquare);
}

TEST(HeavyDocuments, WrongSecretsCostTheirNumber) {
  EXPECT_LT(GrowthOverFour(8'000,
                           [](std::size_t size) {
                             EXPECT_THAT(
                                 ProblemsOf(Env(Repeated(size,
                                                         [](std::size_t i) {
                                                           return fmt::format(
                                                               "        V{:05}: 'secret:'\n", i);
                                                         }))),
                                 HasSubstr("and "));
                           }),
            kNotTheSquare);
}

TEST(HeavyDocuments, UnknownNamesCostTheirNumber) {
  const auto param = [](std::size_t i) { return fmt::format("  pxxxxxxxxxxxxx{:05}: {{}}\n", i); };
  const auto use = [](std::size_t i) {
    return fmt::format("'${{{{params.qxxxxxxxxxxxxx{}}}}}', ", i);
  };
  const auto document = [&](std::size_t size) {
    return JobWith("params:\n" + Repeated(size, param) +
                   "stages:\n  - name: s\n    script: {run: x, args: [" + Repeated(size * 20, use) +
                   "]}\n");
  };
  EXPECT_THAT(ProblemsOf(document(100)), HasSubstr("did you mean"));
  EXPECT_LT(GrowthOverFour(100, [&](std::size_t size) { ProblemsOf(document(size)); }),
            kNotTheSquare);
}

TEST(HeavyDocuments, UnknownStagesCostTheirNumber) {
  const auto document = [](std::size_t size) {
    return JobWith(
        "stages:\n" +
        Repeated(size / 10,
                 [](std::size_t i) {
                   return fmt::format("  - {{name: sxxxxxxxxxxxxx{}, script: x}}\n", i);
                 }) +
        "  - {name: z, script: x, needs: [" +
        Repeated(size, [](std::size_t i) { return fmt::format("txxxxxxxxxxxxx{}, ", i); }) +
        "]}\n");
  };
  EXPECT_LT(GrowthOverFour(2'000, [&](std::size_t size) { ProblemsOf(document(size)); }),
            kNotTheSquare);
}

TEST(HeavyDocuments, PlacesOfProblemsCostTheirNumber) {
  for (const auto* item : {"'${{a.b}}', ", "\n        '${{a.b}}',"})
    EXPECT_LT(GrowthOverFour(6'000,
                             [&](std::size_t size) {
                               ProblemsOf(Args(Repeated(size, [&](std::size_t) { return item; })));
                             }),
              kNotTheSquare)
        << item;
}

TEST(HeavyDocuments, PlacesInsideATextAreRight) {
  const auto problems = ProblemsOf(Args("'ü${{a.b}}ü${{c.d}}', \"${{e.f}}\", 'it''s ${{i.k}}'"));
  for (const auto* place :
       {":6:34: there is no 'a.b'", ":6:43: there is no 'c.d'", ":6:55: there is no 'e.f'",
        // With an escape before it the text's beginning has to do.
        ":6:63: there is no 'i.k'"})
    EXPECT_THAT(problems, HasSubstr(place));
}

}  // namespace
}  // namespace muster::documents
