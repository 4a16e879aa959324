// What only the real adapter has: names, addresses, TLS, redirects, mail.
#include "adapters/egress/curl_actions.hpp"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/crypto/pki.hpp"
#include "adapters/system/system_clock.hpp"
#include "base/text.hpp"
#include "contract/server_actions_fixture.hpp"
#include "support/outside_world.hpp"
#include "support/temp_folder.hpp"

namespace muster {
namespace {

using outside::CurlActions;
using outside::OutsideSettings;
using testing::HasSubstr;
using testing::SizeIs;

// A server with a certificate for localhost.
class CurlActionsTest : public testing::Test {
 protected:
  CurlActionsTest() {
    const auto ca = crypto::MakeCa("test", std::chrono::hours(1));
    const auto cert = crypto::MakeServerCert(*ca, {"localhost"}, std::chrono::hours(1));
    Write("ca.pem", ca->cert_pem);
    Write("cert.pem", cert->cert_pem);
    Write("key.pem", cert->key_pem);
    world_ = std::make_unique<OutsideWorld>(File("cert.pem"), File("key.pem"));
  }

  std::string File(const std::string& name) { return (folder_.Path() / name).string(); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(File(name)) << text;
  }

  ServerOutcome Do(ServerAction action, const OutsideSettings& settings) {
    auto actions = CurlActions::Make(settings, clock_);
    EXPECT_TRUE(actions) << actions.error().message;
    Pending pending;
    (*actions)->Start(ServerTask(1), std::move(action), pending.Done());
    return pending.Get();
  }
  ServerOutcome Do(ServerAction action) { return Do(std::move(action), Local()); }
  OutsideSettings Local() { return {.allow = {"127.0.0.1", "::1"}, .ca_file = File("ca.pem")}; }
  // Asks the world; the answer's body.
  std::string Ask(const std::string& path) { return Do(Get(world_->Http(path))).output; }
  std::size_t Seen() {
    return static_cast<std::size_t>(boost::json::parse(Ask("/seen")).at("count").as_int64());
  }
  boost::json::array Mails() { return boost::json::parse(Ask("/mails")).as_array(); }

  std::string At(const std::string& host, const char* port, const std::string& path) {
    return "http://" + host + ":" + world_->Port(port) + path;
  }
  Channel Mail(const char* port, MailTls tls) {
    return {.name = "ops-mail",
            .way = MailChannel{.server = "localhost:" + world_->Port(port),
                               .from = "muster@example.com",
                               .to = {"ops@example.com", "web@example.com"},
                               .tls = tls}};
  }

  TempFolder folder_;
  SystemClock clock_;
  std::unique_ptr<OutsideWorld> world_;
};

TEST_F(CurlActionsTest, NothingPrivateIsCalledUnlessListed) {
  for (const std::string& host :
       {std::string("127.0.0.1"), std::string("localhost"), std::string("[::1]"),
        std::string("[::ffff:127.0.0.1]"), std::string("2130706433"), std::string("127.1")}) {
    const auto outcome = Do(Get(At(host, "http", "/echo")), {});
    EXPECT_EQ(outcome.state, TaskState::kRefused) << host << ": " << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr("outside.allow"));
  }
  EXPECT_EQ(Do(Get("http://169.254.169.254/latest/meta-data/"), {}).state, TaskState::kRefused);
  EXPECT_EQ(Seen(), 0U);
}

// What a name says today it may not say tomorrow: the address that is connected to decides.
TEST_F(CurlActionsTest, AListedNameDoesNotOpenWhatItResolvesTo) {
  const auto url = At("localhost", "http", "/echo");
  const auto outcome = Do(Get(url), {.allow = {"public", "localhost"}});
  EXPECT_EQ(outcome.state, TaskState::kRefused) << outcome.reason;
  EXPECT_EQ(Seen(), 0U);
  EXPECT_EQ(Do(Get(url), {.allow = {"localhost@127.0.0.0/8"}}).state, TaskState::kSucceeded);
  EXPECT_EQ(Do(Get(url), {.allow = {"127.0.0.0/8"}, .deny = {"localhost"}}).state,
            TaskState::kRefused);
}

TEST_F(CurlActionsTest, OtherSettingsCountForWhatBeginsLater) {
  auto actions = CurlActions::Make({}, clock_);
  ASSERT_TRUE(actions);
  EXPECT_FALSE((*actions)->Use({.allow = {"no rule at all"}}));
  for (const auto& [settings, state] :
       {std::pair(OutsideSettings{}, TaskState::kRefused), {Local(), TaskState::kSucceeded}}) {
    ASSERT_TRUE((*actions)->Use(settings));
    Pending pending;
    (*actions)->Start(ServerTask(1), Get(world_->Http("/json")), pending.Done());
    EXPECT_EQ(pending.Get().state, state);
  }
}

TEST_F(CurlActionsTest, ProxiesOfTheEnvironmentAreNotUsed) {
  ::setenv("http_proxy", At("127.0.0.1", "http", "/").c_str(), 1);
  const auto outcome = Do(Get("http://192.0.2.1/echo"), {.allow = {"127.0.0.1"}});
  ::unsetenv("http_proxy");
  EXPECT_EQ(outcome.state, TaskState::kRefused) << outcome.reason;
  EXPECT_EQ(Seen(), 0U);
}

TEST_F(CurlActionsTest, RedirectsAreFollowedOnTheSameHostOnly) {
  auto outcome = Do(Get(world_->Http("/redirect//json"), {{"id", "/id"}}));
  EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
  outcome = Do(Get(world_->Http("/redirect/" + At("localhost", "http", "/json"))));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_EQ(outcome.status, 302);
  outcome = Do(Get(world_->Http("/redirect/" + At("127.0.0.1", "plain_mail", "/json"))));
  EXPECT_EQ(outcome.status, 302);
  outcome = Do(Get(world_->Http("/redirect/file:///etc/passwd")));
  EXPECT_EQ(outcome.status, 302);
}

TEST_F(CurlActionsTest, RedirectsEndAndMayBeExpected) {
  HttpAction action{.url = world_->Http("/redirect//json"), .expect = {302}};
  EXPECT_EQ(Do({.what = action}).state, TaskState::kSucceeded);
  std::string path = "/json";
  for (int i = 0; i < 6; ++i) path = "/redirect/" + path;
  EXPECT_THAT(Do(Get(world_->Http(path))).reason, HasSubstr("redirects"));
  action = {.method = "POST", .url = world_->Http("/redirect//json"), .body = "{}"};
  EXPECT_EQ(Do({.what = action}).status, 302);
}

TEST_F(CurlActionsTest, TlsIsVerified) {
  const std::string url = "https://localhost:" + world_->Port("https") + "/json";
  EXPECT_EQ(Do(Get(url)).state, TaskState::kSucceeded);
  const auto outcome = Do(Get(url), {.allow = {"127.0.0.1", "::1"}});
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("certificate"));
  // The right CA, another name.
  const std::string other = "https://127.0.0.1:" + world_->Port("https") + "/json";
  EXPECT_THAT(Do(Get(other)).reason, HasSubstr("127.0.0.1"));
  EXPECT_EQ(Do(Get(other)).state, TaskState::kFailed);
}

TEST_F(CurlActionsTest, NobodyThereIsAFailure) {
  const auto outcome = Do(Get("http://127.0.0.1:1/"));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.reason, "");
}

TEST_F(CurlActionsTest, AMailArrives) {
  const auto outcome =
      Do(Tell(Mail("plain_mail", MailTls::kNone), "3 hosts failed: größer\n.\nend"));
  EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
  const auto mails = Mails();
  ASSERT_THAT(mails, SizeIs(1));
  EXPECT_THAT(std::string(mails[0].at("from").as_string()), HasSubstr("<muster@example.com>"));
  EXPECT_EQ(mails[0].at("to"),
            (boost::json::array{"RCPT TO:<ops@example.com>", "RCPT TO:<web@example.com>"}));
  const std::string text(mails[0].at("text").as_string());
  EXPECT_THAT(text, HasSubstr("\nSubject: =?utf-8?B?"));
  EXPECT_THAT(text, HasSubstr("\nMessage-ID: <r12-3-1@example.com>\n"));
  std::string body = text.substr(text.find("\n\n") + 2);
  std::erase(body, '\n');
  const auto decoded = FromBase64(body);
  ASSERT_TRUE(decoded) << body;
  EXPECT_THAT(*decoded, HasSubstr("größer\n.\nend"));
  EXPECT_THAT(*decoded, HasSubstr("https://muster.example.com/runs/r12"));
}

TEST_F(CurlActionsTest, AMailIsSentOverTlsWithAPassword) {
  Channel channel = Mail("mail", MailTls::kStartTls);
  auto& mail = std::get<MailChannel>(channel.way);
  mail.user = "muster";
  mail.password = "hunter2";
  const auto outcome = Do(Tell(channel));
  EXPECT_EQ(outcome.state, TaskState::kSucceeded) << outcome.reason;
  const auto mails = Mails();
  ASSERT_THAT(mails, SizeIs(1));
  EXPECT_EQ(mails[0].at("tls"), true);
  EXPECT_EQ(mails[0].at("auth"), "|muster|hunter2");
}

TEST_F(CurlActionsTest, AMailThatNeedsTlsIsNotSentWithout) {
  EXPECT_EQ(Do(Tell(Mail("plain_mail", MailTls::kStartTls))).state, TaskState::kFailed);
  EXPECT_EQ(Do(Tell(Mail("mail", MailTls::kStartTls)), {.allow = {"127.0.0.1", "::1"}}).state,
            TaskState::kFailed);  // not the system's CA
  EXPECT_THAT(Mails(), SizeIs(0));
}

TEST_F(CurlActionsTest, ARecipientWhoIsRefusedFailsTheMail) {
  Channel channel = Mail("plain_mail", MailTls::kNone);
  std::get<MailChannel>(channel.way).to.emplace_back("nobody@example.com");
  const auto outcome = Do(Tell(channel));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
  EXPECT_EQ(outcome.status, 550);
  EXPECT_THAT(Mails(), SizeIs(0));
}

TEST_F(CurlActionsTest, AMailServerIsHeldToTheRulesToo) {
  EXPECT_EQ(Do(Tell(Mail("plain_mail", MailTls::kNone)), {}).state, TaskState::kRefused);
}

}  // namespace
}  // namespace muster
