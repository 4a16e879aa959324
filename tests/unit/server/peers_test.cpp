#include <gtest/gtest.h>

#include "server/peers/peer_frames.hpp"

namespace muster::server {
namespace {

constexpr HostId kPeerHost(7);
constexpr TaskKey kPeerTask{RunId(12), Visit(1), 3, kPeerHost, Attempt(2)};

engine::NodeReports SomeReports(std::size_t count) {
  engine::NodeReports reports;
  reports.link = LinkId(5);
  reports.session = 9;
  for (std::size_t i = 0; i < count; ++i) {
    link::Report report{
        .task = kPeerTask, .kind = link::ReportKind::kStarted, .end = {}, .log = {}};
    report.task.ordinal = static_cast<std::uint32_t>(i);
    reports.reports.push_back({report, std::nullopt});
  }
  return reports;
}

template <typename T>
T OnlyItem(FollowerFrames& frames) {
  const auto sent = frames.Take();
  EXPECT_EQ(sent.size(), 1U);
  auto items = DecodeFollowerFrame(sent.front());
  EXPECT_TRUE(items) << items.error().message;
  EXPECT_EQ(items->size(), 1U);
  return std::get<T>(std::move(items->front()));
}

TEST(PeerFramesTest, HelloKeepsWhatTheLeaderCannotKnow) {
  engine::NodeHello hello;
  hello.link = LinkId(5);
  hello.key = "key";
  hello.address = "10.0.0.7:5";
  hello.hello.session = 4;
  hello.hello.tasks = {{.task = kPeerTask, .state = link::HeldState::kRunning, .end = {}}};
  hello.looked = {{std::nullopt, 4096}};
  FollowerFrames frames;
  frames.Add(hello);
  const auto got = OnlyItem<engine::NodeHello>(frames);
  EXPECT_EQ(got.link, hello.link);
  EXPECT_EQ(got.key, hello.key);
  EXPECT_EQ(got.address, hello.address);
  EXPECT_EQ(got.hello, hello.hello);
  ASSERT_EQ(got.looked.size(), 1U);
  EXPECT_EQ(got.looked.front().durable_log, 4096U);
}

TEST(PeerFramesTest, ServersSayWhereTheyAreAndWhichCasTheyTrust) {
  FollowerFrames frames;
  frames.Add(FollowerHello{"s2", "0.1.0", "https://s2:8440", {"new", "old"}});
  const auto hello = OnlyItem<FollowerHello>(frames);
  EXPECT_EQ(hello.url, "https://s2:8440");
  EXPECT_EQ(hello.cas, (std::vector<std::string>{"new", "old"}));

  const ClusterFacts facts{.servers = {{"s1", "https://s1:8440", {"new", "old"}}, {"s2", "", {}}},
                           .hosts = {{"old", "both", 7, "h1"}}};
  LeaderFrames answers;
  answers.Add(LeaderBeat{.echo = {1}, .now = {2}, .wall = {3}, .cluster = facts});
  answers.Add(LeaderBeat{.echo = {1}, .now = {2}});
  const auto items = DecodeLeaderFrame(answers.Take().front());
  ASSERT_TRUE(items);
  EXPECT_EQ(std::get<LeaderBeat>(items->at(0)).cluster, facts);
  EXPECT_FALSE(std::get<LeaderBeat>(items->at(1)).cluster);
}

TEST(PeerFramesTest, TimesThatCannotBeAreRefused) {
  const auto refuses = [](const FollowerItem& item) {
    FollowerFrames frames;
    frames.Add(item);
    const auto items = DecodeFollowerFrame(frames.Take().front());
    return !items && items.error().code == ErrorCode::kInvalid;
  };
  for (const std::int64_t time : {INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(refuses(FollowerBeat{MonoTime{time}}));
    EXPECT_TRUE(refuses(FollowerBeat{MonoTime{1}, Duration(time)}));
    for (const LeaderBeat& beat :
         {LeaderBeat{.echo = {time}, .now = {2}}, LeaderBeat{.echo = {1}, .now = {time}},
          LeaderBeat{.echo = {1}, .now = {2}, .wall = {time}}}) {
      LeaderFrames frames;
      frames.Add(beat);
      const auto items = DecodeLeaderFrame(frames.Take().front());
      ASSERT_FALSE(items);
      EXPECT_EQ(items.error().code, ErrorCode::kInvalid);
    }
  }
  EXPECT_TRUE(refuses(engine::LinkClosed{LinkId(1), Duration::max()}));
}

TEST(PeerFramesTest, BeatsCarryClocks) {
  FollowerFrames frames;
  frames.Add(FollowerBeat{MonoTime{17}, Duration(-3'600'000)});
  const auto beat = OnlyItem<FollowerBeat>(frames);
  EXPECT_EQ(beat.sent_at, MonoTime{17});
  EXPECT_EQ(beat.clock_ahead, Duration(-3'600'000));
  frames.Add(FollowerBeat{MonoTime{17}});
  EXPECT_FALSE(OnlyItem<FollowerBeat>(frames).clock_ahead) << "nothing is known yet";
  frames.Add(FollowerBeat{MonoTime{17'000}, {}, {{HostId(3), MonoTime{16'500}}}});
  const auto heard = OnlyItem<FollowerBeat>(frames).heard;
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard.front().host, HostId(3));
  EXPECT_EQ(heard.front().at, MonoTime{16'500});
  LeaderFrames answers;
  answers.Add(LeaderBeat{MonoTime{17}, MonoTime{5}, WallTime{1'700'000'000'123}});
  const auto items = DecodeLeaderFrame(answers.Take().front());
  ASSERT_TRUE(items);
  EXPECT_EQ(std::get<LeaderBeat>(items->front()).wall, WallTime{1'700'000'000'123});
}

TEST(PeerFramesTest, ReportsKeepTheMarksOfTheirLogs) {
  auto reports = SomeReports(3);
  reports.reports[1].mark = LogMark{.state = LogState::kCut,
                                    .bytes = 5,
                                    .stdout_sha256 = std::string(32, 'a'),
                                    .stderr_sha256 = std::string(32, 'b')};
  FollowerFrames frames;
  frames.Add(reports);
  const auto got = OnlyItem<engine::NodeReports>(frames);
  EXPECT_EQ(got.session, 9U);
  ASSERT_EQ(got.reports.size(), 3U);
  EXPECT_EQ(got.reports[1].report, reports.reports[1].report);
  EXPECT_EQ(got.reports[1].mark, reports.reports[1].mark);
  EXPECT_FALSE(got.reports[0].mark);
  EXPECT_FALSE(got.reports[2].mark);
}

TEST(PeerFramesTest, ItemsKeepTheirOrderOverSeveralFrames) {
  FollowerFrames frames;
  constexpr std::uint64_t kItems = 400;
  for (std::uint64_t i = 0; i < kItems; ++i) {
    frames.Add(SomeReports(200));
    frames.Add(engine::LinkClosed{LinkId(i), Duration(i)});
  }
  const auto sent = frames.Take();
  EXPECT_GT(sent.size(), 1U);
  std::uint64_t closed = 0;
  for (const auto& bytes : sent) {
    EXPECT_LT(bytes.size(), link::kMaxFrameBytes);
    const auto items = DecodeFollowerFrame(bytes);
    ASSERT_TRUE(items);
    for (const auto& item : *items)
      if (const auto* one = std::get_if<engine::LinkClosed>(&item)) {
        EXPECT_EQ(one->silent, Duration(closed));
        EXPECT_EQ(one->link.value, closed++);
      }
  }
  EXPECT_EQ(closed, kItems);
  EXPECT_TRUE(frames.Take().empty());
}

TEST(PeerFramesTest, OrdersReachTheFollower) {
  Links::Outgoing outgoing;
  outgoing.link = LinkId(3);
  outgoing.frame.forgets = {kPeerTask};
  LeaderFrames frames;
  const link::TermTicket ticket{"cluster", Term(8), "s1", std::string("\0sig", 4)};
  frames.Add(LeaderWelcome{Term(8), ticket});
  frames.Add(outgoing);
  frames.Add(CloseLink{LinkId(3)});
  frames.Add(DrainOrder{true});
  const auto items = DecodeLeaderFrame(frames.Take().front());
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 4U);
  EXPECT_EQ(std::get<LeaderWelcome>((*items)[0]).term, Term(8));
  EXPECT_EQ(std::get<LeaderWelcome>((*items)[0]).ticket, ticket);
  EXPECT_EQ(std::get<Links::Outgoing>((*items)[1]).frame.forgets, std::vector{kPeerTask});
  EXPECT_EQ(std::get<CloseLink>((*items)[2]).link, LinkId(3));
  EXPECT_TRUE(std::get<DrainOrder>((*items)[3]).wanted);
}

TEST(PeerFramesTest, GarbageIsRefused) {
  EXPECT_FALSE(DecodeFollowerFrame("\xff\xff\xff"));
  EXPECT_FALSE(DecodeLeaderFrame("\xff\xff\xff"));
  // An item that says nothing.
  EXPECT_FALSE(DecodeFollowerFrame(std::string("\x0a\x00", 2)));
  EXPECT_FALSE(DecodeLeaderFrame(std::string("\x0a\x00", 2)));
}

}  // namespace
}  // namespace muster::server
