#include "agent/shim/launch.hpp"

#include <gmock/gmock.h>

namespace muster::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;

link::Order OrderOf(Command command) {
  command.env = {{"PATH", "/tmp/evil"}, {"LD_PRELOAD", "/tmp/evil.so"}, {"GCONV_PATH", "/tmp"}};
  command.folder = "/tmp/evil";
  link::Order order;
  order.command = std::make_shared<const Command>(std::move(command));
  return order;
}

TEST(Launch, TransferTakesNothingFromTheOrder) {
  const auto launch = PlanTransfer(Account{.name = "root", .home = "/root"}, "/data/tasks/t");
  EXPECT_THAT(launch.env,
              ElementsAre("PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LANG=C.UTF-8"));
  EXPECT_EQ(launch.folder, "/");
  EXPECT_THAT(launch.argv, ElementsAre("/proc/self/exe", "transfer", "/data/tasks/t"));
}

TEST(Launch, TheSystemsOwnRestartTakesNothingFromTheOrder) {
  Command command;
  command.reboot = std::make_shared<const Reboot>();
  const auto launch = PlanLaunch(OrderOf(std::move(command)), Account{.name = "root"}, {});
  EXPECT_EQ(launch.env, PlanTransfer({}, "").env);
  EXPECT_EQ(launch.folder, "/");
  EXPECT_FALSE(launch.argv.empty());
}

TEST(Launch, CommandThatMovesFilesDoesNothingElse) {
  Command command;
  command.push = std::make_shared<const FilePush>();
  EXPECT_TRUE(CheckCommand(command));
  command.reboot = std::make_shared<const Reboot>();
  EXPECT_FALSE(CheckCommand(command));
  command.push.reset();
  EXPECT_TRUE(CheckCommand(command));
  command.pull = std::make_shared<const FilePull>();
  EXPECT_FALSE(CheckCommand(command));
  EXPECT_FALSE(CheckTransfer(command));
}

TEST(Launch, ARestartByWordsOfItsOwnIsACommandLikeAnyOther) {
  Command command;
  command.reboot = std::make_shared<const Reboot>(Reboot{.argv = {"kexec", "-e"}});
  const auto launch = PlanLaunch(OrderOf(std::move(command)), Account{.name = "web"}, {});
  EXPECT_THAT(launch.env, Contains("PATH=/tmp/evil"));
  EXPECT_EQ(launch.folder, "/tmp/evil");
  EXPECT_THAT(launch.argv, ElementsAre("kexec", "-e"));
}

}  // namespace
}  // namespace muster::agent
