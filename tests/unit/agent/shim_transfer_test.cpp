#include <fstream>

#include <gmock/gmock.h>

#include "runner_fixture.hpp"

// A task that moves files runs under a shim as any other.
namespace muster::agent {
namespace {

using testing::HasSubstr;

class ShimTransfer : public RunnerTest {
 protected:
  Command Push(std::string to, std::string owner = "") const {
    Command command;
    command.push = std::make_shared<const FilePush>(
        FilePush{.content = "hello\n", .to = std::move(to), .owner = std::move(owner)});
    return command;
  }
  std::string Place(const std::string& name) const { return folder_.Path() + "/" + name; }
  static std::string Text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(ShimTransfer, WritesTheFileAndSaysSo) {
  const auto outcome = Run(Push(Place("motd")));
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded) << outcome.err;
  EXPECT_EQ(outcome.out, Place("motd") + ": 6 B, new\n");
  EXPECT_EQ(Text(Place("motd")), "hello\n");
}

TEST_F(ShimTransfer, FailsInWords) {
  const auto outcome = Run(Push(Place("none/motd")));
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("does not exist on this host"));
}

TEST_F(ShimTransfer, IsKilledAsAnyOther) {
  // Nobody answers there, so it tries again and again.
  std::ofstream(Place("agent.conf")) << "server = https://127.0.0.1:1\nstore = 01\n";
  for (const char* name : {"agent.key", "agent.crt", "ca.pem"}) std::ofstream(Place(name)) << "";
  Command command;
  command.push = std::make_shared<const FilePush>(FilePush{
      .files = {{.path = "", .sha256 = std::string(32, 'h'), .size = 5}}, .to = Place("motd")});
  const TaskKey task = Start(std::move(command));
  ASSERT_TRUE(WaitFor([&] { return !OutputOf(task, Stream::kStderr).empty() || !ends_.empty(); }));
  runner_->Kill(task, std::chrono::seconds(10));
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kKilled) << outcome.err;
}

TEST_F(ShimTransfer, ThePolicyHoldsForOwners) {
  options_.run_as = {.default_user = "nobody", .allow = {}};
  OpenRunner();
  const auto started = runner_->Start(MakeOrder(Push(Place("motd"), "root")));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kDenied);
}

TEST_F(ShimTransfer, RefusesACommandThatDoesMore) {
  Command command = Push(Place("motd"));
  command.argv = {"true"};
  EXPECT_EQ(runner_->Start(MakeOrder(std::move(command))).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::agent
