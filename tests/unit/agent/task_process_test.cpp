#include "agent/shim/task_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/eventually.hpp"

namespace muster::agent {
namespace {

// As a shim: what a task leaves behind becomes a child of this process.
class TaskProcessTest : public ::testing::Test {
 protected:
  TaskProcessTest() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~TaskProcessTest() override { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }

  static Launch Shell(const std::string& script) {
    Launch launch;
    launch.account = *FindAccount("");
    launch.argv = {"/bin/sh", "-c", script};
    launch.env = {"PATH=/usr/bin:/bin"};
    launch.folder = "/";
    return launch;
  }
  static TaskProcess::Files NoInput() {
    TaskProcess::Files files;
    files.in = OpenFile("/dev/null", O_RDONLY).value();
    return files;
  }
  // All that hold the pipe have ended.
  static bool IsClosed(const Fd& pipe) {
    char byte = 0;
    return ::read(pipe.Get(), &byte, 1) == 0;
  }
};

TEST_F(TaskProcessTest, TakesManyEndsInSeveralRoundsAndMissesNone) {
  const auto launch = Shell("i=0; while [ $i -lt 300 ]; do (true &); i=$((i+1)); done; exit 3");
  auto process = TaskProcess::Start(launch, NoInput());
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(Eventually([&] { return IsClosed(process->Out()); }));
  process->Reap();
  EXPECT_TRUE(process->MoreToReap()) << "300 ends are more than one round takes";
  EXPECT_TRUE(process->AnyLeft());
  EXPECT_TRUE(Eventually([&] {
    process->Reap();
    return !process->AnyLeft();
  }));
  EXPECT_FALSE(process->MoreToReap());
  ASSERT_TRUE(process->Status());
  EXPECT_EQ(WEXITSTATUS(*process->Status()), 3);
}

}  // namespace
}  // namespace muster::agent
