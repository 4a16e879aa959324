// How a task is started: program, arguments, environment, user, and what is refused.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

class ShimStart : public RunnerTest {};

TEST_F(ShimStart, ExitZeroSucceeds) {
  const auto outcome = RunScript("echo hello");
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_EQ(outcome.end.exit_code, 0);
  EXPECT_EQ(outcome.out, "hello\n");
  EXPECT_FALSE(outcome.end.leftovers);
  EXPECT_TRUE(outcome.end.started);
  EXPECT_GE(outcome.end.ended, outcome.end.started);
}

TEST_F(ShimStart, ExitCodeIsReported) {
  const auto outcome = RunScript("exit 42");
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.exit_code, 42);
  EXPECT_EQ(outcome.end.signal, 0);
}

TEST_F(ShimStart, SignalOfItsOwnIsAFailure) {
  const auto outcome = RunScript("kill -SEGV $$");
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.signal, SIGSEGV);
}

TEST_F(ShimStart, WordsAreExecutedWithoutAShell) {
  Command command;
  command.argv = {"printf", "%s|", "a b", "$HOME", "it's \"quoted\"", "", "*"};
  EXPECT_EQ(Run(command).out, "a b|$HOME|it's \"quoted\"||*|");
}

TEST_F(ShimStart, ScriptGetsItsArguments) {
  Command command = Script("printf '%s|' \"$@\"");
  command.args = {"a b", "it's", "\"x\"", "$y"};
  EXPECT_EQ(Run(command).out, "a b|it's|\"x\"|$y|");
}

TEST_F(ShimStart, ShebangIsObeyed) {
  EXPECT_EQ(RunScript("#!/usr/bin/env -S cat -n\nx\n").out,
            "     1\t#!/usr/bin/env -S cat -n\n     2\tx\n");
}

TEST_F(ShimStart, InterpreterWinsOverShebang) {
  Command command = Script("#!/bin/false\necho via $0");
  command.interpreter = "sh -e";
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_TRUE(outcome.out.starts_with("via script")) << outcome.out;
}

TEST_F(ShimStart, EnvironmentIsClean) {
  ::setenv("LEAKED_FROM_AGENT", "1", 1);
  Command command;
  command.argv = {"env"};
  command.env = {{"COLOUR", "blue and green"}, {"LANG", "C"}};
  const auto outcome = Run(command);
  ::unsetenv("LEAKED_FROM_AGENT");
  std::vector<std::string> names;
  for (const auto line : Split(Trim(outcome.out), '\n'))
    names.emplace_back(line.substr(0, line.find('=')));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"COLOUR", "HOME", "LANG", "LOGNAME", "MUSTER_HOST",
                                             "MUSTER_OUTPUT", "MUSTER_RUN", "MUSTER_STAGE", "PATH",
                                             "SHELL", "USER"}));
  EXPECT_NE(outcome.out.find("COLOUR=blue and green\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("LANG=C\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("MUSTER_RUN=r1\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("MUSTER_STAGE=main\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("MUSTER_HOST=web01\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"),
            std::string::npos);
}

TEST_F(ShimStart, FolderUmaskAndSessionAreItsOwn) {
  Command command = Script("pwd; umask; ls /proc/self/fd | wc -l; cut -d' ' -f1,5,6 /proc/$$/stat");
  command.folder = folder_.Path();
  const auto outcome = Run(command);
  std::istringstream lines(outcome.out);
  std::string pwd;
  std::string umask;
  int descriptors = 0;
  pid_t pid = 0;
  pid_t group = 0;
  pid_t session = 0;
  lines >> pwd >> umask >> descriptors >> pid >> group >> session;
  EXPECT_EQ(pwd, folder_.Path());
  EXPECT_EQ(umask, "0022");
  EXPECT_EQ(descriptors, 4) << "0, 1, 2 and the one ls reads the folder with";
  EXPECT_EQ(group, pid);
  EXPECT_EQ(session, pid);
}

TEST_F(ShimStart, HomeIsTheFolderUnlessToldOtherwise) {
  Command command = Script("cd \"$HOME\" && pwd -P && cd - >/dev/null && pwd -P");
  command.folder.clear();
  const auto outcome = Run(command);
  const auto lines = Split(outcome.out, '\n');
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0], lines[1]);
}

TEST_F(ShimStart, StdinIsEmptyUnlessGiven) {
  EXPECT_EQ(RunScript("cat; readlink /proc/self/fd/0").out, "/dev/null\n");
  Command command = Script("cat");
  command.stdin_data = std::string("given\0bytes", 11);
  EXPECT_EQ(Run(command).out, std::string("given\0bytes", 11));
}

TEST_F(ShimStart, SignalsAreAsAfterLogin) {
  const auto outcome = RunScript("grep -E '^Sig(Blk|Ign):' /proc/self/status");
  EXPECT_EQ(outcome.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ShimStart, FileWithoutShebangIsAShellScript) {
  const std::string path = folder_ / "plain";
  ASSERT_TRUE(WriteFile(path, "echo plain $1\n", 0755));
  Command command;
  command.argv = {path, "file"};
  EXPECT_EQ(Run(command).out, "plain file\n");
}

// A lease holds up whoever opens the file until its holder gives it back, as a dead network file
// system does.
TEST_F(ShimStart, OneThatHangsBeforeItIsTheTaskCanBeEnded) {
  const std::string program = folder_.Path() + "/program";
  ASSERT_TRUE(WriteFile(program, "#!/bin/sh\n", 0700));
  const auto holder = OpenFile(program, O_RDWR);
  ASSERT_TRUE(holder);
  const auto before = ::signal(SIGIO, SIG_IGN);  // by which the kernel asks for it back
  ASSERT_EQ(::fcntl(holder->Get(), F_SETLEASE, F_WRLCK), 0) << ErrnoText(errno);
  Command command;
  command.argv = {program};
  command.timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(Run(command).end.state, TaskState::kTimedOut);
  command.timeout = {};
  const auto task = Start(command);
  ASSERT_TRUE(WaitFor([&] { return Exists(TaskPath(task) + "/output"); }));
  runner_->Kill(task, {});
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
  ::fcntl(holder->Get(), F_SETLEASE, F_UNLCK);
  ::signal(SIGIO, before);
}

TEST_F(ShimStart, OtherUserIsReallySwitchedTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Command command = Script("id -un; id -gn; id -G; echo $HOME $USER; ls -ld \"$0\" | cut -c1-10");
  command.user = "daemon";
  command.folder.clear();
  const auto outcome = Run(command);
  const auto account = FindAccount("daemon");
  ASSERT_TRUE(account);
  std::string groups;
  for (const gid_t group : account->groups)
    groups += (groups.empty() ? "" : " ") + std::to_string(group);
  EXPECT_EQ(outcome.out, "daemon\ndaemon\n" + groups + "\n/usr/sbin daemon\n-rwx------\n");
}

TEST_F(ShimStart, ScriptIsReadableForItsUserBehindAClosedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chmod(folder_.Path().c_str(), 0700), 0);
  Command command = Script("#!/bin/sh\nid -un; echo \"$1\"");
  command.user = "nobody";
  command.folder.clear();
  command.args = {"argument"};
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded) << outcome.end.reason << outcome.err;
  EXPECT_EQ(outcome.out, "nobody\nargument\n");
}

TEST_F(ShimStart, ScriptIsReadableThereForAnInterpreterThatIsAScript) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const TempFolder open;
  const std::string interpreter = open / "plain";
  ASSERT_TRUE(WriteFile(interpreter, "cat \"$1\"\n", 0755));
  ASSERT_EQ(::chmod(folder_.Path().c_str(), 0700), 0);
  Command command = Script("some words");
  command.interpreter = interpreter;
  command.user = "nobody";
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.out, "some words") << outcome.end.reason << outcome.err;
}

// What never ran, and the words for it.
struct Refusal {
  const char* name;
  Command command;
  const char* reason;
};

std::vector<Refusal> Refusals() {
  std::vector<Refusal> refusals;
  const auto add = [&](const char* name, const char* reason, auto change) {
    Command command;
    command.script = "echo ran";
    command.folder = "/";
    change(command);
    refusals.push_back({name, command, reason});
  };
  add("UnknownUser", "user 'no-such-user' does not exist on this host",
      [](Command& command) { command.user = "no-such-user"; });
  add("MissingInterpreter", "interpreter 'python9' not found on this host",
      [](Command& command) { command.interpreter = "python9"; });
  add("MissingAbsoluteInterpreter", "interpreter '/opt/none' not found on this host",
      [](Command& command) { command.interpreter = "/opt/none -x"; });
  add("MissingShebang", "interpreter '/opt/none' not found on this host",
      [](Command& command) { command.script = "#!/opt/none -x\n"; });
  add("MissingFolder", "folder '/no/such/folder' does not exist on this host",
      [](Command& command) { command.folder = "/no/such/folder"; });
  add("MissingCommand", "command 'no-such-command' not found on this host", [](Command& command) {
    command.script.clear();
    command.argv = {"no-such-command"};
  });
  return refusals;
}

TEST_F(ShimStart, WhatCannotRunIsRefusedInWords) {
  for (const auto& refusal : Refusals()) {
    SCOPED_TRACE(refusal.name);
    const auto outcome = Run(refusal.command);
    EXPECT_EQ(outcome.end.state, TaskState::kRefused);
    EXPECT_EQ(outcome.end.reason, refusal.reason);
    EXPECT_EQ(outcome.out, "");
    ASSERT_TRUE(outcome.end.log);
    EXPECT_EQ(outcome.end.log->stdout_sha256, kEmptySha256);
  }
}

TEST_F(ShimStart, FileThatIsNotExecutableIsRefused) {
  const std::string path = folder_ / "data";
  ASSERT_TRUE(WriteFile(path, "echo no\n", 0644));
  Command command;
  command.argv = {path};
  EXPECT_EQ(Run(command).end.state, TaskState::kRefused);
}

TEST_F(ShimStart, OrderThatNoHostCanRunIsInvalid) {
  const auto code = [&](auto change) {
    Command command = Script("echo ran");
    change(command);
    const auto started = runner_->Start(MakeOrder(command));
    return started ? ErrorCode::kInternal : started.error().code;
  };
  EXPECT_EQ(code([](Command& command) { command.script.clear(); }), ErrorCode::kInvalid);
  EXPECT_EQ(code([](Command& command) { command.argv = {"both"}; }), ErrorCode::kInvalid);
  EXPECT_EQ(code([](Command& command) { command.args = {std::string("a\0b", 3)}; }),
            ErrorCode::kInvalid);
  EXPECT_EQ(code([](Command& command) { command.env = {{"A=B", "c"}}; }), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::agent
