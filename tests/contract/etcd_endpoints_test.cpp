#include "adapters/crypto/pki.hpp"
#include "base/text.hpp"
#include "contract/etcd_fixture.hpp"
#include "support/etcd_certificates.hpp"
#include "support/odd_server.hpp"

// Endpoints that are away, silent, something else, or want to know who asks.
namespace muster {
namespace {

using namespace std::chrono_literals;

class EtcdEndpoints : public EtcdTest {
 protected:
  // Why it cannot ask, once it has tried.
  static std::string AwaitTrouble(const Coordinator& coordinator) {
    Eventually([&] { return !coordinator.Trouble().empty(); });
    return coordinator.Trouble();
  }
  bool Leads(EtcdOptions options) {
    auto one = Make(std::move(options));
    const std::size_t before = All().size();
    return one && Campaign(*one, "a") && Await(before + 1).size() > before && AwaitRenewal(*one) &&
           one->Trouble().empty();
  }
};

TEST_F(EtcdEndpoints, OptionsThatMakeNoSenseAreRefused) {
  const std::vector<EtcdOptions> wrong{
      {.endpoints = {}},
      {.endpoints = {"127.0.0.1:2379"}},
      {.endpoints = {"http://127.0.0.1:2379"}, .prefix = ""},
      {.endpoints = {"http://127.0.0.1:2379"}, .lease = 10ms},
      {.endpoints = {"http://127.0.0.1:2379"}, .timeout = 2s},
      {.endpoints = {"http://10.0.0.1:2379"}},
      {.endpoints = {"http://127.0.0.1:2379", "http://etcd.example"}},
      {.endpoints = {"https://10.0.0.1:2379", "http://10.0.0.2:2379"}},
      {.endpoints = {"http://127.evil.example:2379"}},
  };
  for (const EtcdOptions& options : wrong) {
    const auto made = EtcdCoordinator::Make(options, clock_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  }
  for (const char* url :
       {"http://127.0.0.1:2379", "http://[::1]", "http://localhost:1", "https://etcd.example"})
    EXPECT_TRUE(EtcdCoordinator::Check(To({url}))) << url;
  EXPECT_FALSE(EtcdCoordinator::LeavesTheMachine({"http://127.0.0.1:1", "https://localhost"}));
  EXPECT_TRUE(EtcdCoordinator::LeavesTheMachine({"http://127.0.0.1:1", "https://etcd.example"}));
  EXPECT_FALSE(EtcdCoordinator::LeavesTheMachine({}));
}

TEST_F(EtcdEndpoints, NobodyThereIsSaid) {
  const std::string url = fmt::format("http://127.0.0.1:{}", FreePorts(1)[0]);
  auto one = Make(To({url}));
  ASSERT_TRUE(Campaign(*one, "a"));
  EXPECT_EQ(AwaitTrouble(*one),
            fmt::format("etcd: no endpoint answers: cannot connect to {}: connection refused; is "
                        "etcd running there?",
                        url));
  EXPECT_EQ(one->Leader(), "");
  EXPECT_EQ(one->LeadUntil(), MonoTime{0});
}

TEST_F(EtcdEndpoints, WhatIsNotEtcdIsSaidAndPassedOver) {
  PrivateEtcd etcd;
  const std::vector<std::string> answers{
      "",
      "SSH-2.0-OpenSSH_9.2\r\n",
      std::string("\x15\x03\x01\x00\x02\x02\x46", 7),
      OddServer::Http("<html>It works!</html>"),
      OddServer::Http("{}"),
      OddServer::Http("[1,2,3]"),
      OddServer::Http(R"({"header":{}})"),
      OddServer::Http(R"({"header":7,"ID":"12x","TTL":-5})"),
      OddServer::Http(R"({"header":{},"ID":"1","TTL":"99999999999999999999"})"),
      OddServer::Http(R"({"result":{"header":{"revision":"9"},"ID":"1"}})"),
      OddServer::Http(std::string(8 << 20, '[')),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
  };
  for (const std::string& answer : answers) {
    const OddServer odd(answer);
    {
      auto one = Make(To({odd.Url()}));
      ASSERT_TRUE(Campaign(*one, "a"));
      EXPECT_TRUE(AwaitTrouble(*one).starts_with("etcd: ")) << answer.substr(0, 100);
      EXPECT_EQ(one->LeadUntil(), MonoTime{0});
    }
    EXPECT_TRUE(Leads(To({odd.Url(), etcd.Url(0)}))) << answer.substr(0, 100);
  }
}

TEST_F(EtcdEndpoints, SilentOneDoesNotCostTheLeadership) {
  PrivateEtcd etcd;
  TcpForwarder left(etcd.Port(0));
  TcpForwarder right(etcd.Port(0));
  left.Hold(true);
  auto options = To({left.Url(), right.Url()});
  options.lease = 4s;  // a busy machine takes its time as well
  auto one = Make(options);
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(AwaitRenewal(*one, options.lease));
  for (TcpForwarder* held : {&right, &left, &right}) {
    TcpForwarder* other = held == &right ? &left : &right;
    other->Hold(false);
    held->Hold(true);
    ASSERT_TRUE(AwaitRenewal(*one, options.lease));
  }
  EXPECT_EQ(All(), Told{"a elected"});
}

TEST_F(EtcdEndpoints, UserAndPassword) {
  PrivateEtcd etcd({.flags = {"--bcrypt-cost", "4"}});
  ASSERT_TRUE(Leads({.endpoints = etcd.Urls(), .user = "muster", .password = SecretText("x")}))
      << "where users are not switched on, none is needed";
  ASSERT_EQ(etcd.Post("/v3/auth/user/add", R"({"name":"root","password":"r"})"), 200);
  ASSERT_EQ(etcd.Post("/v3/auth/user/grant", R"({"user":"root","role":"root"})"), 200);
  ASSERT_EQ(etcd.Post("/v3/auth/user/add", R"({"name":"muster","password":"secret"})"), 200);
  ASSERT_EQ(etcd.Post("/v3/auth/user/add", R"({"name":"guest","password":"guest"})"), 200);
  ASSERT_EQ(etcd.Post("/v3/auth/role/add", R"({"name":"muster"})"), 200);
  const std::string grant = fmt::format(
      R"({{"name":"muster","perm":{{"permType":"READWRITE","key":"{}","range_end":"{}"}}}})",
      ToBase64("/muster/"), ToBase64("/muster0"));
  ASSERT_EQ(etcd.Post("/v3/auth/role/grant", grant), 200);
  ASSERT_EQ(etcd.Post("/v3/auth/user/grant", R"({"user":"muster","role":"muster"})"), 200);
  ASSERT_EQ(etcd.Post("/v3/auth/enable", "{}"), 200);

  const auto as = [&](const std::string& user, const std::string& password) {
    return EtcdOptions{.endpoints = etcd.Urls(), .user = user, .password = SecretText(password)};
  };
  const auto trouble = [&](const std::string& user, const std::string& password,
                           std::string_view expected) {
    auto one = Make(as(user, password));
    return Eventually([&] { return one->Trouble().contains(expected); });
  };
  EXPECT_TRUE(trouble("muster", "wrong", "check user and password"));
  EXPECT_TRUE(trouble("", "", "user name is empty"));
  EXPECT_TRUE(trouble("guest", "guest", "guest must be granted"));

  auto one = Make(as("muster", "secret"));
  auto two = Make(as("muster", "secret"));
  ASSERT_TRUE(Campaign(*one, "b"));
  ASSERT_TRUE(Eventually([&] { return two->Leader() == "b"; }));
  // etcd forgets its tokens.
  etcd.Kill(0);
  etcd.Start(0);
  EXPECT_TRUE(AwaitRenewal(*one)) << one->Trouble();
  one->Announce({.name = "b", .url = "https://b:8440"});
  EXPECT_TRUE(Eventually([&] { return two->Members().size() == 1; }));
  EXPECT_EQ(one->Trouble(), "");
}

TEST_F(EtcdEndpoints, TlsWithACaOfItsOwn) {
  const EtcdCertificates made;
  PrivateEtcd etcd({.flags = made.Flags(), .tls = made.Identity()});
  EtcdOptions options{.endpoints = etcd.Urls(),
                      .ca_pem = made.ca.cert_pem,
                      .cert_pem = made.own_cert,
                      .key_pem = made.own_key};
  EXPECT_TRUE(Leads(options));

  EtcdOptions stranger = options;
  stranger.cert_pem = stranger.key_pem = "";
  EXPECT_TRUE(AwaitTrouble(*Make(stranger)).contains("refused our certificate"));

  EtcdOptions doubtful = options;
  doubtful.ca_pem = crypto::MakeCa("another CA", 24h)->cert_pem;
  EXPECT_TRUE(AwaitTrouble(*Make(doubtful)).contains("was not accepted"));
}

}  // namespace
}  // namespace muster
