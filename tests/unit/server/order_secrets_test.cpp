#include "server/gateway/order_secrets.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

class OrderSecretsTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const Command> Naming(std::string secret) {
    Command command;
    command.argv = {"env"};
    command.secrets = {{.variable = "DB", .secret = std::move(secret)}};
    return std::make_shared<const Command>(std::move(command));
  }
  static link::Order OrderOf(std::uint64_t host, std::shared_ptr<const Command> command) {
    link::Order order;
    order.task = {RunId(1), Visit(1), static_cast<std::uint32_t>(host - 1), HostId(host),
                  Attempt(1)};
    order.session = 77;
    order.command = std::move(command);
    return order;
  }
  int asked_ = 0;
  FindSecret find_ = [this](std::string_view name) -> Result<std::string> {
    ++asked_;
    if (name == "db") return std::string("hunter2-hunter2");
    return Fail(ErrorCode::kNotFound, "there is no secret '{}'", name);
  };
};

TEST_F(OrderSecretsTest, ValueJoinsACopyOfTheCommand) {
  const auto command = Naming("db");
  Links::Outgoing outgoing{LinkId(5), {}};
  outgoing.frame.orders = {OrderOf(1, command)};
  OrderSecrets secrets(find_);
  EXPECT_TRUE(secrets.Fill(outgoing).empty());
  const Command& sent = *outgoing.frame.orders.at(0).command;
  EXPECT_EQ(sent.env,
            (std::vector<std::pair<std::string, std::string>>{{"DB", "hunter2-hunter2"}}));
  EXPECT_EQ(sent.masks, std::vector<std::string>{"hunter2-hunter2"});
  EXPECT_TRUE(command->env.empty()) << "what the engine has holds no value";
}

TEST_F(OrderSecretsTest, CommandOfManyHostsIsFilledOnce) {
  const auto command = Naming("db");
  OrderSecrets secrets(find_);
  std::shared_ptr<const Command> first;
  for (std::uint64_t host = 1; host <= 3; ++host) {
    Links::Outgoing outgoing{LinkId(host), {}};
    outgoing.frame.orders = {OrderOf(host, command)};
    EXPECT_TRUE(secrets.Fill(outgoing).empty());
    if (!first) first = outgoing.frame.orders.at(0).command;
    EXPECT_EQ(outgoing.frame.orders.at(0).command, first);
  }
  EXPECT_EQ(asked_, 1);
}

TEST_F(OrderSecretsTest, MissingSecretIsReportedInTheNodesPlaceAndTheRestGoesOut) {
  Links::Outgoing outgoing{LinkId(5), {}};
  const auto plain = std::make_shared<const Command>();
  outgoing.frame.orders = {OrderOf(1, Naming("gone")), OrderOf(2, plain)};
  OrderSecrets secrets(find_);
  const auto refused = secrets.Fill(outgoing);
  ASSERT_EQ(outgoing.frame.orders.size(), 1U);
  EXPECT_EQ(outgoing.frame.orders[0].command, plain);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].link, LinkId(5));
  EXPECT_EQ(refused[0].session, 77U);
  ASSERT_EQ(refused[0].reports.size(), 1U);
  const auto& [report, mark] = refused[0].reports[0];
  EXPECT_EQ(report.kind, link::ReportKind::kEnded);
  EXPECT_EQ(report.task.host, HostId(1));
  EXPECT_EQ(report.end->state, TaskState::kRefused);
  EXPECT_NE(report.end->reason.find("gone"), std::string::npos);
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->state, LogState::kComplete);
}

}  // namespace
}  // namespace muster::server
