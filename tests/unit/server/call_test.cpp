#include "server/api/call.hpp"

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

Call Asked(std::string target) {
  return {net::HttpRequest{.method = "GET", .target = std::move(target)}, nullptr, "q1"};
}

TEST(CallParts, AreDecoded) {
  Call call = Asked("/api/v1/tokens/a%40b+c");
  EXPECT_TRUE(call.SetParts({{"token", "a%40b+c"}}));
  EXPECT_EQ(call.Part("token"), "a@b+c");
}

TEST(CallParts, OfWhatIsNoTextAreRefused) {
  for (const char* part : {"a%00", "%0a", "%ff", "%C3"})
    EXPECT_FALSE(Asked("/").SetParts({{"name", part}})) << part;
}

TEST(CallPlainPath, IsTheSameForEverySpelling) {
  const auto plain = [](std::string target) { return Asked(std::move(target)).PlainPath(); };
  EXPECT_EQ(plain("/api/v1/jobs/a-b.c/start?x=y"), "/api/v1/jobs/a-b.c/start");
  EXPECT_EQ(plain("/api/v1/jobs/%61-b%2ec/start"), "/api/v1/jobs/a-b.c/start");
  EXPECT_EQ(plain("/a%c3%BC+b"), plain("/a\xc3\xbc%2Bb"));
  EXPECT_NE(plain("/a%2Fb"), plain("/a/b"));
  EXPECT_NE(plain("/a%2561"), plain("/a%61"));
  EXPECT_EQ(plain("/a%2561"), plain("/a%25%36%31"));
  for (const char* run : {"7", "r7", "%72%37", "%37"})
    EXPECT_EQ(plain(std::string("/runs/") + run + "/rerun"), "/runs/r7/rerun") << run;
  EXPECT_EQ(plain("/runs/2.7"), plain("/runs/r2.7"));
  EXPECT_EQ(plain("/hosts/7"), "/hosts/7");
}

TEST(CallQueryFlag, IsTrueOrFalseAndFalseWhenAbsent) {
  const Call call = Asked("/api/v1/runs?yes=true&no=false&empty=");
  EXPECT_TRUE(*call.QueryFlag("yes"));
  EXPECT_FALSE(*call.QueryFlag("no"));
  EXPECT_FALSE(*call.QueryFlag("empty"));
  EXPECT_FALSE(*call.QueryFlag("absent"));
}

TEST(CallQueryFlag, AnotherTextIsRefused) {
  for (const char* text : {"1", "yes", "True", "true+"}) {
    const auto flag = Asked(std::string("/?dry_run=") + text).QueryFlag("dry_run");
    ASSERT_FALSE(flag) << text;
    EXPECT_EQ(flag.error().code, ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace muster::server::api
