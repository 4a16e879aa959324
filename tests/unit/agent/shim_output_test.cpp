// What a task writes and what is kept of it.
#include <unistd.h>

#include "adapters/crypto/digest.hpp"
#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

class ShimOutput : public RunnerTest {};

TEST_F(ShimOutput, StreamsKeepTheirOrder) {
  const std::string go = folder_ / "go";
  Command command = Script("echo one; while [ ! -e \"$GO\" ]; do sleep 0.02; done; echo two >&2");
  command.env = {{"GO", go}};
  const auto task = Start(command);
  ASSERT_TRUE(WaitForOutput(task, "one"));
  EXPECT_TRUE(WaitFor([&] { return spooled_[task] == 4; }));
  ASSERT_TRUE(WriteFile(go, ""));
  const auto outcome = Await(task);
  ASSERT_EQ(outcome.chunks.size(), 2U);
  EXPECT_EQ(outcome.chunks[0].stream, Stream::kStdout);
  EXPECT_EQ(outcome.chunks[1].stream, Stream::kStderr);
  EXPECT_EQ(outcome.chunks[1].offset, 4U);
  EXPECT_EQ(outcome.chunks[1].data, "two\n");
  EXPECT_EQ(outcome.chunks[1].task, task);
  EXPECT_GE(outcome.chunks[1].time, outcome.chunks[0].time);
}

TEST_F(ShimOutput, BytesAreKeptAsTheyAre) {
  const auto outcome = RunScript("printf 'a\\000\\377\\200b'; printf 'no newline' >&2");
  EXPECT_EQ(outcome.out, std::string("a\0\377\200b", 5));
  EXPECT_EQ(outcome.err, "no newline");
  ASSERT_TRUE(outcome.end.log);
  EXPECT_EQ(outcome.end.log->bytes, 15U);
  EXPECT_EQ(outcome.end.log->dropped, 0U);
  EXPECT_FALSE(outcome.end.log->gap);
  EXPECT_EQ(outcome.end.log->stdout_sha256, crypto::Sha256(outcome.out));
  EXPECT_EQ(outcome.end.log->stderr_sha256, crypto::Sha256(outcome.err));
}

TEST_F(ShimOutput, SilentStreamsHaveTheHashOfNothing) {
  const auto outcome = RunScript("exit 0");
  ASSERT_TRUE(outcome.end.log);
  EXPECT_EQ(outcome.end.log->bytes, 0U);
  EXPECT_EQ(outcome.end.log->stdout_sha256, kEmptySha256);
  EXPECT_EQ(outcome.end.log->stderr_sha256, kEmptySha256);
}

TEST_F(ShimOutput, QuotaCutsTheLogAndNotTheScript) {
  Command command = Script("yes 0123456789abcde | head -c 1600000; echo end >&2");
  command.max_output = 100'000;
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_EQ(outcome.out.size() + outcome.err.size(), 100'000U);
  ASSERT_TRUE(outcome.end.log);
  EXPECT_EQ(outcome.end.log->bytes, 100'000U);
  EXPECT_EQ(outcome.end.log->dropped, 1'500'004U);
  EXPECT_FALSE(outcome.end.log->gap);
  EXPECT_EQ(outcome.end.log->stdout_sha256, crypto::Sha256(outcome.out));
}

TEST_F(ShimOutput, HundredMegabytesAreKeptWhole) {
  Command command = Script("yes 0123456789abcde | head -c 104857600");
  command.max_output = 200ULL << 20;
  const auto task = Start(command);
  ASSERT_TRUE(WaitFor([&] { return ends_.contains(task); }));
  crypto::Sha256Stream hash;
  std::uint64_t at = 0;
  for (;;) {
    const auto chunks = runner_->Read(task, at, 1'000'000);
    ASSERT_TRUE(chunks);
    if (chunks->empty()) break;
    for (const auto& chunk : *chunks) {
      ASSERT_EQ(chunk.offset, at);
      hash.Add(chunk.data);
      at += chunk.data.size();
    }
  }
  EXPECT_EQ(at, 100ULL << 20);
  ASSERT_TRUE(ends_[task].log);
  EXPECT_EQ(ends_[task].log->bytes, at);
  EXPECT_EQ(ends_[task].log->stdout_sha256, hash.Digest());
}

TEST_F(ShimOutput, SecretsAreMaskedAcrossWrites) {
  const std::string go = folder_ / "go";
  Command command = Script(
      "printf 'pass=hun'; echo ready >&2; while [ ! -e \"$GO\" ]; do sleep 0.02; done\n"
      "printf 'ter2!'; printf ' hun'");
  command.env = {{"GO", go}};
  command.masks = {"hunter2"};
  const auto task = Start(command);
  ASSERT_TRUE(WaitFor([&] { return OutputOf(task, Stream::kStderr) == "ready\n"; }));
  ASSERT_TRUE(WriteFile(go, ""));
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.out, "pass=***! hun");
  EXPECT_EQ(outcome.end.log->stdout_sha256, crypto::Sha256("pass=***! hun"));
  const auto spool = ReadFile(TaskPath(task) + "/out");
  ASSERT_TRUE(spool);
  EXPECT_EQ(spool->find("hunter2"), std::string::npos);
}

TEST_F(ShimOutput, ScriptMayCloseItsStreamsEarly) {
  const auto outcome = RunScript("echo x; exec >&- 2>&-; sleep 0.2; exit 5");
  EXPECT_EQ(outcome.end.exit_code, 5);
  EXPECT_EQ(outcome.out, "x\n");
}

TEST_F(ShimOutput, ReadGivesTheAskedWindow) {
  const auto task = Start(Script("printf 0123456789"));
  Await(task);
  const auto middle = runner_->Read(task, 3, 4);
  ASSERT_TRUE(middle);
  ASSERT_EQ(middle->size(), 1U);
  EXPECT_EQ(middle->front().offset, 3U);
  EXPECT_EQ(middle->front().data, "3456");
  EXPECT_EQ(runner_->Read(task, 0, 2)->front().data, "01");
  EXPECT_EQ(runner_->Read(task, 7, 100)->front().data, "789");
  EXPECT_TRUE(runner_->Read(task, 10, 100)->empty());
  EXPECT_TRUE(runner_->Read(task, 99, 100)->empty());
}

}  // namespace
}  // namespace muster::agent
