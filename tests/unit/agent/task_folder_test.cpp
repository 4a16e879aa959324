#include "agent/tasks/task_folder.hpp"

#include <gtest/gtest.h>

#include "agent/shim/launch.hpp"
#include "agent/shim/processes.hpp"
#include "agent/shim/shim_lock.hpp"
#include "link/codec/codec.hpp"
#include "temp_folder.hpp"

namespace muster::agent {
namespace {

const TaskKey kTask{MakeRunId(1, 1043), Visit(2), 30, HostId(7), Attempt(4)};

TaskEnd SomeEnd() {
  TaskEnd end;
  end.state = TaskState::kFailed;
  end.exit_code = 3;
  end.reason = "because";
  end.leftovers = true;
  end.started = {1};
  end.ended = {2};
  end.log = LogTotals{.bytes = 5,
                      .dropped = 6,
                      .gap = true,
                      .stdout_sha256 = kEmptySha256,
                      .stderr_sha256 = std::string(32, 'x')};
  return end;
}

TEST(TaskFolderName, ComesBackAsItWas) {
  EXPECT_EQ(FolderName(kTask), "r1.1043-2-30-h7-4");
  EXPECT_EQ(ParseFolderName("r1.1043-2-30-h7-4"), kTask);
}

TEST(TaskFolderName, RefusesOtherNames) {
  for (const auto* name : {"", "lost+found", "r1-2-3-4-5", "r1-2-3-h4", "r1-2-3-h4-5-6",
                           "r1-02-3-h4-5", "forgotten-r1-2-3-h4-5", "r1-2-3-h4-x", "1-2-3-h4-5"})
    EXPECT_FALSE(ParseFolderName(name)) << name;
}

TEST(OrderRecord, ComesBackAsItWas) {
  link::Order order;
  order.task = kTask;
  order.stage = "main";
  Command command;
  command.script = "echo x";
  order.command = std::make_shared<const Command>(command);
  const auto record = ParseOrderRecord(EncodeOrderRecord("boot-1", order));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->boot, "boot-1");
  EXPECT_EQ(record->order.task, kTask);
  EXPECT_EQ(*record->order.command, command);
}

TEST(OrderRecord, DamagedOneIsInvalid) {
  for (const auto* bytes :
       {"", "muster order 1\n", "muster order 1\nboot", "something else\nboot\n"})
    EXPECT_EQ(ParseOrderRecord(bytes).error().code, ErrorCode::kInvalid) << bytes;
}

TEST(ExitRecord, ComesBackAsItWas) {
  EXPECT_EQ(ParseExitRecord(kTask, EncodeExitRecord(kTask, SomeEnd())).value(), SomeEnd());
}

TEST(ExitRecord, OfAnotherTaskIsInvalid) {
  TaskKey other = kTask;
  other.attempt = Attempt(kTask.attempt.value + 1);
  const auto parsed = ParseExitRecord(other, EncodeExitRecord(kTask, SomeEnd()));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
}

TEST(ExitRecord, OfAnOlderShimNamesNoTask) {
  const auto body = link::EncodeTaskEnd(SomeEnd());
  const auto record = fmt::format("muster exit 1\n{}\n{}", body.size(), body);
  EXPECT_EQ(ParseExitRecord(kTask, record).value(), SomeEnd());
}

TEST(ExitRecord, CanBeReadByAnOlderAgent) {
  const auto record = EncodeExitRecord(kTask, SomeEnd());
  const auto body = record.substr(record.find('\n', record.find('\n') + 1) + 1);
  EXPECT_EQ(link::DecodeTaskEnd(body).value(), SomeEnd());
}

TEST(ExitRecord, TornOneIsInvalid) {
  const auto bytes = EncodeExitRecord(kTask, SomeEnd());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ParseExitRecord(kTask, bytes.substr(0, size))) << size;
  EXPECT_FALSE(ParseExitRecord(kTask, std::string(bytes.size(), '\0')));
}

TEST(ExitRecord, ZeroBytesBehindItAreItsRoomAndOthersDamage) {
  const auto bytes = EncodeExitRecord(kTask, SomeEnd());
  EXPECT_EQ(ParseExitRecord(kTask, bytes + std::string(4096 - bytes.size(), '\0')).value(),
            SomeEnd());
  EXPECT_FALSE(ParseExitRecord(kTask, bytes + std::string(10, '\0') + "x"));
}

TEST(ExitRecord, ReasonIsBoundedText) {
  auto end = SomeEnd();
  end.reason = "folder '\xff' " + std::string(5000, 'x');
  const auto parsed = ParseExitRecord(kTask, EncodeExitRecord(kTask, end));
  ASSERT_TRUE(parsed);
  EXPECT_LE(parsed->reason.size(), 1000U);
  EXPECT_TRUE(parsed->reason.starts_with("folder '?' x"));
}

TEST(KillWish, ComesBackAsItWas) {
  EXPECT_EQ(ParseKillWish(EncodeKillWish(Duration(2500))), Duration(2500));
  EXPECT_EQ(ParseKillWish("-5"), Duration(0));
  EXPECT_FALSE(ParseKillWish(""));
  EXPECT_FALSE(ParseKillWish("soon"));
}

TEST(TaskLock, IsFreeWhenNobodyHoldsIt) {
  const TempFolder temp;
  const TaskFolder folder{temp.Path()};
  EXPECT_FALSE(LockHolder(folder));
  EXPECT_TRUE(TakeLock(folder));
  EXPECT_FALSE(LockHolder(folder));
}

TEST(Shebang, IsReadAsTheKernelDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ParseShebang("#!/bin/sh\necho"), Words{"/bin/sh"});
  EXPECT_EQ(ParseShebang("#! /usr/bin/env  python3 -u \nx"), (Words{"/usr/bin/env", "python3 -u"}));
  EXPECT_EQ(ParseShebang("#!/bin/sh"), Words{"/bin/sh"});
  EXPECT_EQ(ParseShebang("#!/bin/sh\r\necho"), Words{"/bin/sh"});
  EXPECT_EQ(ParseShebang("#!\necho"), Words{});
  EXPECT_EQ(ParseShebang("echo #!/bin/sh"), Words{});
}

TEST(ProcStat, SurvivesAnyProgramName) {
  EXPECT_EQ(ParseStat("12 (a) b ( R) S 3 4 5 0"), (Process{12, 3, 4, false}));
  EXPECT_EQ(ParseStat("12 (x) Z 3 4 5"), (Process{12, 3, 4, true}));
  const auto whole =
      ParseStat("12 (x) S 3 4 5 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 567890 1000 2 3");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->started, 567890U);
  EXPECT_FALSE(ParseStat(""));
  EXPECT_FALSE(ParseStat("12 (x"));
  EXPECT_FALSE(ParseStat("12 (x) S"));
}

}  // namespace
}  // namespace muster::agent
