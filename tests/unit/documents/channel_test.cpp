#include "documents/kinds/channel.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace muster::documents {
namespace {

std::vector<Channel> ChannelsOf(const std::string& file) {
  std::vector<Channel> channels;
  for (const auto& document : ReadTreeFile(file).documents)
    if (const auto* channel = std::get_if<ChannelDocument>(&document.body)) {
      auto made = ChannelOf(*channel);
      EXPECT_TRUE(made) << made.error().message;
      if (made) channels.push_back(std::move(*made));
    }
  return channels;
}

TEST(ChannelOf, HasWhatTheDocumentSays) {
  const auto channels = ChannelsOf("tests/documents/good/every-key.yaml");
  const std::vector<Channel> expected{
      {"ops",
       ChatChannel{.url = "secret:ops-url",
                   .headers = {{"Authorization", "secret:ops-token"}, {"X-From", "muster"}}}},
      {"hook", WebhookChannel{.url = "https://hooks.example/x"}},
      {"mail", MailChannel{.server = "mail.example:587",
                           .from = "muster@example.com",
                           .to = {"ops@example.com", "boss@example.com"},
                           .subject = "Muster",
                           .tls = MailTls::kTls,
                           .user = "muster",
                           .password = "secret:mail"}}};
  EXPECT_EQ(channels, expected);
}

TEST(ChannelOf, MailIsSentOverTlsUnlessItSaysOtherwise) {
  ChannelDocument mail{.name = "mail",
                       .type = ChannelType::kSmtp,
                       .server = "localhost:25",
                       .from = "a@example.com",
                       .to = {"b@example.com"}};
  EXPECT_EQ(std::get<MailChannel>(ChannelOf(mail)->way).tls, MailTls::kStartTls);
  mail.tls = "none";
  EXPECT_EQ(std::get<MailChannel>(ChannelOf(mail)->way).tls, MailTls::kNone);
  mail.user = "muster";
  mail.password = "secret:mail";
  ASSERT_FALSE(ChannelOf(mail));
  EXPECT_EQ(ChannelOf(mail).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::documents
