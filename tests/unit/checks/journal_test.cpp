#include "checks/journal.hpp"

#include <gtest/gtest.h>

namespace muster::checks {
namespace {

using link::MomentKind;

constexpr TaskKey kTask{RunId(12), Visit(1), 0, HostId(7), Attempt(1)};
constexpr WallTime kNow{1'800'000'000'000};

TEST(JournalLine, IsReadAsItWasWritten) {
  TaskEnd end;
  end.state = TaskState::kFailed;
  end.exit_code = 3;
  const std::string line = link::JournalLine(
      {.host = "web1", .store = "ab12", .wall = kNow, .server_now = 5000},
      {.kind = MomentKind::kEnded, .task = kTask, .term = Term(4), .session = 9, .end = &end});
  const auto entry = ParseJournalLine(line);
  ASSERT_TRUE(entry) << line;
  EXPECT_EQ(entry->what, MomentKind::kEnded);
  EXPECT_EQ(entry->host, "web1");
  EXPECT_EQ(entry->store, "ab12");
  EXPECT_EQ(entry->wall, kNow);
  EXPECT_EQ(entry->server_time, 5000);
  EXPECT_EQ(entry->term, Term(4));
  EXPECT_EQ(entry->session, 9U);
  EXPECT_EQ(entry->task, kTask);
  EXPECT_EQ(entry->start_by, 0);
  EXPECT_EQ(entry->end, (JournalEnd{.state = TaskState::kFailed, .exit_code = 3}));
}

TEST(JournalLine, TellsWhatAnOrderWasJudgedBy) {
  const std::string line =
      link::JournalLine({.host = "web1", .store = "ab12", .wall = kNow, .server_now = 5000},
                        {.kind = MomentKind::kLate,
                         .task = kTask,
                         .term = Term(4),
                         .session = 9,
                         .start_by = 4000,
                         .server_now = 4999});
  const auto entry = ParseJournalLine(line);
  ASSERT_TRUE(entry) << line;
  EXPECT_EQ(entry->start_by, 4000);
  EXPECT_EQ(entry->server_time, 4999);
}

TEST(JournalLine, OfAWelcomeHasNoTask) {
  const auto entry = ParseJournalLine(
      link::JournalLine({.host = "web1", .store = "ab12", .wall = kNow, .server_now = {}},
                        {.kind = MomentKind::kWelcomed, .term = Term(4), .session = 9}));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->task, TaskKey{});
  EXPECT_FALSE(entry->server_time);
}

TEST(JournalLine, ThatIsSomethingElseIsInvalid) {
  for (const auto* line :
       {"", "{", "7", "{}", R"({"what":"danced"})", R"({"what":"welcomed","host":1})",
        R"({"what":"started","host":"a","store":"b","wall":1,"term":1,"session":1})",
        R"({"what":"welcomed","host":"a\u001b","store":"b","wall":1,"term":1,"session":1})",
        R"({"what":"welcomed","host":"a","store":"b","wall":"1","term":1,"session":1})",
        R"({"what":"welcomed","host":"a","store":"b","wall":1,"term":-1,"session":1})",
        R"({"what":"ended","host":"a","store":"b","wall":1,"term":1,"session":1,"run":1,)"
        R"("visit":1,"ordinal":0,"host_id":1,"attempt":1,"state":"gone"})"}) {
    const auto entry = ParseJournalLine(line);
    ASSERT_FALSE(entry) << line;
    EXPECT_EQ(entry.error().code, ErrorCode::kInvalid);
  }
}

// The journal of web1: welcomed, told to start one task, which ends well; and its record.
class Journal : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  Journal() {
    Add({.what = MomentKind::kWelcomed});
    Add({.what = MomentKind::kObeyed, .server_time = 1000, .task = kTask, .start_by = 4000});
    Add({.what = MomentKind::kStarted, .server_time = 1010, .task = kTask});
    Add({.what = MomentKind::kEnded, .task = kTask, .end = kWell});
    Add({.what = MomentKind::kWelcomed});
    row_ = {.key = kTask,
            .host = "web1",
            .store = "ab12",
            .state = TaskState::kSucceeded,
            .sent_term = Term(4),
            .end = kWell,
            .started = kNow + Duration(2)};
  }

  static constexpr JournalEnd kWell{.state = TaskState::kSucceeded};

  void Add(JournalEntry entry) {
    if (entry.host.empty()) entry.host = "web1";
    if (entry.store.empty()) entry.store = "ab12";
    if (!entry.wall) entry.wall = kNow + Duration(static_cast<std::int64_t>(lines_.size()));
    if (!entry.term) entry.term = Term(4);
    if (entry.session == 0) entry.session = 9;
    lines_.push_back(std::move(entry));
  }

  JournalChecker Check() {
    JournalChecker checker(100);
    for (const auto& line : lines_) checker.Read(line, "web1.jsonl");
    for (const auto& line : other_) checker.Read(line, "other.jsonl");
    if (row_.key.run) checker.Take(row_);
    checker.RunRead(RunId(12));
    checker.Finish();
    return checker;
  }
  Lines Found() {
    Lines lines;
    for (const auto& finding : Check().findings().list())
      lines.push_back(fmt::format("{} {}", Name(finding.kind), FormatTaskKey(finding.task)));
    return lines;
  }

  std::vector<JournalEntry> lines_;
  std::vector<JournalEntry> other_;
  JournalRow row_;
};

TEST_F(Journal, ThatAgreesWithTheRecordHasNoFindings) {
  const JournalChecker checker = Check();
  EXPECT_TRUE(checker.findings().list().empty());
  EXPECT_EQ(checker.lines(), 5U);
  EXPECT_EQ(checker.starts(), 1U);
  EXPECT_EQ(checker.nodes(), 1U);
}

TEST_F(Journal, SecondStartIsDoubled) {
  Add(lines_[2]);
  EXPECT_EQ(Found(), (Lines{"doubled r12/1/0/h7/1"}));
}

TEST_F(Journal, StartInAnotherJournalIsDoubled) {
  other_.push_back(lines_[2]);
  other_.back().store = "cd34";
  EXPECT_EQ(Found(), (Lines{"doubled r12/1/0/h7/1"}));
}

TEST_F(Journal, OrderThatIsObeyedAgainIsWell) {
  lines_.insert(lines_.begin() + 1, lines_[1]);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, StartWithoutARecordIsStray) {
  row_ = {};
  EXPECT_EQ(Found(), (Lines{"stray r12/1/0/h7/1"}));
}

TEST_F(Journal, RunsThatNobodyReadAreNotJudged) {
  Add({.what = MomentKind::kStarted, .task = {RunId(13), Visit(1), 0, HostId(7), Attempt(1)}});
  EXPECT_EQ(Found(), Lines{});
  EXPECT_EQ(Check().Unread(kNow, kNow + Duration(60'000)), std::set{RunId(13)});
  EXPECT_TRUE(Check().Unread(kNow + Duration(50'000), kNow + Duration(60'000)).empty());
}

TEST_F(Journal, StartOnAnotherHostIsStray) {
  row_.host = "web2";
  EXPECT_EQ(Found(), (Lines{"stray r12/1/0/h7/1"}));
}

TEST_F(Journal, StartFromAnotherDataFolderIsStray) {
  row_.store = "cd34";
  EXPECT_EQ(Found(), (Lines{"stray r12/1/0/h7/1"}));
}

TEST_F(Journal, OrderOfAnOlderTermIsFound) {
  lines_[0].term = Term(5);
  EXPECT_EQ(Found(), (Lines{"terms r12/1/0/h7/1"}));
}

TEST_F(Journal, OrderOfAnOlderSessionIsFound) {
  lines_[0].session = 10;
  EXPECT_EQ(Found(), (Lines{"terms r12/1/0/h7/1"}));
}

TEST_F(Journal, OrderOlderThanItsRecordIsFound) {
  row_.sent_term = Term(5);
  EXPECT_EQ(Found(), (Lines{"terms r12/1/0/h7/1"}));
}

TEST_F(Journal, FilesInAnotherOrderAreWell) {
  other_ = std::move(lines_);
  lines_.clear();
  Add({.what = MomentKind::kWelcomed, .term = Term(8), .session = 20});
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, OrderThatWasSentAgainInALaterTermIsWell) {
  for (auto& line : lines_) line.term = Term(6);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, OrderObeyedAfterItsTimeIsLate) {
  lines_[1].server_time = 4001;
  EXPECT_EQ(Found(), (Lines{"late r12/1/0/h7/1"}));
}

TEST_F(Journal, StartLongAfterItsTimeIsLate) {
  lines_[2].server_time = 9001;
  EXPECT_EQ(Found(), (Lines{"late r12/1/0/h7/1"}));
  lines_[2].session = 10;  // told by another server's clock
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, RecordThatTheJournalOfItsTimeDoesNotKnowIsLost) {
  lines_.erase(lines_.begin() + 1, lines_.begin() + 4);
  EXPECT_EQ(Found(), (Lines{"lost r12/1/0/h7/1"}));
}

TEST_F(Journal, RecordOfAnotherTimeIsNotLost) {
  lines_.erase(lines_.begin() + 1, lines_.begin() + 4);
  row_.started = kNow + -Duration(1000);
  EXPECT_EQ(Found(), Lines{});
  row_.started = kNow + Duration(1000);
  EXPECT_EQ(Found(), Lines{});
}

// A crash between the order and the start: the shim may have been there.
TEST_F(Journal, OrderWithoutAStartIsEnough) {
  lines_.erase(lines_.begin() + 2, lines_.begin() + 4);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, RecordThatSaysItDidNotRunIsFound) {
  row_.state = TaskState::kUnreachable;
  row_.end.reset();
  EXPECT_EQ(Found(), (Lines{"outcome r12/1/0/h7/1"}));
}

TEST_F(Journal, RecordThatIsLostContradictsNothing) {
  row_.state = TaskState::kLost;
  row_.end.reset();
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, AnotherExitCodeIsFound) {
  row_.end = JournalEnd{.state = TaskState::kFailed, .exit_code = 1};
  EXPECT_EQ(Found(), (Lines{"outcome r12/1/0/h7/1"}));
}

TEST_F(Journal, EndThatWasFoundAfterARestartCounts) {
  lines_[3].what = MomentKind::kFound;
  lines_[3].end->exit_code = 1;
  EXPECT_EQ(Found(), (Lines{"outcome r12/1/0/h7/1"}));
}

TEST_F(Journal, EndThatANodeForgotContradictsNothing) {
  lines_.insert(lines_.begin() + 4, lines_[3]);
  lines_[4].what = MomentKind::kFound;
  lines_[4].end = JournalEnd{.state = TaskState::kLost};
  EXPECT_EQ(Found(), Lines{});
  row_.end = JournalEnd{.state = TaskState::kLost};
  row_.state = TaskState::kLost;
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(Journal, RefusalsAreCounted) {
  for (const auto what : {MomentKind::kLate, MomentKind::kStale, MomentKind::kRefused})
    Add({.what = what, .task = {RunId(13), Visit(1), 0, HostId(7), Attempt(1)}});
  EXPECT_EQ(Found(), Lines{});
  EXPECT_EQ(Check().refusals(), 3U);
}

}  // namespace
}  // namespace muster::checks
