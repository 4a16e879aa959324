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
