#include "agent/identity.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "agent/host/facts.hpp"
#include "agent/shim/account.hpp"
#include "temp_folder.hpp"

namespace muster::agent {
namespace {

class DataFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { SetMachine("machine-a"); }
  void SetMachine(const std::string& id) { ASSERT_TRUE(WriteFile(Machine(), id + "\n")); }
  std::string Machine() { return temp_ / "machine-id"; }
  std::string Data() { return temp_ / "deep/data"; }
  Result<DataFolder> Open() { return DataFolder::Open(Data(), Machine()); }

  TempFolder temp_;
};

TEST_F(DataFolderTest, NewFolderHasAStoreOfItsOwn) {
  std::string store;
  {
    const auto folder = Open();
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_FALSE(folder->Joined());
    EXPECT_EQ(folder->Who().machine, "machine-a");
    store = folder->Who().store;
    EXPECT_EQ(store.size(), 32U);
  }
  EXPECT_EQ(Open()->Who().store, store);
  const auto other = DataFolder::Open(temp_ / "other", Machine());
  EXPECT_NE(other->Who().store, store);
}

TEST_F(DataFolderTest, OwnKeyIsMadeOnce) {
  std::string key;
  {
    auto folder = Open();
    key = *folder->OwnKey();
    EXPECT_EQ(*folder->OwnKey(), key);
    EXPECT_FALSE(folder->Joined());
  }
  EXPECT_EQ(*Open()->OwnKey(), key);
}

TEST_F(DataFolderTest, JoinIsKept) {
  {
    auto folder = Open();
    ASSERT_TRUE(folder->SaveJoin({"https://muster:8440"}, "web01", "c1", {"KEY", "CERT", "CA"}));
    EXPECT_TRUE(folder->Joined());
  }
  const auto folder = Open();
  EXPECT_TRUE(folder->Joined());
  EXPECT_EQ(folder->Who().server, "https://muster:8440");
  EXPECT_EQ(folder->Who().host, "web01");
  EXPECT_EQ(folder->Who().cluster, "c1");
  const auto credentials = folder->LoadCredentials();
  ASSERT_TRUE(credentials);
  EXPECT_EQ(credentials->key_pem, "KEY");
  EXPECT_EQ(credentials->cert_pem, "CERT");
  EXPECT_EQ(credentials->ca_pem, "CA");
  for (const auto* name : {"agent.key", "agent.crt", "ca.pem", "agent.conf"}) {
    struct stat status{};
    ASSERT_EQ(::stat((Data() + "/" + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << name;
  }
}

TEST_F(DataFolderTest, ServersAreKept) {
  const std::vector<std::string> two = {"https://a:8440", "https://b:8440"};
  const std::vector<std::string> told = {"https://b:8440", "https://c:8440"};
  {
    auto folder = Open();
    ASSERT_TRUE(folder->SaveJoin(two, "web01", "c1", {"KEY", "CERT", "CA"}));
    EXPECT_TRUE(LoadServers(Data())->told.empty());
    ASSERT_TRUE(folder->SaveServers(told));
  }
  auto folder = Open();
  EXPECT_EQ(folder->Who().server, two[0]) << "which is all that an older agent reads";
  auto known = LoadServers(Data());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->given, two);
  EXPECT_EQ(known->told, told);
  EXPECT_EQ(known->seed, folder->Who().store);
  // Another join may be to another cluster.
  ASSERT_TRUE(folder->SaveJoin({"https://z:8440"}, "web01", "c2", {"KEY", "CERT", "CA"}));
  known = LoadServers(Data());
  EXPECT_EQ(known->given, std::vector<std::string>{"https://z:8440"});
  EXPECT_TRUE(known->told.empty());
}

TEST_F(DataFolderTest, ServersMayBeWrittenWithBlanks) {
  EXPECT_EQ(SplitServers(" https://a:1 ,https://b:2,, "),
            (std::vector<std::string>{"https://a:1", "https://b:2"}));
  EXPECT_TRUE(SplitServers("").empty());
}

TEST_F(DataFolderTest, SessionsGrowThroughRestarts) {
  EXPECT_EQ(Open()->NextSession(), 1U);
  auto folder = Open();
  EXPECT_EQ(folder->NextSession(), 2U);
  EXPECT_EQ(folder->NextSession(), 3U);
}

TEST_F(DataFolderTest, TermOnlyRises) {
  {
    auto folder = Open();
    ASSERT_TRUE(folder->RaiseTerm(Term(5)));
    ASSERT_TRUE(folder->RaiseTerm(Term(3)));
    EXPECT_EQ(folder->HighestTerm(), Term(5));
  }
  EXPECT_EQ(Open()->HighestTerm(), Term(5));
}

TEST_F(DataFolderTest, TwoAgentsCannotShareIt) {
  const auto first = Open();
  ASSERT_TRUE(first);
  const auto second = Open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

TEST_F(DataFolderTest, CopyOnAnotherMachineIsRefused) {
  ASSERT_TRUE(Open());
  SetMachine("machine-b");
  const auto copied = Open();
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::kConflict);
  EXPECT_NE(copied.error().message.find("copied from another machine"), std::string::npos);
  EXPECT_NE(copied.error().message.find("--join"), std::string::npos);
}

TEST_F(DataFolderTest, DamagedNumberIsSaid) {
  ASSERT_TRUE(Open());
  ASSERT_TRUE(WriteFile(Data() + "/session", "many"));
  EXPECT_EQ(Open().error().code, ErrorCode::kInvalid);
}

TEST(Identity, ComesBackAsItWas) {
  const Identity identity{"https://a:1", "web01", "c", "s", "m"};
  EXPECT_EQ(ParseIdentity(FormatIdentity(identity)).value(), identity);
  EXPECT_EQ(ParseIdentity("store = s\nlater = x\n")->store, "s");
  EXPECT_EQ(ParseIdentity("nonsense").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ParseIdentity("server = x").error().code, ErrorCode::kInvalid);
}

TEST(Facts, NameTheMachine) {
  const auto facts = CollectFacts("1.2.3");
  EXPECT_EQ(facts.at("agent"), "1.2.3");
  for (const auto* key : {"arch", "kernel", "cpus", "memory_mb", "hostname"})
    EXPECT_TRUE(facts.contains(key)) << key;
}

TEST(Facts, OsReleaseMayBeQuoted) {
  const auto* text = "NAME=\"Some Linux\"\nID=debian\nVERSION_ID=\"12\"\nX='y'\n";
  EXPECT_EQ(OsReleaseValue(text, "ID"), "debian");
  EXPECT_EQ(OsReleaseValue(text, "VERSION_ID"), "12");
  EXPECT_EQ(OsReleaseValue(text, "NAME"), "Some Linux");
  EXPECT_EQ(OsReleaseValue(text, "X"), "y");
  EXPECT_EQ(OsReleaseValue(text, "NONE"), "");
}

TEST(RunAsPolicy, NamingNothingAllowsAll) {
  EXPECT_EQ(ChooseUser({}, "web").value(), "web");
  EXPECT_EQ(ChooseUser({}, "").value(), "");
}

TEST(RunAsPolicy, DefaultAloneAllowsOnlyItself) {
  const RunAsPolicy policy{.default_user = "muster", .allow = {}};
  EXPECT_EQ(ChooseUser(policy, "").value(), "muster");
  EXPECT_EQ(ChooseUser(policy, "muster").value(), "muster");
  EXPECT_EQ(ChooseUser(policy, "root").error().code, ErrorCode::kDenied);
}

TEST(RunAsPolicy, ListWithoutDefaultDoesNotAllowTheAgentsOwnUser) {
  const RunAsPolicy policy{.default_user = "", .allow = {"some-other-user"}};
  EXPECT_EQ(ChooseUser(policy, "").error().code, ErrorCode::kDenied);
  EXPECT_EQ(ChooseUser(policy, "some-other-user").value(), "some-other-user");
}

}  // namespace
}  // namespace muster::agent
