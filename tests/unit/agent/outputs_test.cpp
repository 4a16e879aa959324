#include "agent/shim/outputs.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "agent/shim/exit_file.hpp"
#include "domain/outputs.hpp"
#include "temp_folder.hpp"

namespace muster::agent {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(Outputs, AreNamesAndTheRestOfTheLine) {
  const auto outputs = ParseOutputs("a=1\nb = 2\nkernel.version=6.1 = new\nempty=\n\nlast=x", {});
  EXPECT_EQ(outputs.pairs,
            (Pairs{{"a", "1"}, {"kernel.version", "6.1 = new"}, {"empty", ""}, {"last", "x"}}));
  EXPECT_TRUE(outputs.problem.starts_with("1 line of $MUSTER_OUTPUT was left out: line 2 "))
      << outputs.problem;
}

TEST(Outputs, OfNothingAreNone) {
  EXPECT_TRUE(ParseOutputs("", {}).pairs.empty());
  EXPECT_EQ(ParseOutputs("\n\n", {}).problem, "");
}

TEST(Outputs, LastValueWinsInTheFirstsPlace) {
  EXPECT_EQ(ParseOutputs("a=1\nb=2\na=3\n", {}).pairs, (Pairs{{"a", "3"}, {"b", "2"}}));
}

TEST(Outputs, WhatIsNoOutputIsCounted) {
  const auto outputs = ParseOutputs("no name\na=\xff\nb=ok\n9=x\nc=a" + std::string(1, '\0'), {});
  EXPECT_EQ(outputs.pairs, (Pairs{{"b", "ok"}}));
  EXPECT_TRUE(outputs.problem.starts_with("4 lines of $MUSTER_OUTPUT were left out: line 1 is not"))
      << outputs.problem;
}

TEST(Outputs, SecretsAreMaskedAlsoOverSeveralLines) {
  EXPECT_EQ(ParseOutputs("a=my hush word\nkey=one\ntwo\nb=1\n", {"hush", "one\ntwo"}).pairs,
            (Pairs{{"a", "my *** word"}, {"key", "***"}, {"b", "1"}}));
}

TEST(Outputs, SecretThatTheBoundCutsIsNotTold) {
  std::string text = "key=-----BEGIN\n";
  text.insert(0, std::string(kMaxOutputBytes - text.size(), '\n'));
  const auto outputs = ParseOutputs(text + "rest of it\n", {"-----BEGIN\nrest of it"});
  EXPECT_TRUE(outputs.pairs.empty());
}

TEST(Outputs, NamesAreBounded) {
  std::string text;
  for (int i = 0; i < 258; ++i) text += fmt::format("n{}=1\n", i);
  const auto outputs = ParseOutputs(text + "n0=2\n", {});
  EXPECT_EQ(outputs.pairs.size(), kMaxOutputs);
  EXPECT_EQ(outputs.pairs[0].second, "2");
  EXPECT_TRUE(outputs.problem.starts_with("2 lines ")) << outputs.problem;
}

TEST(Outputs, BytesAreBoundedAndACutLineIsNotHalfTaken) {
  const auto outputs = ParseOutputs("a=1\nb=" + std::string(kMaxOutputBytes, 'x') + "\nc=1\n", {});
  EXPECT_EQ(outputs.pairs, (Pairs{{"a", "1"}}));
  EXPECT_TRUE(outputs.problem.starts_with("at least 1 line ")) << outputs.problem;
}

TEST(Outputs, MasksThatGrowTheTextKeepTheBound) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += fmt::format("n{}={}\n", i, std::string(6000, 'x'));
  const auto outputs = ParseOutputs(text, {"x"});
  std::size_t bytes = 0;
  for (const auto& [name, value] : outputs.pairs) bytes += name.size() + value.size();
  EXPECT_LE(bytes, kMaxOutputBytes);
  EXPECT_EQ(outputs.pairs.size(), 3U);
}

TEST(OutputsFile, ThatIsMissingOrNoFileHoldsNone) {
  const TempFolder folder;
  EXPECT_TRUE(ReadOutputs(folder / "none", {}).pairs.empty());
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(ReadOutputs(folder / "pipe", {}).pairs.empty());
  ASSERT_TRUE(WriteFile(folder / "file", "a=1\n"));
  ASSERT_EQ(::symlink((folder / "file").c_str(), (folder / "link").c_str()), 0);
  EXPECT_TRUE(ReadOutputs(folder / "link", {}).pairs.empty());
  EXPECT_EQ(ReadOutputs(folder / "file", {}).pairs, (Pairs{{"a", "1"}}));
}

const TaskKey kEndedTask{RunId(7), Visit(1), 0, HostId(3), Attempt(1)};

TaskEnd LargeEnd() {
  TaskEnd end;
  end.state = TaskState::kSucceeded;
  end.log = LogTotals{.stdout_sha256 = kEmptySha256, .stderr_sha256 = kEmptySha256};
  end.outputs = {{"a", std::string(40'000, 'x')}};
  return end;
}

TEST(ExitFile, KeepsOutputsThatNeedMoreThanItsRoom) {
  const TempFolder temp;
  const TaskFolder folder{temp.Path()};
  const auto exit = ExitFile::Reserve(folder, kEndedTask);
  ASSERT_TRUE(exit);
  EXPECT_FALSE(Exists(folder.Exit()));
  EXPECT_TRUE(exit->Write(LargeEnd()));
  EXPECT_EQ(ParseExitRecord(kEndedTask, ReadFile(folder.Exit()).value()).value(), LargeEnd());
}

TEST(ExitFile, SaysWhenTheEndIsNotKept) {
  const TempFolder temp;
  const TaskFolder folder{temp.Path()};
  const auto exit = ExitFile::Reserve(folder, kEndedTask);
  ASSERT_TRUE(exit);
  ASSERT_EQ(::unlink(folder.NewExit().c_str()), 0);
  EXPECT_FALSE(exit->Write(LargeEnd()));
  EXPECT_FALSE(Exists(folder.Exit()));
}

TEST(ExitFile, FullDiskCostsOutputsAndNotTheEnd) {
  const TempFolder temp;
  const TaskFolder folder{temp.Path()};
  const auto exit = ExitFile::Reserve(folder, kEndedTask);
  ASSERT_TRUE(exit);
  // The longest file this process may write stands in for a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const bool wrote = exit->Write(LargeEnd());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(wrote);
  const auto end = ParseExitRecord(kEndedTask, ReadFile(folder.Exit()).value());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->state, TaskState::kSucceeded);
  EXPECT_TRUE(end->outputs.empty());
  EXPECT_EQ(end->reason, "its outputs are lost: the disk is full");
}

}  // namespace
}  // namespace muster::agent
