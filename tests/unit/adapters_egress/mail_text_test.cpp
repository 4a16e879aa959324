#include "adapters/egress/mail_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::outside {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string MakeMail(std::string message, std::string subject = "") {
  const MailChannel mail{.server = "mail.example.com",
                         .from = "muster@example.com",
                         .to = {"a@example.com", "b@example.com"},
                         .subject = std::move(subject)};
  const ChannelMessage told{
      .channel = {.name = "mail", .way = mail}, .run = RunId(7), .message = std::move(message)};
  const TaskKey task{.run = RunId(7), .visit = Visit(2), .ordinal = 0, .attempt = Attempt(3)};
  return MailText(task, told, mail, {1'763'200'000'000});
}

TEST(MailText, HasTheHeadersOfAMail) {
  const std::string text = MakeMail("it failed\nmore");
  EXPECT_THAT(text, HasSubstr("Date: Sat, 15 Nov 2025 09:46:40 +0000\r\n"));
  EXPECT_THAT(text, HasSubstr("From: muster@example.com\r\n"));
  EXPECT_THAT(text, HasSubstr("To: a@example.com,\r\n b@example.com\r\n"));
  EXPECT_THAT(text, HasSubstr("Subject: it failed\r\n"));
  EXPECT_THAT(text, HasSubstr("Message-ID: <r7-2-0@example.com>\r\n"));
}

TEST(MailText, EveryLineEndsInCrLfAndIsShort) {
  const std::string text = MakeMail(std::string(5000, 'x'), std::string(300, 'y') + "\xc3\xa4");
  for (const auto line : Split(text, '\n')) {
    if (line.empty()) continue;
    EXPECT_TRUE(line.ends_with('\r'));
    EXPECT_LE(line.size(), 90U) << line;
  }
}

TEST(MailText, AMessageCannotAddHeaders) {
  const std::string text = MakeMail("hello\r\nBcc: all@example.com\r\n\r\nbody");
  const std::string head = text.substr(0, text.find("\r\n\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Bcc")));
}

TEST(HeaderText, IsPlainWhereItCanBe) {
  EXPECT_EQ(HeaderText("plain text"), "plain text");
  EXPECT_EQ(HeaderText("a\r\nb"), "a  b");
  EXPECT_EQ(HeaderText("gr\xc3\xb6\xc3\x9f"
                       "e"),
            "=?utf-8?B?" +
                ToBase64("gr\xc3\xb6\xc3\x9f"
                         "e") +
                "?=");
  EXPECT_THAT(HeaderText("=?utf-8?B?eA==?="), Not(HasSubstr("eA==")));
}

TEST(HeaderText, CutsNoCharacter) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "\xe6\xbc\xa2";
  std::string decoded;
  for (auto word : Split(HeaderText(text), ' ')) {
    while (!word.empty() && (word.back() == '\r' || word.back() == '\n')) word.remove_suffix(1);
    ASSERT_TRUE(word.starts_with("=?utf-8?B?") && word.ends_with("?=")) << word;
    EXPECT_LE(word.size(), 75U);
    const auto piece = FromBase64(word.substr(10, word.size() - 12));
    ASSERT_TRUE(piece);
    EXPECT_TRUE(IsUtf8(*piece));
    decoded += *piece;
  }
  EXPECT_EQ(decoded, text);
}

}  // namespace
}  // namespace muster::outside
