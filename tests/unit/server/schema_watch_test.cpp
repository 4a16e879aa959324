#include "server/peers/schema_watch.hpp"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"
#include "ports/forwarding_store.hpp"

namespace muster::server {
namespace {

std::vector<std::string> Names(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const auto& member : members) names.push_back(member.name);
  return names;
}

std::vector<Member> Servers(std::vector<std::string> versions) {
  std::vector<Member> members;
  for (auto& version : versions)
    members.push_back({.name = "s" + std::to_string(members.size() + 1),
                       .url = "",
                       .version = std::move(version)});
  return members;
}

using List = std::vector<std::string>;

TEST(OlderServers, AreThoseBehindTheNewest) {
  EXPECT_EQ(Names(OlderServers(Servers({"1.9.0", "1.10.0", "1.9.5"}))), (List{"s1", "s3"}));
  EXPECT_EQ(Names(OlderServers(Servers({"1.2.3", "1.2.3"}))), List{});
  EXPECT_EQ(Names(OlderServers({})), List{});
}

TEST(OlderServers, WhatIsNoVersionIsOlderThanAny) {
  EXPECT_EQ(Names(OlderServers(Servers({"", "1.0.0", "mine"}))), (List{"s1", "s3"}));
  EXPECT_EQ(Names(OlderServers(Servers({"mine", "yours"}))), List{});
}

class StoreWithSchema final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<SchemaState> ReadSchema() override { return schema; }
  Result<SchemaState> schema = SchemaState{.version = 2, .needed = 0, .known = 2};
};

class SchemaWatchTest : public testing::Test {
 protected:
  MemoryStore memory_{MakeMemoryDisk()};
  StoreWithSchema store_{memory_};
  std::vector<Member> members_ = Servers({"1.0.0", "1.1.0"});
  std::string unfit_ = "not told";
  SchemaWatch watch_{store_,
                     "1.1.0",
                     {.members = [this] { return members_; },
                      .unfit = [this](const std::string& why) { unfit_ = why; }}};
};

TEST_F(SchemaWatchTest, FinalizeIsDueWhenSomethingWaitsAndNobodyIsOlder) {
  ASSERT_TRUE(watch_.Look());
  EXPECT_FALSE(watch_.Get().FinalizeDue());
  store_.schema->unfinished = {2};
  ASSERT_TRUE(watch_.Look());
  EXPECT_EQ(Names(watch_.Get().older), List{"s1"});
  EXPECT_FALSE(watch_.Get().FinalizeDue());
  members_ = Servers({"1.1.0", "1.1.0"});
  EXPECT_TRUE(watch_.Get().FinalizeDue());
}

TEST_F(SchemaWatchTest, ServerThatKnowsTooLittleIsUnfitUntilItFits) {
  ASSERT_TRUE(watch_.Look());
  EXPECT_EQ(unfit_, "");
  store_.schema->needed = 3;
  ASSERT_TRUE(watch_.Look());
  EXPECT_NE(unfit_, "");
  store_.schema->needed = 2;
  ASSERT_TRUE(watch_.Look());
  EXPECT_EQ(unfit_, "");
}

TEST_F(SchemaWatchTest, WhatWasSeenStaysWhileTheStoreIsSilent) {
  store_.schema->unfinished = {2};
  ASSERT_TRUE(watch_.Look());
  store_.schema = Fail(ErrorCode::kUnavailable, "away");
  unfit_ = "not told";
  EXPECT_FALSE(watch_.Look());
  EXPECT_EQ(watch_.Get().schema.unfinished, std::vector<std::uint64_t>{2});
  EXPECT_EQ(unfit_, "not told");
}

}  // namespace
}  // namespace muster::server
