#include "server/certificates/key_set.hpp"

#include <ctime>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "server/certificates/certificates.hpp"
#include "server/certificates/key_changes.hpp"
#include "server/commands/join_state.hpp"
#include "support/temp_folder.hpp"

namespace muster::server {
namespace {

class KeySetTest : public ::testing::Test {
 protected:
  std::filesystem::path Data() const { return temp_.Path(); }
  void Write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(WriteSecret(Data() / name, content));
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Data()))
      names.insert(entry.path().filename().string());
    return names;
  }
  // What a crash leaves that comes after the decision and `moved` files.
  void LeaveWhole(std::size_t moved) {
    const auto folder = BeginKeySet(Data());
    ASSERT_TRUE(folder);
    for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(WriteSecret(*folder / name, "new"));
    std::filesystem::rename(*folder, Data() / ".keys");
    for (std::size_t i = 0; i < moved; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      std::filesystem::rename(Data() / ".keys" / name, Data() / name);
    }
  }
  Result<Identity> Load() {
    return LoadIdentity(Data(), {}, WallTime{static_cast<std::int64_t>(::time(nullptr)) * 1000});
  }

  TempFolder temp_;
};

TEST_F(KeySetTest, FilesArePutTogetherOverOthersOfTheirNames) {
  Write("b", "old");
  const auto folder = BeginKeySet(Data());
  ASSERT_TRUE(folder);
  for (const char* name : {"a", "b"}) ASSERT_TRUE(WriteSecret(*folder / name, "new"));
  EXPECT_EQ(*ReadWhole(Data() / "b"), "old");
  ASSERT_TRUE(PutKeySet(Data()));
  EXPECT_EQ(Names(), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(*ReadWhole(Data() / "b"), "new");
}

TEST_F(KeySetTest, SetThatWasNotWholeIsRemoved) {
  const auto folder = BeginKeySet(Data());
  ASSERT_TRUE(folder);
  ASSERT_TRUE(WriteSecret(*folder / "a", "half"));
  ASSERT_TRUE(FinishKeySet(Data()));
  EXPECT_TRUE(Names().empty());
  ASSERT_TRUE(FinishKeySet(Data())) << "nothing is left to do";
}

TEST_F(KeySetTest, WholeSetComesToItsPlaceHoweverFarItCame) {
  for (std::size_t moved = 0; moved <= 3; ++moved) {
    LeaveWhole(moved);
    ASSERT_TRUE(FinishKeySet(Data()));
    EXPECT_EQ(Names(), (std::set<std::string>{"a", "b", "c"})) << moved;
  }
}

TEST_F(KeySetTest, FirstStartGoesOnWithTheKeysOfTheOneThatWasKilled) {
  ASSERT_TRUE(Load());
  const auto made = *ReadWhole(Data() / "ca.pem");
  const auto keys = {"ca.key", "token.key", "admin.token", "seal.key"};
  std::filesystem::create_directory(Data() / ".keys");
  for (const char* name : keys)
    std::filesystem::rename(Data() / name, Data() / ".keys" / name);  // ca.pem has moved already
  for (const char* name : {"server.key", "server.pem", "server.names"})
    std::filesystem::remove(Data() / name);
  const auto again = Load();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->fresh);
  EXPECT_EQ(again->ca.cert_pem, made);
  EXPECT_TRUE(KeyNews(LookAtKeys(Data()), *again).empty());
}

TEST_F(KeySetTest, FirstStartKeepsWhatTheOperatorPutThere) {
  Write("admin.token", "mst_0123456789abcdef\n");
  ASSERT_TRUE(Load());
  EXPECT_EQ(*ReadWhole(Data() / "admin.token"), "mst_0123456789abcdef\n");
  EXPECT_TRUE(Names().contains("seal.key"));
}

TEST_F(KeySetTest, FolderOfABegunJoinGetsNoCaOfItsOwn) {
  ASSERT_TRUE(KeysOfJoin(Data(), {.token = "t", .name = "s2"}));
  EXPECT_EQ(Load().error().code, ErrorCode::kConflict);
  EXPECT_FALSE(Names().contains("ca.key"));
}

TEST_F(KeySetTest, JoinThatIsRepeatedShowsTheSameKey) {
  const JoinAttempt join{.token = "t", .name = "s2"};
  const auto first = KeysOfJoin(Data(), join);
  ASSERT_TRUE(first);
  const auto again = KeysOfJoin(Data(), join);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->public_key, first->public_key);
  EXPECT_EQ(again->private_key.Reveal(), first->private_key.Reveal());
  EXPECT_FALSE(HasJoined(Data(), join));
  const auto other = KeysOfJoin(Data(), {.token = "another", .name = "s2"});
  ASSERT_TRUE(other);
  EXPECT_NE(other->public_key, first->public_key);
}

TEST_F(KeySetTest, JoinThatHasEndedKeepsNoKey) {
  const JoinAttempt join{.token = "t", .name = "s2"};
  const auto keys = KeysOfJoin(Data(), join);
  ASSERT_TRUE(keys);
  ASSERT_TRUE(NoteJoined(Data(), join));
  EXPECT_TRUE(HasJoined(Data(), join));
  EXPECT_FALSE(HasJoined(Data(), {.token = "t", .name = "s3"}));
  const auto text = *ReadWhole(Data() / kJoinStateFile);
  EXPECT_EQ(text.find("private_key"), std::string::npos);
  Write(kJoinStateFile, "{");
  EXPECT_FALSE(HasJoined(Data(), join));
  EXPECT_EQ(KeysOfJoin(Data(), join).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::server
