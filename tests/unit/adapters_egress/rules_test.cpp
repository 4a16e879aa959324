#include "adapters/egress/rules.hpp"

#include <gtest/gtest.h>

namespace muster::outside {
namespace {

using Texts = std::vector<std::string>;

Rules MakeRules(const Texts& allow, const Texts& deny = {}) {
  auto rules = Rules::Parse(allow, deny);
  EXPECT_TRUE(rules) << rules.error().message;
  return std::move(*rules);
}

Url Of(std::string_view text) {
  auto url = ParseUrl(text);
  EXPECT_TRUE(url) << text;
  return url.value_or(Url{});
}

bool May(const Rules& rules, std::string_view url, std::string_view address) {
  return rules.Check(Of(url), *ParseAddress(address)).has_value();
}

TEST(Url, IsTakenApartAsItWillBeCalled) {
  EXPECT_EQ(Of("HTTPS://Example.COM./a/../b?c=d#e").Text(), "https://example.com/b?c=d");
  EXPECT_EQ(Of("https://example.com:443/").Bare(), "https://example.com/");
  EXPECT_EQ(Of("http://[::1]:8080").Bare(), "http://[::1]:8080/");
  EXPECT_EQ(Of("http://2130706433/").host, "127.0.0.1");
  EXPECT_EQ(Of("http://0x7f.1/").host, "127.0.0.1");
}

TEST(Url, RefusesOtherSchemesPasswordsAndLines) {
  for (const char* text : {"ftp://example.com", "file:///etc/passwd", "gopher://x", "example.com",
                           "https://user:pass@example.com/", "https://user@example.com/", "",
                           "https://", "https://a b/", "https://a/\r\nX: y"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(url.error().message.find("pass@"), std::string::npos);
  }
}

TEST(Url, RefusesHostsThatOthersReadAsAnotherName) {
  for (const char* text : {"http://\xef\xbd\x8cocalhost/", "http://local\xc2\xadhost/",
                           "http://b\xc3\xbc"
                           "cher.example/",
                           "http://127\xe3\x80\x82"
                           "0.0.1/",
                           "http://%ef%bd%8cocalhost/", "http://localh%256fst/"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(Of("http://xn--bcher-kva.example/").host, "xn--bcher-kva.example");
  EXPECT_EQ(Of("http://%6cocalhost/").host, "localhost");
  EXPECT_EQ(Of("http://my_host-1.example/").host, "my_host-1.example");
}

TEST(Rules, PublicMeansPublicAddressesOnly) {
  const Rules rules = MakeRules({"public"});
  EXPECT_TRUE(May(rules, "https://example.com/", "93.184.216.34"));
  for (const char* address :
       {"127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fe80::1", "::ffff:127.0.0.1"})
    EXPECT_FALSE(May(rules, "https://example.com/", address)) << address;
}

TEST(Rules, NothingListedIsNothingAllowed) {
  EXPECT_FALSE(May(MakeRules({}), "https://example.com/", "93.184.216.34"));
  EXPECT_FALSE(MakeRules({}).Check(Of("https://example.com/")));
}

TEST(Rules, ANameAloneOpensNoPrivateAddress) {
  const Rules rules = MakeRules({"*.example.com"});
  EXPECT_TRUE(May(rules, "https://api.example.com/", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/", "10.0.0.1"));
  EXPECT_FALSE(May(rules, "https://example.com/", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://example.com.evil.net/", "93.184.216.34"));
}

TEST(Rules, ANameWithANetworkOpensThatNetworkToThatNameOnly) {
  const Rules rules = MakeRules({"jenkins.corp:8080@10.20.0.0/16"});
  EXPECT_TRUE(May(rules, "http://jenkins.corp:8080/", "10.20.1.1"));
  EXPECT_FALSE(May(rules, "http://jenkins.corp/", "10.20.1.1"));
  EXPECT_FALSE(May(rules, "http://jenkins.corp:8080/", "10.21.1.1"));
  EXPECT_FALSE(May(rules, "http://jenkins.corp:8080/", "169.254.169.254"));
  EXPECT_FALSE(May(rules, "http://jenkins.corp:8080/", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "http://other.corp:8080/", "10.20.1.1"));
}

TEST(Rules, ANetworkAloneIsForAnyName) {
  const Rules rules = MakeRules({"10.20.0.0/16", "127.0.0.1"});
  EXPECT_TRUE(May(rules, "http://anything/", "10.20.1.1"));
  EXPECT_TRUE(May(rules, "smtp://localhost:2525/", "127.0.0.1"));
  EXPECT_FALSE(May(rules, "http://anything/", "93.184.216.34"));
}

TEST(Rules, AUrlBoundsSchemePortAndPath) {
  const Rules rules = MakeRules({"https://api.example.com/v1/*"});
  EXPECT_TRUE(May(rules, "https://api.example.com/v1/things?x=1", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/v2/things", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "http://api.example.com/v1/things", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com:8443/v1/things", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/v1/../v2/things", "93.184.216.34"));
}

TEST(Rules, APathWithTwoReadingsIsNotAllowed) {
  const Rules rules = MakeRules({"https://api.example.com/v1/*"});
  for (const char* path : {"/v1/%2e%2e/v2", "/v1/..%2fv2", "/v1/%252e%252e/v2", "/v1/..%5cv2",
                           "/v1/..;/v2", "/v1/..;a=b/v2"})
    EXPECT_FALSE(May(rules, std::string("https://api.example.com") + path, "93.184.216.34"))
        << path;
}

TEST(Rules, AnAllowedPathIsNotFoundInTheQuery) {
  const Rules rules =
      MakeRules({"https://api.example.com/*/status", "https://api.example.com/a?b=*"});
  EXPECT_TRUE(May(rules, "https://api.example.com/v1/status", "93.184.216.34"));
  EXPECT_TRUE(May(rules, "https://api.example.com/a?b=c", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/v1/delete?x=/status", "93.184.216.34"));
}

TEST(Rules, AnAddressInAUrlIsItsOwnNetwork) {
  const Rules rules = MakeRules({"http://127.0.0.1:9093/*", "[::1]:9094"});
  EXPECT_TRUE(May(rules, "http://127.0.0.1:9093/api", "127.0.0.1"));
  EXPECT_FALSE(May(rules, "http://127.0.0.1:9095/api", "127.0.0.1"));
  EXPECT_TRUE(May(rules, "http://[::1]:9094/", "::1"));
}

TEST(Rules, DenialsWin) {
  const Rules rules = MakeRules({"public", "10.0.0.0/8"}, {"10.0.0.7", "*.internal.example.com",
                                                           "https://api.example.com/admin*"});
  EXPECT_TRUE(May(rules, "http://x/", "10.0.0.8"));
  EXPECT_FALSE(May(rules, "http://x/", "10.0.0.7"));
  EXPECT_FALSE(May(rules, "http://a.internal.example.com/", "10.0.0.8"));
  EXPECT_FALSE(May(rules, "http://a.internal.example.com/", "93.184.216.34"));
  EXPECT_FALSE(rules.Check(Of("http://a.internal.example.com/")));
  EXPECT_TRUE(May(rules, "https://api.example.com/v1", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/admin/x", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/v1/%2e%2e/admin/x", "93.184.216.34"));
}

TEST(Rules, ADeniedPathIsDeniedHoweverItIsSpelled) {
  const Rules rules = MakeRules({"public"}, {"https://api.example.com/admin/*"});
  for (const char* path :
       {"/admin/x", "/%61dmin/x", "/%61%64%6D%69%6e/x", "//admin/x", "/x/..//admin/x", "/admin//x",
        "/Admin/x", "/ADMIN/x", "/%41dmin/x", "/admin;a=b/x", "/;a=b/admin/x", "/admin%3bx/x",
        "/x/..;/admin/x", "/x/..;a=b/admin/x", "/x/%2e%2e/admin/x", "/x/..%2fadmin/x",
        "/;/%61DMIN;a//x?b=c"}) {
    const std::string url = std::string("https://api.example.com") + path;
    EXPECT_FALSE(May(rules, url, "93.184.216.34")) << path;
    EXPECT_FALSE(rules.Check(Of(url))) << path;
  }
  for (const char* path :
       {"/", "/administrator/x", "/x/admin/x", "/x?y=/admin/x", "/%62dmin/x", "/100%", "/x;/admin"})
    EXPECT_TRUE(May(rules, std::string("https://api.example.com") + path, "93.184.216.34")) << path;
  EXPECT_TRUE(May(rules, "https://api.example.com:8443/x%2fy", "93.184.216.34"));
  EXPECT_TRUE(May(rules, "https://other.example.com/x%2fy", "93.184.216.34"));
}

TEST(Rules, ADeniedPathMayBeSpelledInItsOwnWay) {
  const Rules rules = MakeRules(
      {"public"}, {"https://api.example.com/%61dmin/*", "https://api.example.com/*;jsessionid=*",
                   "https://api.example.com/Run?cmd=*"});
  EXPECT_FALSE(May(rules, "https://api.example.com/admin/x", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/%61dmin/x", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/x;JSESSIONID=1", "93.184.216.34"));
  EXPECT_FALSE(May(rules, "https://api.example.com/run?%63md=x", "93.184.216.34"));
  EXPECT_TRUE(May(rules, "https://api.example.com/x;a=b", "93.184.216.34"));
  EXPECT_TRUE(May(rules, "https://api.example.com/run?x=y", "93.184.216.34"));
}

TEST(Rules, ADeniedAddressIsDeniedUnderEveryName) {
  const Rules rules =
      MakeRules({"127.0.0.0/8", "fd00::/8"},
                {"http://127.0.0.1:81/admin/*", "http://127.0.0.2:81", "[fd00:0:0::1]:81"});
  for (const char* host : {"127.0.0.1", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]", "localhost"}) {
    const std::string origin = std::string("http://") + host;
    EXPECT_FALSE(May(rules, origin + ":81/admin/x", "127.0.0.1")) << host;
    EXPECT_TRUE(May(rules, origin + ":81/x", "127.0.0.1")) << host;
    EXPECT_TRUE(May(rules, origin + ":82/admin/x", "127.0.0.1")) << host;
  }
  EXPECT_TRUE(May(rules, "http://localhost:81/admin/x", "127.0.0.3"));
  EXPECT_FALSE(May(rules, "http://[::ffff:127.0.0.2]:81/", "127.0.0.2"));
  EXPECT_FALSE(May(rules, "http://[fd00::1]:81/", "fd00::1"));
  const Rules pattern = MakeRules({"127.0.0.0/8"}, {"127.0.0.*"});
  EXPECT_FALSE(May(pattern, "http://[::ffff:127.0.0.1]/", "127.0.0.1"));
  EXPECT_TRUE(May(pattern, "http://[::ffff:127.0.1.1]/", "127.0.1.1"));
}

TEST(Rules, AnAllowedAddressIsTheSameInEverySpelling) {
  const Rules rules = MakeRules({"http://[fd00:0:0::1]:81/*"});
  EXPECT_TRUE(May(rules, "http://[fd00::1]:81/x", "fd00::1"));
  EXPECT_FALSE(May(rules, "http://name:81/x", "fd00::1"));
}

TEST(Rules, ARefusalNamesTheSettingAndNotTheQuery) {
  const auto checked =
      MakeRules({"public"})
          .Check(Of("http://metadata/latest?token=abc"), *ParseAddress("169.254.169.254"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kDenied);
  EXPECT_NE(checked.error().message.find("outside.allow"), std::string::npos);
  EXPECT_EQ(checked.error().message.find("token"), std::string::npos);
}

TEST(Rule, RefusesNonsense) {
  for (const char* text : {"", "a b", "ftp://x", "https://", "example.com:0", "example.com:99999",
                           "example.com@", "example.com@other.com", "10.0.0.0/99", "://x"})
    EXPECT_FALSE(Rule::Parse(text)) << text;
}

}  // namespace
}  // namespace muster::outside
