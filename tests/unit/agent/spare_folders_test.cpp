#include "agent/tasks/spare_folders.hpp"

#include <filesystem>
#include <set>
#include <sys/stat.h>

#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

class SpareFoldersTest : public RunnerTest {
 protected:
  static ino_t Inode(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_ino;
  }
  static std::set<std::string> Names(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& item : std::filesystem::directory_iterator(folder))
      names.insert(item.path().filename().string());
    return names;
  }
  // Ended tasks are forgotten once their shims are gone, as they are when a server has answered.
  void Forget(const TaskKey& task) {
    ASSERT_TRUE(WaitFor([&] { return !LockHolder({TaskPath(task)}); }));
    runner_->Forget(task);
  }
};

TEST_F(SpareFoldersTest, AFolderIsUsedAgainAndHoldsNothingOfTheTaskBefore) {
  Command first = Script("cat; echo first; sleep 300");
  first.stdin_data = "data\n";
  const auto task = Start(first);
  ASSERT_TRUE(WaitForOutput(task, "first"));
  runner_->Kill(task, {});
  Await(task);
  EXPECT_EQ(Names(TaskPath(task)),
            (std::set<std::string>{"order", "script", "stdin", "out", "output", "kill", "exit"}));
  const ino_t inode = Inode(TaskPath(task));
  Forget(task);

  Command second;
  second.argv = {"sh", "-c", "echo second; exec sleep 300"};
  const auto next = Start(second);
  EXPECT_EQ(Inode(TaskPath(next)), inode);
  ASSERT_TRUE(WaitForOutput(next, "second"));
  EXPECT_EQ(Names(TaskPath(next)), (std::set<std::string>{"order", "out", "output", "exit.new"}));
  const auto order = ParseOrderRecord(*ReadFile(TaskPath(next) + "/order"));
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->order.task, next);
  runner_->Kill(next, {});
  const auto outcome = Await(next);
  EXPECT_EQ(outcome.end.state, TaskState::kKilled);
  EXPECT_EQ(outcome.out, "second\n");
}

TEST_F(SpareFoldersTest, AFolderThatHeldASecretIsNotKept) {
  Command command = Script("echo done");
  command.env = {{"DB", "hunter2-hunter2"}};
  command.masks = {"hunter2-hunter2"};
  const auto task = Start(command);
  Await(task);
  const auto spare = std::filesystem::path(TaskPath(task)).parent_path().parent_path() / "spare";
  EXPECT_EQ(std::filesystem::status(TaskPath(task) + "/order").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Forget(task);
  EXPECT_FALSE(std::filesystem::exists(TaskPath(task)));
  EXPECT_EQ(Names(spare.string()), std::set<std::string>{});
}

TEST_F(SpareFoldersTest, AFolderWhoseShimLivesOnIsNotUsedAgain) {
  const auto task = Start(Script("sleep 300 & echo $!"));
  const auto outcome = Await(task);
  ASSERT_TRUE(outcome.end.leftovers);
  ASSERT_TRUE(LockHolder({TaskPath(task)}));  // it reads what the leftover says
  runner_->Forget(task);
  EXPECT_TRUE(Names(folder_.Path() + "/tasks").empty());
  EXPECT_TRUE(Names(folder_.Path() + "/spare").empty());
  EXPECT_EQ(RunScript("echo next").out, "next\n");
  ::kill(std::stoi(outcome.out), SIGKILL);
}

TEST_F(SpareFoldersTest, AFolderIsNotUsedAgainWhileProcessesMayHaveItsFilesOpen) {
  const auto task = Start(Script("sleep 300 >/dev/null 2>&1 3>\"$MUSTER_OUTPUT\" & echo $!"));
  const auto outcome = Await(task);
  ASSERT_TRUE(outcome.end.leftovers);
  Forget(task);  // the shim is gone: it has nothing to read from the leftover
  EXPECT_TRUE(Names(folder_.Path() + "/tasks").empty());
  EXPECT_TRUE(Names(folder_.Path() + "/spare").empty());
  ::kill(std::stoi(outcome.out), SIGKILL);
}

TEST_F(SpareFoldersTest, AFolderInWhichATaskLeftAFileIsNotUsedAgain) {
  const auto task = Start(Script("echo a=1 > \"$MUSTER_OUTPUT.tmp\""));
  EXPECT_EQ(Await(task).end.state, TaskState::kSucceeded);
  Forget(task);
  EXPECT_TRUE(Names(folder_.Path() + "/tasks").empty());
  EXPECT_TRUE(Names(folder_.Path() + "/spare").empty());
}

TEST_F(SpareFoldersTest, AFolderThatOutlivedItsAgentIsNotUsedAgain) {
  const auto task = Start(Script("echo x"));
  Await(task);
  OpenRunner();
  Forget(task);
  EXPECT_TRUE(Names(folder_.Path() + "/tasks").empty());
  EXPECT_TRUE(Names(folder_.Path() + "/spare").empty());
}

TEST_F(SpareFoldersTest, TheFileForOutputsIsUsedAgainWhenNobodyWroteToIt) {
  const auto output_after = [&](const std::string& script) {
    const auto task = Start(Script(script));
    Await(task);
    const ino_t inode = Inode(TaskPath(task) + "/output");
    Forget(task);
    return inode;
  };
  const ino_t first = output_after("true");
  EXPECT_EQ(output_after("true"), first);
  const auto spare = folder_.Path() + "/spare/" + *Names(folder_.Path() + "/spare").begin();
  EXPECT_EQ(Names(spare), (std::set<std::string>{"order", "output", "exit.old"}));

  const auto removed_after = [&](const std::string& script) {
    output_after(script);
    const auto place = folder_.Path() + "/spare/" + *Names(folder_.Path() + "/spare").begin();
    return Names(place) == std::set<std::string>{"order", "exit.old"};
  };
  EXPECT_TRUE(removed_after("echo a=1 >\"$MUSTER_OUTPUT\""));
  EXPECT_TRUE(removed_after("chmod 0666 \"$MUSTER_OUTPUT\""));
  EXPECT_TRUE(removed_after("chown 1 \"$MUSTER_OUTPUT\" || chmod 0666 \"$MUSTER_OUTPUT\""));
  EXPECT_TRUE(removed_after("ln \"$MUSTER_OUTPUT\" " + folder_.Path() + "/mine"));
}

TEST_F(SpareFoldersTest, AStartRemovesThoseOfTheAgentBefore) {
  const auto task = Start(Script("echo one"));
  Await(task);
  Forget(task);
  EXPECT_TRUE(Names(folder_.Path() + "/tasks").empty());
  EXPECT_EQ(Names(folder_.Path() + "/spare").size(), 1U);
  OpenRunner();
  EXPECT_TRUE(held_.empty());
  EXPECT_TRUE(Names(folder_.Path() + "/spare").empty());
}

TEST_F(SpareFoldersTest, ATaskThatIsThereIsAConflict) {
  SpareFolders folders;
  const std::string place = folder_.Path() + "/tasks";
  ASSERT_TRUE(folders.Open(folder_.Path() + "/spare"));
  ASSERT_TRUE(folders.Make(place + "/a", "first"));
  ASSERT_TRUE(folders.Make(place + "/b", "second"));
  folders.Remove(place + "/b");
  for (int i = 0; i < 2; ++i) {
    const auto again = folders.Make(place + "/a", "third");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  }
  EXPECT_EQ(*ReadFile(place + "/a/order"), "first");
  EXPECT_EQ(Names(place), std::set<std::string>{"a"});
}

TEST_F(SpareFoldersTest, OnlyAFewAreKept) {
  SpareFolders folders;
  const std::string place = folder_.Path() + "/tasks";
  ASSERT_TRUE(folders.Open(folder_.Path() + "/spare"));
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(folders.Make(place + "/" + std::to_string(i), std::string(5, 'x')));
  for (int i = 0; i < 200; ++i) folders.Remove(place + "/" + std::to_string(i));
  EXPECT_TRUE(Names(place).empty());
  EXPECT_EQ(Names(folder_.Path() + "/spare").size(), 128U);
  ASSERT_TRUE(folders.Make(place + "/a", "y"));
  EXPECT_EQ(Names(place + "/a"), std::set<std::string>{"order"});
  EXPECT_EQ(*ReadFile(place + "/a/order"), "y");
}

}  // namespace
}  // namespace muster::agent
