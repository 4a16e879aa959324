#include "server/certificates/key_changes.hpp"

#include <gtest/gtest.h>

#include "server/certificates/ca_state.hpp"
#include "support/temp_folder.hpp"

namespace muster::server {
namespace {

Identity SignedBy(std::vector<std::string> cas) {
  Identity identity;
  identity.ca_ids = std::move(cas);
  return identity;
}

TEST(KeyNews, TellsOfKeysThatWereMade) {
  const TempFolder temp;
  EXPECT_EQ(KeyNews(LookAtKeys(temp.Path()), SignedBy({"old"})).size(), 2U);
  ASSERT_TRUE(WriteSecret(temp.Path() / "admin.token", "mst_0"));
  const auto news = KeyNews(LookAtKeys(temp.Path()), SignedBy({"old"}));
  ASSERT_EQ(news.size(), 1U);
  EXPECT_NE(news[0].find("seal.key"), std::string::npos);
  ASSERT_TRUE(WriteSecret(temp.Path() / "seal.key", "key"));
  EXPECT_TRUE(KeyNews(LookAtKeys(temp.Path()), SignedBy({"old"})).empty());
}

TEST(KeyNews, TellsOfAnotherCaThanAtTheLastStart) {
  KeysBefore before{.admin_token = true, .sealing_key = true, .cas = {"old"}};
  EXPECT_TRUE(KeyNews(before, SignedBy({"old"})).empty());
  for (const auto& cas : {std::vector<std::string>{"old", "new"}, {"new", "old"}, {"new"}})
    EXPECT_EQ(KeyNews(before, SignedBy(cas)).size(), 1U);
  before.cas.clear();
  EXPECT_TRUE(KeyNews(before, SignedBy({"new"})).empty()) << "nothing is known of before";
}

TEST(KeyNews, AFirstStartIsNone) {
  Identity identity = SignedBy({"first"});
  identity.fresh = true;
  EXPECT_TRUE(KeyNews({}, identity).empty());
}

TEST(KeyNews, CasOfTheLastStartAreThoseThatItKept) {
  const TempFolder temp;
  ASSERT_TRUE(WriteCaState(
      temp.Path(),
      {.server = "s1", .cas = {"old", "new"}, .trusts = "both", .cluster = {}, .written = {1}}));
  EXPECT_EQ(LookAtKeys(temp.Path()).cas, (std::vector<std::string>{"old", "new"}));
}

}  // namespace
}  // namespace muster::server
