#include "server/api/search.hpp"

#include <atomic>
#include <mutex>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "adapters/memory/memory_log_store.hpp"
#include "adapters/memory/memory_store.hpp"
#include "support/eventually.hpp"

namespace muster::server::api {
namespace {

class SearchClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = MonoTime{mono}}; }
  std::atomic<std::int64_t> mono = 1'000;
};

// A client that takes what was written whenever the test says so.
class SlowClient final : public net::HttpExchange {
 public:
  void Respond(net::HttpResponse response) override { status = response.status; }
  void BeginStream(int code, net::Headers) override { status = code; }
  void Write(std::string data) override {
    std::lock_guard lock(mutex_);
    text_ += data;
  }
  void End() override { ended = true; }
  bool Gone() const override { return false; }
  std::size_t Unsent() const override { return 0; }
  void OnGone(std::function<void()>) override {}
  void BeginSized(int, net::Headers, std::uint64_t) override {}
  void OnRoom(std::size_t, std::function<void()> room) override {
    std::lock_guard lock(mutex_);
    room_ = std::move(room);
  }
  void ReadBody(std::function<void(net::BodyPiece)>) override {}
  void Keep(std::shared_ptr<void>) override {}

  // False: the search does not wait for it.
  bool MakeRoom() {
    std::function<void()> room;
    {
      std::lock_guard lock(mutex_);
      room = std::exchange(room_, nullptr);
    }
    if (!room) return false;
    room();
    return true;
  }
  // It goes, and with it what waits for it.
  void Leave() {
    std::lock_guard lock(mutex_);
    room_ = nullptr;
  }
  std::string Text() {
    std::lock_guard lock(mutex_);
    return text_;
  }
  // The last line; null when there is none with `done`.
  boost::json::value Last() {
    const std::string text = Text();
    const auto at = text.rfind("{\"done\"");
    return at == std::string::npos ? nullptr : boost::json::parse(text.substr(at));
  }

  std::atomic<int> status = 0;
  std::atomic<bool> ended = false;

 private:
  std::mutex mutex_;
  std::string text_;
  std::function<void()> room_;
};

class Searches : public testing::Test {
 protected:
  static constexpr RunId kSearched{1};

  Searches() {
    const TaskKey task{kSearched, Visit(1), 0, HostId(1), Attempt(1)};
    muster::Run run;
    run.id = kSearched;
    TaskRecord row;
    row.key = task;
    row.sent = WallTime{1000};
    auto batch = std::make_shared<Batch>();
    batch->changes = {
        PutRun{run},
        PutTargets{kSearched, std::make_shared<const Targets>(Targets{{HostId(1), "h1"}})},
        PutTask{row}};
    const Fence fence = *store_.TakeTerm();
    store_.Commit(batch, fence.term, CommitNumber(fence.number.value + 1),
                  [](const Result<>& done) { ASSERT_TRUE(done) << done.error().message; });
    std::string output;
    while (output.size() < (4U << 20)) output += "one line\n";
    size_ = output.size();
    logs_.Append({{.task = task, .time = {}, .data = std::move(output)}}, [](const Result<>&) {});
    routes_ = SearchRoutes(services_);
  }
  ~Searches() override {
    for (const auto& client : clients_) client->MakeRoom();
    workers_.Stop();
    for (const auto& client : clients_) client->Leave();
  }

  std::shared_ptr<SlowClient> Search(const std::string& who, const std::string& words = "re=none") {
    auto client = std::make_shared<SlowClient>();
    clients_.push_back(client);
    net::HttpRequest request{.method = "GET", .target = "/api/v1/runs/r1/search?" + words};
    auto call = std::make_shared<Call>(std::move(request), client, "q1");
    call->SetParts({{"id", "r1"}});
    call->SetActor({.name = who, .role = Role::kViewer, .expires = {}});
    routes_.front().handle(call);
    return client;
  }
  static bool Ends(SlowClient& client) {
    return Eventually([&] { return client.ended || (client.MakeRoom(), false); });
  }
  // What is due after a while, on the thread of the test.
  void RunLater() {
    for (const auto& work : std::exchange(later_, {})) work();
  }

  SearchClock clock_;
  MemoryStore store_{MakeMemoryDisk()};
  MemoryLogStore logs_;
  WorkerPool workers_{2};
  std::atomic<bool> usable_ = true;
  std::vector<std::function<void()>> later_;
  SearchServices services_{
      .store = store_,
      .logs = logs_,
      .clock = clock_,
      .lane = Lane(workers_, "search"),
      .look_again = [this](const auto&, const auto& then) { then(usable_); },
      .later = [this](Duration, std::function<void()> work) { later_.push_back(std::move(work)); }};
  std::vector<Route> routes_;
  std::vector<std::shared_ptr<SlowClient>> clients_;
  std::size_t size_ = 0;
};

TEST_F(Searches, OneOfACallerAndFourInAll) {
  const auto first = Search("ann");
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(Search("ann")->status, 503);
  for (const char* who : {"ben", "cid", "dan"}) EXPECT_EQ(Search(who)->status, 200);
  EXPECT_EQ(Search("eve")->status, 503);
  ASSERT_TRUE(Ends(*first));
  EXPECT_EQ(Search("ann")->status, 200) << "the last line says that the search is over";
}

TEST_F(Searches, TellsThatItLookedThroughAll) {
  const auto client = Search("ann");
  ASSERT_TRUE(Ends(*client));
  const auto last = client->Last();
  EXPECT_EQ(last.at("bytes").to_number<std::size_t>(), size_);
  EXPECT_FALSE(last.at("more").as_bool());
  EXPECT_FALSE(last.at("timed_out").as_bool());
}

TEST_F(Searches, EndsAfterItsTimeAndSaysSo) {
  const auto reads = Search("ann");
  const auto does_not_read = Search("ben");
  ASSERT_TRUE(reads->MakeRoom());
  clock_.mono += services_.longest.count();
  ASSERT_TRUE(Ends(*reads));
  RunLater();
  ASSERT_TRUE(Eventually([&] { return does_not_read->ended.load(); }));
  for (auto* client : {reads.get(), does_not_read.get()}) {
    EXPECT_TRUE(client->Last().at("more").as_bool());
    EXPECT_TRUE(client->Last().at("timed_out").as_bool());
  }
  EXPECT_EQ(Search("ben")->status, 200);
}

TEST_F(Searches, EndWithTheirToken) {
  const auto reads = Search("ann");
  const auto does_not_read = Search("ben");
  RunLater();
  EXPECT_FALSE(reads->ended || does_not_read->ended);
  usable_ = false;
  ASSERT_TRUE(reads->MakeRoom());
  EXPECT_EQ(reads->Text(), "") << "no step without a token";
  RunLater();
  ASSERT_TRUE(Eventually([&] { return does_not_read->ended.load(); }));
  EXPECT_TRUE(does_not_read->Last().is_null());
  usable_ = true;
  EXPECT_TRUE(Eventually([&] { return Search("ann")->status == 200; }));
  EXPECT_EQ(Search("ben")->status, 200);
}

}  // namespace
}  // namespace muster::server::api
