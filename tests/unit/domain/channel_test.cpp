#include "domain/channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Channel Mail() {
  return {.name = "ops-mail",
          .way = MailChannel{.server = "mail.example.com:587",
                             .from = "muster@example.com",
                             .to = {"ops@example.com"},
                             .user = "muster",
                             .password = "secret:mail.password"}};
}
Channel Webhook(std::string url) {
  return {.name = "hook",
          .way = WebhookChannel{
              .url = std::move(url),
              .headers = {{"Authorization", "Bearer secret:hook"}, {"X-Team", "ops"}}}};
}

Result<std::string> Find(std::string_view name) {
  if (name == "none") return Fail(ErrorCode::kNotFound, "no secret 'none'");
  return "value of " + std::string(name);
}

TEST(CheckChannel, TakesEachKind) {
  EXPECT_TRUE(CheckChannel(Mail()));
  EXPECT_TRUE(CheckChannel(Webhook("https://example.com/hook")));
  EXPECT_TRUE(CheckChannel({.name = "chat", .way = ChatChannel{.url = "secret:chat.url"}}));
}

TEST(CheckChannel, RefusesOtherSchemesAndNames) {
  EXPECT_FALSE(CheckChannel(Webhook("ftp://example.com")));
  EXPECT_FALSE(CheckChannel(Webhook("file:///etc/passwd")));
  EXPECT_FALSE(CheckChannel(Webhook("secret:not a name")));
  EXPECT_FALSE(CheckChannel({.name = "a b", .way = ChatChannel{.url = "https://x"}}));
}

TEST(CheckChannel, RefusesWhatWouldBeginAnotherLine) {
  Channel channel = Mail();
  auto& mail = std::get<MailChannel>(channel.way);
  mail.subject = "hello\r\nBcc: all@example.com";
  EXPECT_FALSE(CheckChannel(channel));
  mail.subject.clear();
  mail.to = {"ops@example.com\r\nRCPT TO:<all@example.com>"};
  EXPECT_FALSE(CheckChannel(channel));
  Channel webhook = Webhook("https://example.com");
  std::get<WebhookChannel>(webhook.way).headers = {{"X-A", "b\r\nX-C: d"}};
  EXPECT_FALSE(CheckChannel(webhook));
}

TEST(CheckChannel, HoldsMailAddressesToTheirForm) {
  for (const std::string& address :
       {"ops", "@example.com", "ops@", "a@b@c", "Ops <ops@example.com>", "a,b@example.com"}) {
    Channel channel = Mail();
    std::get<MailChannel>(channel.way).to = {address};
    EXPECT_FALSE(CheckChannel(channel)) << address;
  }
}

TEST(CheckChannel, RefusesAPasswordInTheClear) {
  Channel channel = Mail();
  std::get<MailChannel>(channel.way).tls = MailTls::kNone;
  EXPECT_FALSE(CheckChannel(channel));
}

TEST(FillSecrets, PutsValuesInPlaceAndMasksThem) {
  Channel channel = Webhook("secret:url");
  std::vector<std::string> masks;
  ASSERT_TRUE(FillSecrets(channel, Find, masks));
  const auto& webhook = std::get<WebhookChannel>(channel.way);
  EXPECT_EQ(webhook.url, "value of url");
  EXPECT_EQ(webhook.headers[0].second, "Bearer value of hook");
  EXPECT_EQ(webhook.headers[1].second, "ops");
  EXPECT_THAT(masks, ElementsAre("value of url", "value of hook"));
}

TEST(FillSecrets, LeavesEverythingWhenOneIsMissing) {
  Channel channel = Webhook("secret:url");
  std::get<WebhookChannel>(channel.way).headers[0].second = "Bearer secret:none";
  const Channel before = channel;
  std::vector<std::string> masks;
  const auto filled = FillSecrets(channel, Find, masks);
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(channel, before);
}

TEST(SecretsOf, NamesThem) {
  EXPECT_THAT(SecretsOf(Mail()), ElementsAre("mail.password"));
  EXPECT_THAT(SecretsOf(Webhook("secret:url")), ElementsAre("url", "hook"));
  EXPECT_THAT(SecretsOf({.name = "chat", .way = ChatChannel{.url = "https://x"}}), IsEmpty());
}

TEST(HasSecretUrl, LooksAtTheUrlAlone) {
  EXPECT_TRUE(HasSecretUrl(Webhook("secret:url")));
  EXPECT_TRUE(HasSecretUrl({.name = "chat", .way = ChatChannel{.url = "secret:chat"}}));
  EXPECT_FALSE(HasSecretUrl(Webhook("https://x")));
  EXPECT_FALSE(HasSecretUrl({.name = "chat", .way = ChatChannel{.url = "https://x"}}));
  EXPECT_FALSE(HasSecretUrl(Mail()));
}

TEST(MailTls, NamesReadBack) {
  for (const auto tls : {MailTls::kNone, MailTls::kStartTls, MailTls::kTls})
    EXPECT_EQ(ParseMailTls(Name(tls)), tls);
  EXPECT_EQ(ParseMailTls("ssl"), std::nullopt);
}

}  // namespace
}  // namespace muster
