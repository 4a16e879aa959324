#include "server/traces/trace_sender.hpp"

#include <filesystem>
#include <fstream>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/fake_server_actions.hpp"
#include "support/temp_folder.hpp"
#include "unit/server_traces/recorded_runs.hpp"

namespace muster::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What the collector says and what it was told. Outlives the sender.
class Collector {
 public:
  // Statuses of the next answers; afterwards 200. Zero never answers.
  void SayNext(std::vector<std::uint16_t> statuses) {
    base::Lock lock(mutex_);
    next_.assign(statuses.begin(), statuses.end());
  }
  std::optional<outside::Answer> Answer(const outside::Request& request) {
    base::Lock lock(mutex_);
    ++asked_;
    headers_ = request.headers;
    std::uint16_t status = 200;
    if (!next_.empty()) {
      status = next_.front();
      next_.pop_front();
    }
    if (status == 0) return std::nullopt;
    if (status == 200) Keep(request.body);
    return outside::Answer{.status = status, .body = "{}"};
  }
  // The runs it took, in order.
  std::vector<std::string> Runs() const {
    base::Lock lock(mutex_);
    return runs_;
  }
  std::size_t Asked() const {
    base::Lock lock(mutex_);
    return asked_;
  }
  auto Headers() const {
    base::Lock lock(mutex_);
    return headers_;
  }

 private:
  void Keep(const std::string& body) REQUIRES(mutex_) {
    const auto told = boost::json::parse(body);
    for (const auto& span :
         told.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array())
      for (const auto& attribute : span.at("attributes").as_array())
        if (attribute.at("key") == "muster.run")
          runs_.emplace_back(attribute.at("value").at("stringValue").as_string());
  }

  mutable base::Mutex mutex_;
  std::deque<std::uint16_t> next_ GUARDED_BY(mutex_);
  std::vector<std::string> runs_ GUARDED_BY(mutex_);
  std::size_t asked_ GUARDED_BY(mutex_) = 0;
  decltype(outside::Request::headers) headers_ GUARDED_BY(mutex_);
};

// Each request is sent at once, by whoever starts it.
class AtOnce final : public ServerActions {
 public:
  explicit AtOnce(Collector& collector)
      : fake_([&collector](const outside::Request& request) { return collector.Answer(request); },
              *outside::Rules::Parse({"0.0.0.0/0"}, {}), *outside::ParseAddress("127.0.0.1")) {}

  void Start(const TaskKey& task, ServerAction action, Done done) override {
    base::Lock lock(mutex_);
    fake_.Start(task, std::move(action), std::move(done));
    fake_.Step();
  }
  void Cancel(const TaskKey& task) override {
    base::Lock lock(mutex_);
    fake_.Cancel(task);
  }
  void Stop() override {
    base::Lock lock(mutex_);
    fake_.Stop();
  }
  void Expire() {
    base::Lock lock(mutex_);
    fake_.Expire();
  }

 private:
  base::Mutex mutex_;
  FakeServerActions fake_ GUARDED_BY(mutex_);
};

class TraceSenderTest : public testing::Test, protected RecordedRuns {
 protected:
  TraceSettings Settings() const { return {.url = "http://collector:4318/v1/traces"}; }

  // A run is on record, and its end is told.
  void End(const muster::Run& run) {
    Put(run, {MakeVisit(1, "s")}, {});
    sender_.Take({engine::RunNews{
        .run = run.id, .state = run.state, .whole = std::make_shared<const muster::Run>(run)}});
  }
  bool Comes(std::uint64_t sent, std::uint64_t dropped) {
    return Eventually([&] {
      const auto counts = sender_.Count();
      return counts.sent == sent && counts.dropped == dropped && counts.queued == 0;
    });
  }

  Collector collector_;
  AtOnce* actions_ = nullptr;  // the sender's
  TraceSender sender_{store, "s1", [this](const TraceSettings&) {
                        auto actions = std::make_unique<AtOnce>(collector_);
                        actions_ = actions.get();
                        return Result<std::unique_ptr<ServerActions>>(std::move(actions));
                      }};
};

TEST_F(TraceSenderTest, TellsOfEachRunThatEnded) {
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  End(MakeRun(2, 1));
  muster::Run open = MakeRun(3, 1);
  open.state = RunState::kRunning;
  End(open);
  EXPECT_TRUE(Comes(2, 0));
  EXPECT_THAT(collector_.Runs(), ElementsAre("r1", "r2"));
  EXPECT_EQ(sender_.Count().trouble, "");
}

TEST_F(TraceSenderTest, WithoutAnAddressNobodyIsTold) {
  ASSERT_TRUE(sender_.Use({.url = ""}));
  EXPECT_FALSE(sender_.On());
  End(MakeRun(1, 1));
  EXPECT_EQ(sender_.Count().queued, 0U);
}

TEST_F(TraceSenderTest, TriesAgainWhatTheCollectorCannotTakeNow) {
  collector_.SayNext({503});
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  EXPECT_TRUE(Eventually([&] { return !sender_.Count().trouble.empty(); }));
  EXPECT_THAT(sender_.Count().trouble, HasSubstr("503"));
  EXPECT_TRUE(Comes(1, 0));
  EXPECT_EQ(sender_.Count().trouble, "");
}

TEST_F(TraceSenderTest, TriesAgainWhatWasNotAnswered) {
  collector_.SayNext({0});
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  ASSERT_TRUE(Eventually([&] { return collector_.Asked() == 1; }));
  actions_->Expire();
  EXPECT_TRUE(Comes(1, 0));
}

TEST_F(TraceSenderTest, LeavesWhatTheCollectorWillNeverTake) {
  collector_.SayNext({400});
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  EXPECT_TRUE(Comes(0, 1));
  EXPECT_EQ(collector_.Asked(), 1U);
  End(MakeRun(2, 1));
  EXPECT_TRUE(Comes(1, 1));
  EXPECT_THAT(collector_.Runs(), ElementsAre("r2"));
}

TEST_F(TraceSenderTest, WhenItGetsTooMuchTheOldestGoes) {
  collector_.SayNext({0});  // the first request hangs
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  ASSERT_TRUE(Eventually([&] { return collector_.Asked() == 1; }));
  std::vector<engine::News> many;
  const auto whole = std::make_shared<const muster::Run>(MakeRun(2, 1));
  for (std::uint64_t i = 2; i < TraceSender::kMostQueued + 7; ++i)
    many.emplace_back(
        engine::RunNews{.run = MakeRunId(0, i), .state = RunState::kSucceeded, .whole = whole});
  sender_.Take(many);
  EXPECT_EQ(sender_.Count().queued, TraceSender::kMostQueued);
  EXPECT_EQ(sender_.Count().dropped, 5U);
}

TEST_F(TraceSenderTest, OfASampleAllThatFailedAndNoneThatItsCallerDoesNotKeep) {
  TraceSettings settings = Settings();
  settings.sample = 0;
  ASSERT_TRUE(sender_.Use(settings));
  End(MakeRun(1, 1));
  muster::Run failed = MakeRun(2, 1);
  failed.state = RunState::kFailed;
  End(failed);
  muster::Run hidden = failed;
  hidden.id = MakeRunId(0, 3);
  hidden.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  End(hidden);
  EXPECT_TRUE(Comes(1, 0));
  EXPECT_THAT(collector_.Runs(), ElementsAre("r2"));
}

TEST_F(TraceSenderTest, ASampleIsAboutAsLargeAsItSays) {
  TraceSettings settings = Settings();
  settings.sample = 30;
  ASSERT_TRUE(sender_.Use(settings));
  for (std::uint64_t i = 1; i <= 1000; ++i) End(MakeRun(i, 1));
  ASSERT_TRUE(Eventually([&] { return sender_.Count().queued == 0; }));
  sender_.Stop();
  EXPECT_GT(collector_.Runs().size(), 230U);
  EXPECT_LT(collector_.Runs().size(), 370U);
}

TEST_F(TraceSenderTest, StopsThoughTheCollectorHangs) {
  collector_.SayNext({0});
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  ASSERT_TRUE(Eventually([&] { return collector_.Asked() == 1; }));
  End(MakeRun(2, 1));
  sender_.Stop();
  EXPECT_EQ(sender_.Count().dropped, 2U);
  EXPECT_EQ(sender_.Count().queued, 0U);
}

TEST_F(TraceSenderTest, SendsWhatWaitsBeforeItStops) {
  ASSERT_TRUE(sender_.Use(Settings()));
  for (std::uint64_t i = 1; i <= 300; ++i) End(MakeRun(i, 1));
  sender_.Stop();
  EXPECT_EQ(collector_.Runs().size(), 300U);
  EXPECT_EQ(sender_.Count().sent, 300U);
}

TEST_F(TraceSenderTest, CarriesTheHeadersOfItsFile) {
  const TempFolder folder;
  TraceSettings settings = Settings();
  settings.headers_file = (folder.Path() / "headers").string();
  EXPECT_EQ(sender_.Use(settings).error().code, ErrorCode::kNotFound);
  std::ofstream(settings.headers_file) << "no header\n";
  const auto bad = sender_.Use(settings);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("headers:1: expected 'Name: value'"));
  EXPECT_FALSE(sender_.On());
  std::ofstream(settings.headers_file) << "# for the collector\n\nAuthorization: Bearer x:y \n";
  ASSERT_TRUE(sender_.Use(settings));
  End(MakeRun(1, 1));
  EXPECT_TRUE(Comes(1, 0));
  EXPECT_THAT(collector_.Headers(), testing::Contains(std::pair<std::string, std::string>(
                                        "Authorization", "Bearer x:y")));
}

TEST_F(TraceSenderTest, OtherSettingsTakeOver) {
  collector_.SayNext({503, 503, 503, 503, 503, 503});
  ASSERT_TRUE(sender_.Use(Settings()));
  End(MakeRun(1, 1));
  ASSERT_TRUE(Eventually([&] { return collector_.Asked() >= 1; }));
  ASSERT_TRUE(sender_.Use({.url = ""}));
  End(MakeRun(2, 1));
  EXPECT_FALSE(sender_.On());
  ASSERT_TRUE(sender_.Use(Settings()));
  collector_.SayNext({});
  End(MakeRun(3, 1));
  // The first was under way when there was nobody to tell: it may come with the third or before it,
  // or not at all.
  ASSERT_TRUE(
      Eventually([&] { return testing::Value(collector_.Runs(), testing::Contains("r3")); }));
  EXPECT_THAT(collector_.Runs(), testing::Not(testing::Contains("r2")));
}

}  // namespace
}  // namespace muster::server
