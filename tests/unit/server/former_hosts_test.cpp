#include "server/api/former_hosts.hpp"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"

namespace muster::server::api {
namespace {

// web7 was host 1, then 2, and is 3 now. Run N and entry 10 * N are of host 1 + N % 3.
class FormerHosts : public testing::Test {
 protected:
  void SetUp() override {
    auto batch = std::make_shared<Batch>();
    for (std::uint64_t number = 1; number <= 9; ++number) {
      muster::Run run;
      run.id = RunId(number);
      TaskRecord task;
      task.key = {.run = run.id,
                  .visit = Visit(1),
                  .ordinal = 0,
                  .host = HostId(1 + number % 3),
                  .attempt = Attempt(1)};
      batch->changes.emplace_back(PutRun{run});
      batch->changes.emplace_back(PutTask{task});
      Add(*batch, 10 * number, "x", "x", task.key.host);
    }
    Add(*batch, 95, kActHostRemove, "host web7", HostId(1));
    Add(*batch, 96, kActHostRemove, "host web7", HostId(2));
    Add(*batch, 97, kActHostRemove, "host web8", HostId(4));
    const auto fence = store_.TakeTerm();
    ASSERT_TRUE(fence);
    store_.Commit(batch, fence->term, CommitNumber(fence->number.value + 1),
                  [](const Result<>& done) { EXPECT_TRUE(done); });
  }

  static void Add(Batch& batch, std::uint64_t number, std::string_view act, std::string_view object,
                  HostId host) {
    AuditEntry entry;
    entry.number = number;
    entry.act = act;
    entry.object = object;
    batch.changes.emplace_back(AddAudit{entry, {host}});
  }

  std::vector<std::uint64_t> Entries(const std::vector<HostId>& hosts, std::size_t limit) {
    std::vector<std::uint64_t> numbers;
    std::uint64_t before = 0;
    do {
      const auto page = ListAuditOf(store_, hosts, {}, before, limit, goes_on_);
      EXPECT_TRUE(page);
      if (!page) break;
      EXPECT_LE(page->entries.size(), limit);
      for (const auto& entry : page->entries) numbers.push_back(entry.number);
      before = page->next;
    } while (before != 0);
    return numbers;
  }

  const GoesOn goes_on_ = [] { return Result<>(); };
  MemoryStore store_;
};

TEST_F(FormerHosts, AllThatHadTheNameAreMeant) {
  EXPECT_EQ(HostsNamed(store_, "web7", HostId(3)), (std::vector{HostId(3), HostId(2), HostId(1)}));
  EXPECT_EQ(HostsNamed(store_, "web7", std::nullopt), (std::vector{HostId(2), HostId(1)}));
  EXPECT_EQ(HostsNamed(store_, "web9", HostId(3)), (std::vector{HostId(3)}));
  EXPECT_EQ(HostsNamed(store_, "web9", std::nullopt).error().code, ErrorCode::kNotFound);
}

TEST_F(FormerHosts, TheirEntriesAreOneListWithoutHoleOrRepeat) {
  const std::vector hosts{HostId(3), HostId(2), HostId(1)};
  const std::vector<std::uint64_t> all{96, 95, 90, 80, 70, 60, 50, 40, 30, 20, 10};
  for (const std::size_t limit : {1, 2, 3, 5, 11, 100}) EXPECT_EQ(Entries(hosts, limit), all);
  const std::vector<std::uint64_t> some{96, 95, 90, 70, 60, 40, 30, 10};
  for (const std::size_t limit : {1, 3, 8}) EXPECT_EQ(Entries({HostId(2), HostId(1)}, limit), some);
  EXPECT_EQ(Entries({}, 100).size(), 12U) << "without hosts all entries";
}

TEST_F(FormerHosts, TheirRunsAreOneListToo) {
  const std::vector hosts{HostId(3), HostId(2), HostId(1)};
  for (const std::size_t limit : {1, 2, 4}) {
    std::vector<std::uint64_t> ids;
    RunId before;
    while (true) {
      const auto runs = ListRunsOf(store_, hosts, {}, before, limit, goes_on_);
      ASSERT_TRUE(runs);
      for (const auto& run : *runs) ids.push_back(run.id.value);
      if (runs->size() < limit) break;
      before = runs->back().id;
    }
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  }
}

TEST_F(FormerHosts, ALongSearchIsEnded) {
  const GoesOn over = [] { return Result<>(Fail(ErrorCode::kTimeout, "long enough")); };
  EXPECT_EQ(ListAuditOf(store_, {HostId(1)}, {}, 0, 5, over).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(ListRunsOf(store_, {HostId(1)}, {}, {}, 5, over).error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace muster::server::api
