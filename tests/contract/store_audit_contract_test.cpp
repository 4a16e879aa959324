#include <algorithm>

#include "contract/store_fixture.hpp"
#include "support/random_records.hpp"

namespace muster {
namespace {

class StoreAudit : public StoreContract {
 protected:
  AuditEntry EntryOf(std::uint64_t number, std::string actor, std::string act, RunId run = {}) {
    RandomRecords random(number);
    AuditEntry entry = random.Audit();
    entry.number = number;
    entry.at = {static_cast<std::int64_t>(number) * 1000};
    entry.actor = std::move(actor);
    entry.act = std::move(act);
    entry.run = run;
    return entry;
  }
  // Numbers of the entries a filter gives, read in pages of `limit`, and that no page is too long.
  std::vector<std::uint64_t> Numbers(const AuditFilter& filter, std::size_t limit = 100) {
    std::vector<std::uint64_t> numbers;
    std::uint64_t before = 0;
    do {
      const auto page = store_->ListAudit(filter, before, limit);
      EXPECT_TRUE(page) << (page ? "" : page.error().message);
      if (!page) break;
      EXPECT_LE(page->entries.size(), limit);
      for (const auto& entry : page->entries) numbers.push_back(entry.number);
      before = page->next;
    } while (before != 0);
    return numbers;
  }
  using List = std::vector<std::uint64_t>;
};

TEST_P(StoreAudit, EntriesComeBackAsTheyWere) {
  std::vector<Change> changes;
  std::vector<AuditEntry> entries;
  for (std::uint64_t number = 1; number <= 20; ++number) {
    entries.push_back(EntryOf(number, "alice", "x"));
    changes.emplace_back(AddAudit{entries.back()});
  }
  Commit(std::move(changes));
  EXPECT_EQ(store_->ReadAudit(1, 100), entries);
  EXPECT_EQ(store_->ReadAudit(5, 2), (std::vector{entries[4], entries[5]}));
  EXPECT_EQ(store_->ReadAuditHead(), (AuditHead{20, entries.back().hash}));
  std::ranges::reverse(entries);
  EXPECT_EQ(store_->ListAudit({}, 0, 100)->entries, entries);
}

TEST_P(StoreAudit, ClusterIsTheOneThatALeaderLoads) {
  const auto cluster = store_->ReadCluster();
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_NE(*cluster, "");
  EXPECT_EQ(store_->Load(store_->ReadFence()->term)->cluster, *cluster);
}

TEST_P(StoreAudit, PagesJoinWithoutHoleOrRepeat) {
  std::vector<Change> changes;
  List all;
  for (std::uint64_t number = 1; number <= 23; ++number) {
    changes.emplace_back(AddAudit{EntryOf(number, number % 3 == 0 ? "bob" : "alice", "x")});
    all.insert(all.begin(), number);
  }
  Commit(std::move(changes));
  for (const std::size_t limit : {1, 2, 5, 23, 24}) EXPECT_EQ(Numbers({}, limit), all);
  AuditFilter bob;
  bob.by = "bob";
  EXPECT_EQ(Numbers(bob, 2), (List{21, 18, 15, 12, 9, 6, 3}));
}

TEST_P(StoreAudit, FiltersAreJoined) {
  Commit({AddAudit{EntryOf(1, "alice", "run.start")}, AddAudit{EntryOf(2, "alice", "run.stop")},
          AddAudit{EntryOf(3, "bob", "run.start")}, AddAudit{EntryOf(4, "alice", "run.start")}});
  EXPECT_EQ(Numbers({.by = "alice"}), (List{4, 2, 1}));
  EXPECT_EQ(Numbers({.act = "run.start"}), (List{4, 3, 1}));
  EXPECT_EQ(Numbers({.by = "alice", .act = "run.start"}), (List{4, 1}));
  EXPECT_EQ(Numbers({.since = {2000}, .until = {4000}}), (List{3, 2}));
  EXPECT_EQ(Numbers({.by = "alice", .since = {2000}}), (List{4, 2}));
  EXPECT_EQ(Numbers({.after = 2}), (List{4, 3}));
  EXPECT_EQ(Numbers({.by = "nobody"}), List{});
}

TEST_P(StoreAudit, RunFindsEveryActAboutIt) {
  std::vector<Change> changes;
  List about;
  for (std::uint64_t number = 1; number <= 30; ++number) {
    const RunId run(number % 10 == 0 ? 7 : number % 3);
    changes.emplace_back(AddAudit{EntryOf(number, "alice", number % 2 == 0 ? "x" : "y", run)});
    if (run == RunId(7)) about.insert(about.begin(), number);
  }
  Commit(std::move(changes));
  for (const std::size_t limit : {1, 2, 3, 4}) EXPECT_EQ(Numbers({.run = RunId(7)}, limit), about);
  EXPECT_EQ(Numbers({.act = "x", .run = RunId(7)}), about);
  EXPECT_EQ(Numbers({.by = "alice", .after = 10, .run = RunId(7)}), (List{30, 20}));
  EXPECT_EQ(Numbers({.act = "y", .run = RunId(7)}), List{});
  EXPECT_EQ(Numbers({.run = RunId(8)}), List{});
}

TEST_P(StoreAudit, RemovedHostsAreFoundByTheirNameTheLastFirst) {
  const auto removal = [&](std::uint64_t number, std::string_view name) {
    AuditEntry entry = EntryOf(number, "alice", std::string(kActHostRemove));
    entry.object = fmt::format("host {}", name);
    return entry;
  };
  Commit({AddAudit{removal(1, "web7"), {HostId(4)}}, AddAudit{removal(2, "web70"), {HostId(5)}},
          AddAudit{removal(3, "web7"), {HostId(9)}},
          AddAudit{removal(4, "host web7"), {HostId(2)}}});
  AuditEntry revoked = removal(5, "web7");
  revoked.act = "agent.revoke";
  Commit({AddAudit{revoked, {HostId(11)}}});
  EXPECT_EQ(store_->ListRemovedHosts("web7", 10), (std::vector{HostId(9), HostId(4)}));
  EXPECT_EQ(store_->ListRemovedHosts("web7", 1), (std::vector{HostId(9)}));
  EXPECT_EQ(store_->ListRemovedHosts("web", 10), std::vector<HostId>());
  Commit({DropAudit{3}});
  EXPECT_EQ(store_->ListRemovedHosts("web7", 10), (std::vector{HostId(9)}));
}

TEST_P(StoreAudit, HostFindsWhatNamesItAndRunsThatTouchedIt) {
  const auto start = std::string(kActRunStart);
  Commit({AddAudit{EntryOf(1, "join", "agent.join"), {HostId(7)}},
          AddAudit{EntryOf(2, "join", "agent.join"), {HostId(8)}}});
  Commit({PutRun{RunOf(1)}, PutTask{TaskRow(1, 0, 7)}, PutTask{TaskRow(1, 1, 8)},
          AddAudit{EntryOf(3, "alice", start, RunId(1))}, PutRun{RunOf(2)},
          PutTask{TaskRow(2, 0, 8)}, AddAudit{EntryOf(4, "alice", start, RunId(2))},
          PutRun{RunOf(3)}, PutTask{TaskRow(3, 0, 7)}, PutTask{TaskRow(3, 0, 7, 2)},
          AddAudit{EntryOf(5, "bob", start, RunId(3))}});
  // A stop of the first run after the start of later ones, on one of its two hosts.
  Commit({AddAudit{EntryOf(6, "bob", "run.stop", RunId(1)), {HostId(7)}}});
  for (const std::size_t limit : {1, 2, 3, 100}) {
    EXPECT_EQ(Numbers({.host = HostId(7)}, limit), (List{6, 5, 3, 1}));
    EXPECT_EQ(Numbers({.host = HostId(8)}, limit), (List{4, 3, 2}));
    EXPECT_EQ(Numbers({.host = HostId(9)}, limit), List{});
  }
  EXPECT_EQ(Numbers({.host = HostId(7), .by = "bob"}), (List{6, 5}));
  EXPECT_EQ(Numbers({.host = HostId(7), .act = start}), (List{5, 3}));
  EXPECT_EQ(Numbers({.host = HostId(7), .since = {3000}, .until = {6000}}), (List{5, 3}));
  EXPECT_EQ(Numbers({.host = HostId(7), .after = 3}), (List{6, 5}));
}

TEST_P(StoreAudit, RarelyFittingFilterStillFindsAll) {
  constexpr std::uint64_t kMany = 5000;
  std::vector<Change> changes;
  for (std::uint64_t number = 1; number <= kMany; ++number) {
    const bool rare = number == 3 || number == kMany;
    changes.emplace_back(AddAudit{EntryOf(number, "alice", rare ? "rare" : "usual"), {HostId(1)}});
  }
  Commit(std::move(changes));
  EXPECT_EQ(Numbers({.by = "alice", .act = "rare"}), (List{kMany, 3}));
  EXPECT_EQ(Numbers({.host = HostId(1), .act = "rare"}, 1), (List{kMany, 3}));
}

MUSTER_STORE_ADAPTERS(StoreAudit);

}  // namespace
}  // namespace muster
