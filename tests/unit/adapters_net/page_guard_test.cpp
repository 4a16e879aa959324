#include "adapters/net/page_guard.hpp"

#include <gtest/gtest.h>

namespace muster::net {
namespace {

const std::vector<std::string> kNames = {"muster.example", "fd00::7"};

// The status it is refused with; 0 when it is answered.
int Refused(const RequestSource& source) {
  const auto problem = CheckSource(source, kNames);
  return problem ? problem->status : 0;
}

TEST(PageGuard, PlainRequestsAreForThisMachine) {
  for (const std::string_view host :
       {"localhost", "LOCALHOST:8440", "127.0.0.1", "127.255.0.3:1", "[::1]", "[::1]:8440",
        "muster.example", "Muster.Example:443", "[fd00::7]:8440", "localhost:"})
    EXPECT_EQ(Refused({.hosts = {host}}), 0) << host;
  for (const std::string_view host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.", "a.localhost", "127.1", "0.0.0.0",
        "::1", "[::1", "[::1]x", "[::1]:x", "localhost:80@evil.example", "localhost,evil.example",
        "xmuster.example", "muster.example.evil.example", ""})
    EXPECT_EQ(Refused({.hosts = {host}}), 421) << host;
}

TEST(PageGuard, EveryHostHeaderCounts) {
  EXPECT_EQ(Refused({.hosts = {"localhost", "evil.example"}}), 421);
  EXPECT_EQ(Refused({}), 0) << "a program may send none; browsers always do";
}

TEST(PageGuard, OverTlsTheCertificateNamesTheServer) {
  EXPECT_EQ(Refused({.tls = true, .hosts = {"web7.example"}}), 0);
}

TEST(PageGuard, PagesOfOtherSitesAreRefused) {
  for (const bool tls : {false, true}) {
    for (const std::string_view origin :
         {"null", "", "http://evil.example", "http://localhost:3000", "http://localhost",
          "https://evil.example/localhost:8440", "localhost:8440", "http://localhost:8440.evil"})
      EXPECT_EQ(Refused({.tls = tls, .hosts = {"localhost:8440"}, .origins = {origin}}), 403)
          << origin;
    for (const std::string_view origin :
         {"http://localhost:8440", "https://LocalHost:8440", "https://muster.example"})
      EXPECT_EQ(Refused({.tls = tls, .hosts = {"localhost:8440"}, .origins = {origin}}), 0)
          << origin;
  }
  EXPECT_EQ(Refused({.hosts = {"localhost"}, .origins = {"http://localhost", "null"}}), 403);
}

TEST(PageGuard, NoPageGetsALink) {
  EXPECT_EQ(Refused({.tls = true, .link = true, .hosts = {"web7.example"}}), 0);
  EXPECT_EQ(Refused({.tls = true,
                     .link = true,
                     .hosts = {"web7.example"},
                     .origins = {"https://web7.example"}}),
            403);
}

TEST(PageGuard, AnswersNameWhatIsRefused) {
  const auto reason = [](const RequestSource& source) {
    return CheckSource(source, kNames).value().reason;
  };
  EXPECT_NE(reason({.hosts = {"localhost", "evil.example:80"}}).find("'evil.example'"),
            std::string::npos);
  EXPECT_NE(reason({.hosts = {"localhost"}, .origins = {"https://evil.example"}})
                .find("(Origin: https://evil.example)"),
            std::string::npos);
}

TEST(PageGuard, AnswersShowABoundedPartOfAHeaderAndNoControlCharacters) {
  const std::string odd = "\x1b[31m\r\n\xff" + std::string(10'000, 'x');
  for (const auto& source :
       {RequestSource{.hosts = {odd}}, RequestSource{.hosts = {"localhost"}, .origins = {odd}}}) {
    const auto problem = CheckSource(source, kNames);
    ASSERT_TRUE(problem);
    EXPECT_LT(problem->reason.size(), 300U);
    for (const char c : problem->reason) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

}  // namespace
}  // namespace muster::net
