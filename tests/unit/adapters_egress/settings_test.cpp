#include "adapters/egress/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::outside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(OutsideSettings, AreReadFromTheFile) {
  OutsideSettings outside;
  const auto read = settings::ReadText(
      "outside:\n"
      "  allow: [public, 10.20.0.0/16, 'jenkins.corp:8080@10.0.0.0/8', 'https://a.example/v1/*']\n"
      "  deny: ['*.internal']\n"
      "  ca_file: /etc/muster/corp.pem\n"
      "  connect_timeout: 2s\n",
      "musterd.yaml", {Describe(outside)});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(outside.allow, ElementsAre("public", "10.20.0.0/16", "jenkins.corp:8080@10.0.0.0/8",
                                         "https://a.example/v1/*"));
  EXPECT_THAT(outside.deny, ElementsAre("*.internal"));
  EXPECT_EQ(outside.ca_file, "/etc/muster/corp.pem");
  EXPECT_EQ(outside.connect_timeout, std::chrono::seconds(2));
}

TEST(OutsideSettings, AllowOnlyPublicAddressesByDefault) {
  OutsideSettings outside;
  ASSERT_TRUE(settings::ReadText("outside: {}\n", "musterd.yaml", {Describe(outside)}));
  EXPECT_THAT(outside.allow, ElementsAre("public"));
  EXPECT_TRUE(outside.deny.empty());
}

TEST(OutsideSettings, NameTheLineOfAWrongEntry) {
  OutsideSettings outside;
  for (const char* text :
       {"outside:\n  allow: [public, 'ten dot']\n", "outside:\n  deny: ['a b']\n",
        "outside:\n  connect_timeout: 0s\n", "outside:\n  alow: [public]\n"}) {
    const auto read = settings::ReadText(text, "musterd.yaml", {Describe(outside)});
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("musterd.yaml:2:"));
  }
}

TEST(OutsideSettings, PrintedReadBack) {
  OutsideSettings outside{.allow = {"public", "fd00::/8"}, .deny = {"x.example:25"}};
  OutsideSettings again;
  const auto text = settings::Print({Describe(outside)});
  const auto read = settings::ReadText(text, "printed", {Describe(again)});
  ASSERT_TRUE(read) << read.error().message << text;
  EXPECT_EQ(again.allow, outside.allow);
  EXPECT_EQ(again.deny, outside.deny);
}

TEST(OutsideSettings, AreTakenOverByAReload) {
  OutsideSettings before;
  OutsideSettings after{.allow = {"10.0.0.0/8"}};
  const auto differences = settings::TakeLive({Describe(before)}, {Describe(after)});
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_TRUE(differences[0].live);
  EXPECT_THAT(before.allow, ElementsAre("10.0.0.0/8"));
}

}  // namespace
}  // namespace muster::outside
