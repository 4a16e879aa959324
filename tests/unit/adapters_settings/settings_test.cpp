#include "adapters/settings/settings.hpp"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::settings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Example {
  std::string name = "one";
  std::string level = "info";
  Duration wait = std::chrono::seconds(10);
  std::uint64_t size = 16 << 20;
  std::uint64_t count = 3;
  bool on = false;
  std::vector<std::string> allow;
  std::map<std::string, std::string, std::less<>> labels;

  friend bool operator==(const Example&, const Example&) = default;
};

Table Describe(Example& example) {
  return {
      Text("name", example.name, "Its name."),
      Choice("level", example.level, "How much.", {"info", "warn"}).Live(),
      List("allow", example.allow, "Who."),
      Pairs("labels", example.labels, "What it is."),
      Section(
          "limits", "How far it goes.",
          {Time("wait", example.wait, "How long.").Live(), Size("size", example.size, "How large."),
           Number("count", example.count, "How many.", 1, 10).Live(),
           Flag("on", example.on, "Whether.")}),
  };
}

class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "muster-settings-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<> Read(const std::string& text, Example& into) {
    const auto file = folder_ / "a.yaml";
    std::ofstream(file) << text;
    return ReadFile(file, Describe(into));
  }
  std::string Complaint(const std::string& text) {
    Example example;
    const auto read = Read(text, example);
    if (read) return "";
    auto message = read.error().message;
    const auto file = (folder_ / "a.yaml").string() + ":";
    for (auto at = message.find(file); at != std::string::npos; at = message.find(file))
      message.erase(at, file.size());
    return message;
  }

  std::filesystem::path folder_;
};

TEST_F(SettingsTest, ReadsEveryShape) {
  Example example;
  ASSERT_TRUE(
      Read("name: two\nallow: [a, b]\nlabels: {zone: sh1, tier: '2'}\n"
           "limits:\n  wait: 1m\n  size: 1MB\n  count: 7\n  on: true\n",
           example));
  EXPECT_EQ(example.name, "two");
  EXPECT_THAT(example.allow, ElementsAre("a", "b"));
  EXPECT_EQ(example.labels.at("tier"), "2");
  EXPECT_EQ(example.wait, std::chrono::minutes(1));
  EXPECT_EQ(example.size, 1u << 20);
  EXPECT_EQ(example.count, 7u);
  EXPECT_TRUE(example.on);
}

TEST_F(SettingsTest, NamesThePlaceOfEachMistake) {
  EXPECT_EQ(Complaint("name: x\nlimits:\n  wait: soon\n  count: 11\n").substr(0, 6), "3:9: l");
  EXPECT_THAT(Complaint("name: x\nlimits:\n  wait: soon\n  count: 11\n"),
              HasSubstr("\n4:10: limits.count: '11' is not a whole number from 1 to 10"));
  EXPECT_EQ(Complaint("nam: x\n"),
            "1:1: unknown key 'nam'; known are allow, labels, level, limits, name");
  EXPECT_EQ(Complaint("limits:\n  cont: 1\n"),
            "2:3: unknown key 'limits.cont'; known are count, on, size, wait");
  EXPECT_EQ(Complaint("name: x\nname: y\n"), "2:1: 'name' is given twice");
  EXPECT_EQ(Complaint("name: [x]\n"), "1:7: 'name' takes a single value");
  EXPECT_EQ(Complaint("limits: 3\n"), "1:9: 'limits' is a section of 'key: value' lines");
  EXPECT_EQ(Complaint("allow: a\n"), "1:8: 'allow' takes a list: [a, b]");
  EXPECT_EQ(Complaint("labels: [a]\n"), "1:9: 'labels' takes pairs: {key: value}");
  EXPECT_EQ(Complaint("level: loud\n"), "1:8: level: 'loud' is none of info, warn");
  EXPECT_THAT(Complaint("name: [\n"), HasSubstr("2:1: "));
  EXPECT_EQ(Complaint("- a\n"), "1:1: expected 'key: value' lines");
}

TEST_F(SettingsTest, AKeyWithoutAValueKeepsTheDefault) {
  Example example;
  ASSERT_TRUE(Read("name:\nlimits:\n", example));
  EXPECT_EQ(example, Example{});
}

TEST_F(SettingsTest, WhatItPrintsReadsBackAsTheSame) {
  Example example;
  example.name = "with: colon # and 'quotes'";
  example.allow = {"a b", ", ]", ""};
  example.labels = {{"zone", "sh1"}, {"odd", "}: x"}};
  example.size = (16 << 20) + 1;
  example.wait = std::chrono::milliseconds(90'500);
  Example back;
  const auto read = Read(Print(Describe(example)), back);
  ASSERT_TRUE(read) << read.error().message << Print(Describe(example));
  EXPECT_EQ(back, example);
}

TEST_F(SettingsTest, TimesHaveALeast) {
  Duration wait = std::chrono::seconds(5);
  const Table table{Time("wait", wait, "How long.", std::chrono::seconds(2))};
  EXPECT_EQ(Set(table, "wait", {"1999ms"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(wait, std::chrono::seconds(5));
  EXPECT_TRUE(Set(table, "wait", {"2s"}));
}

TEST_F(SettingsTest, TellsWhatAReloadChangesAndTakesOnlyThat) {
  Example running;
  Example file;
  file.name = "two";
  file.count = 5;
  const auto changes = TakeLive(Describe(running), Describe(file));
  EXPECT_THAT(changes, ElementsAre(Difference{"name", "one", "two", false},
                                   Difference{"limits.count", "3", "5", true}));
  EXPECT_EQ(Sentence(changes[0]), "name: one -> two needs a restart");
  EXPECT_EQ(Tally(changes), "1 needs_restart=1");
  EXPECT_EQ(running.count, 5u);
  EXPECT_EQ(running.name, "one");
}

TEST_F(SettingsTest, WhatIsToBeHiddenIsHiddenInMessages) {
  std::string before = "postgresql://muster:hunter2@db/muster";
  std::string after = "host=db password=hunter3";
  const Table old{Text("store", before, "Where.").Shown(WithoutPassword)};
  const Table now{Text("store", after, "Where.").Shown(WithoutPassword)};
  EXPECT_THAT(Differences(old, now),
              ElementsAre(Difference{"store", "postgresql://muster:***@db/muster",
                                     "host=db password=***", false}));
  EXPECT_THAT(Print(now), Not(HasSubstr("hunter3")));
  std::string third = "postgresql://muster:hunter4@db/muster";
  EXPECT_EQ(Differences(old, {Text("store", third, "Where.")}).size(), 1U)
      << "though it looks alike";
}

TEST(WithoutPassword, HidesItInEveryForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"postgresql://db/muster", "postgresql://db/muster"},
      {"postgresql://muster@db:5432/muster", "postgresql://muster@db:5432/muster"},
      {"postgresql://db:5432/muster", "postgresql://db:5432/muster"},
      {"postgresql://u:pa:s/s@db/muster", "postgresql://u:***@db/muster"},
      {"postgresql://u:p@ss@db,db2:1/muster?x=y", "postgresql://u:***@db,db2:1/muster?x=y"},
      {"postgresql://db/muster?password=secret&x=y", "postgresql://db/muster?password=***&x=y"},
      {"host=db password=secret user=u", "host=db password=*** user=u"},
      {"host=db password = 'se\\'cret one' user=u", "host=db password = *** user=u"},
      {"password='open", "password=***"},
      {"sslpassword=a password=b", "sslpassword=*** password=***"},
      {"host=db password=", "host=db password=***"},
      {"host=password dbname=x", "host=password dbname=x"},
  };
  for (const auto& [address, shown] : cases) EXPECT_EQ(WithoutPassword(address), shown) << address;
}

TEST_F(SettingsTest, VariablesAreCheckedLikeTheFile) {
  Example example;
  ::setenv("MUSTER_TEST_COUNT", "4", 1);
  EXPECT_TRUE(ReadEnvironment(Describe(example), {{"MUSTER_TEST_COUNT", "limits.count"}}));
  EXPECT_EQ(example.count, 4u);
  ::setenv("MUSTER_TEST_COUNT", "40", 1);
  EXPECT_EQ(
      ReadEnvironment(Describe(example), {{"MUSTER_TEST_COUNT", "limits.count"}}).error().code,
      ErrorCode::kInvalid);
  ::unsetenv("MUSTER_TEST_COUNT");
}

TEST_F(SettingsTest, AFileThatIsNotThereIsNotFound) {
  Example example;
  EXPECT_EQ(ReadFile(folder_ / "none.yaml", Describe(example)).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace muster::settings
