#include "contract/store_fixture.hpp"

namespace muster {
namespace {

class StoreSecrets : public StoreContract {
 protected:
  static Secret SecretOf(std::string name, std::uint32_t version = 1) {
    return {.name = std::move(name),
            .sealed = std::string("\1\0\xff sealed", 10),
            .version = version,
            .by = "alice",
            .at = {1'800'000'000'123},
            .labels = {{"team", "web"}}};
  }
  static OpenNotice NoticeOf(std::uint64_t run, std::uint32_t visit) {
    return {.run = RunId(run),
            .visit = Visit(visit),
            .channel = "ops",
            .job = "deploy",
            .state = "failed",
            .message = "deploy failed\n2 hosts",
            .made = {1'800'000'000'000},
            .attempts = 3,
            .next = {1'800'000'045'000}};
  }
  std::optional<Secret> Find(std::string_view name) {
    auto found = store_->FindSecret(name);
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(found->value) : std::nullopt;
  }
};

TEST_P(StoreSecrets, SecretIsFoundAsItWasPutLastAndWithItsCommit) {
  Commit({PutSecret{SecretOf("db")}});
  Commit({PutSecret{SecretOf("db", 2)}});
  Reopen();
  EXPECT_EQ(Find("db"), SecretOf("db", 2));
  EXPECT_EQ(store_->FindSecret("db")->commit, fence_.number);
  EXPECT_EQ(Find("DB"), std::nullopt);
  EXPECT_EQ(Find(""), std::nullopt);
}

TEST_P(StoreSecrets, ListIsByNameWithoutTheDropped) {
  Commit({PutSecret{SecretOf("web")}, PutSecret{SecretOf("db")}, PutSecret{SecretOf("old")}});
  Commit({DropSecret{"old"}, DropSecret{"never-was"}});
  const auto list = store_->ListSecrets();
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(*list, (std::vector{SecretOf("db"), SecretOf("web")}));
}

TEST_P(StoreSecrets, FreezesAreLoadedUntilTheyAreDropped) {
  Freeze one{.id = 17,
             .scope = FreezeScope::kTriggers,
             .targets = "zone=sh1",
             .job = "deploy",
             .reason = "switch work",
             .by = "ann",
             .at = {1'800'000'000'000},
             .until = {1'800'000'060'000}};
  Freeze two = one;
  two.id = 9;
  Commit(
      {PutFreeze{one}, PutFreeze{two},
       PutFreeze{
           {.id = 30, .targets = {}, .job = {}, .reason = {}, .by = {}, .at = {}, .until = {}}}});
  one.reason = "still";
  Commit({PutFreeze{one}, DropFreeze{30}, DropFreeze{99}});
  Reopen();
  TakeTerm();
  EXPECT_EQ(Load().freezes, (std::vector{two, one}));
}

TEST_P(StoreSecrets, NoticesAreLoadedUntilTheyAreDropped) {
  OpenNotice later = NoticeOf(2, 1);
  Commit({PutNotice{later}, PutNotice{NoticeOf(1, 9)}, PutNotice{NoticeOf(1, 4)}});
  later.attempts = 4;
  Commit({PutNotice{later}, DropNotice{RunId(1), Visit(9)}, DropNotice{RunId(7), Visit(7)}});
  Reopen();
  TakeTerm();
  EXPECT_EQ(Load().notices, (std::vector{NoticeOf(1, 4), later}));
}

MUSTER_STORE_ADAPTERS(StoreSecrets);

TEST(MemoryDisk, CopyHasSecretsAndNotices) {
  auto disk = MakeMemoryDisk();
  MemoryStore store(disk);
  const Fence fence = *store.TakeTerm();
  const Secret secret{.name = "db", .sealed = "s", .by = "alice", .at = {1}, .labels = {}};
  OpenNotice notice;
  notice.run = RunId(1);
  notice.visit = Visit(1);
  ASSERT_TRUE(CommitTo(store, BatchOf({PutSecret{secret}, PutNotice{notice}}), fence.term,
                       CommitNumber(1)));
  MemoryStore copy(CopyOf(*disk, std::nullopt, {}));
  EXPECT_EQ(copy.FindSecret("db")->value, secret);
  EXPECT_EQ(copy.Load(fence.term)->notices, std::vector{notice});
}

}  // namespace
}  // namespace muster
