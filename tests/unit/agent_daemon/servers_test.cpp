#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/daemon/daemon.hpp"
#include "link/codec/codec.hpp"
#include "support/temp_folder.hpp"
#include "unit/adapters_net/fixture.hpp"

// An agent's daemon with servers that only welcome: where it goes when one is lost or says goodbye.
namespace muster::agent {
namespace {

using net::Signal;

class FakeServer {
 public:
  explicit FakeServer(Signal& signal) : signal_(signal) {
    const auto& certificates = net::Certificates::Get();
    net::ServerOptions options;
    options.tls.key_pem = certificates.server.key_pem;
    options.tls.chain_pem = certificates.server.cert_pem + certificates.ca.cert_pem;
    options.tls.client_ca_pem = certificates.ca.cert_pem;
    net::ServerHandlers handlers;
    handlers.on_http = [](net::HttpRequest, std::shared_ptr<net::HttpExchange>) {};
    handlers.on_link = [this](std::shared_ptr<net::LinkConnection> link) {
      link_ = std::move(link);
    };
    handlers.on_frame = [this](net::LinkConnection& link, const std::string& bytes) {
      OnFrame(link, bytes);
    };
    handlers.on_link_closed = [this](net::LinkConnection&) {
      signal_.Update([this] { --links_; });
    };
    server_ = loop_.Do([&] {
      auto made = net::Server::Listen(loop_.loop(), options, handlers);
      EXPECT_TRUE(made) << made.error().message;
      return std::move(*made);
    });
    url_ = fmt::format("https://127.0.0.1:{}", server_->Port());
  }
  ~FakeServer() { Die(); }

  const std::string& url() const { return url_; }
  // Under the signal's lock.
  int links() const { return links_; }
  int hellos() const { return hellos_; }

  // Before the agent starts.
  void Name(std::vector<std::string> servers) { servers_ = std::move(servers); }

  // And leaves it to the agent to go.
  void SayGoodbye(std::vector<std::string> servers) {
    loop_.Do([&] {
      link::ServerFrame frame;
      frame.goodbye = link::Goodbye{std::move(servers)};
      link_->Send(link::ServerFrameEncoder().Encode(frame));
    });
  }
  void Die() {
    loop_.Do([this] {
      link_.reset();
      server_.reset();
    });
  }

  // Its terms are signed with this key instead of the CA's. Before the agent starts.
  void SignWith(std::string key_pem) { ticket_key_ = std::move(key_pem); }
  // It is a server of another cluster with the same CA. Before the agent starts.
  void SetCluster(std::string cluster) { cluster_ = std::move(cluster); }

 private:
  link::TermTicket TicketFor(Term term) const {
    link::TermTicket ticket{.cluster = cluster_, .term = term, .leader = "s1", .signature = {}};
    ticket.signature = *crypto::SignText(ticket_key_, TicketText(ticket));
    return ticket;
  }

  void OnFrame(net::LinkConnection& link, const std::string& bytes) {
    const auto said = link::DecodeNodeFrame(bytes);
    if (!said || !said->hello) return;
    link::ServerFrame frame;
    frame.welcome.emplace();
    frame.welcome->session = said->hello->session;
    frame.welcome->term = Term(1);
    frame.welcome->cluster = cluster_;
    frame.welcome->host_name = "web01";
    frame.welcome->servers = servers_;
    frame.welcome->ticket = TicketFor(frame.welcome->term);
    link.Send(link::ServerFrameEncoder().Encode(frame));
    signal_.Update([this] {
      ++links_;
      ++hellos_;
    });
  }

  Signal& signal_;
  net::LoopThread loop_;
  std::unique_ptr<net::Server> server_;
  std::string url_;
  std::vector<std::string> servers_;
  std::string ticket_key_ = net::Certificates::Get().ca.key_pem;
  std::string cluster_ = "c1";
  std::shared_ptr<net::LinkConnection> link_;  // the last; the loop's thread only
  int links_ = 0;
  int hellos_ = 0;
};

// The daemon on a thread of its own, until it goes.
class RunningDaemon {
 public:
  RunningDaemon(const std::string& data)
      : folder_(*DataFolder::Open(data, "/none")),
        daemon_(loop_, folder_, *folder_.LoadCredentials(), {.version = "0.1.0"}) {
    EXPECT_TRUE(daemon_.Start());
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~RunningDaemon() {
    loop_.Stop();
    thread_.join();
  }

 private:
  net::EventLoop loop_;
  DataFolder folder_;
  Daemon daemon_;
  std::thread thread_;
};

class AgentServers : public ::testing::Test {
 protected:
  void Join(const std::vector<std::string>& servers) {
    const auto& certificates = net::Certificates::Get();
    auto folder = DataFolder::Open(Data(), "/none");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(folder->SaveJoin(
        servers, "web01", "c1",
        {certificates.node_key, certificates.node_cert, certificates.ca.cert_pem}));
  }
  std::string Data() const { return temp_.Path().string(); }
  std::string Kept() const {
    std::ostringstream text;
    text << std::ifstream(temp_.Path() / "servers").rdbuf();
    return text.str();
  }
  void AwaitKept() const {
    const auto deadline = std::chrono::steady_clock::now() + net::kPatience;
    while (Kept().empty() && std::chrono::steady_clock::now() < deadline) poll(nullptr, 0, 5);
  }
  FakeServer& Used() { return first_.links() == 1 ? first_ : second_; }
  FakeServer& Other() { return first_.links() == 1 ? second_ : first_; }
  bool AwaitLink() {
    return signal_.Wait([this] { return first_.links() + second_.links() == 1; });
  }

  Signal signal_;
  FakeServer first_{signal_};
  FakeServer second_{signal_};
  TempFolder temp_;
};

// The servers are the cluster's, by their certificates; only their terms are not.
TEST_F(AgentServers, LeavesAServerWhoseTermIsNotProven) {
  first_.SignWith(crypto::GenerateKey());
  second_.SignWith(crypto::GenerateKey());
  Join({first_.url(), second_.url()});
  RunningDaemon daemon(Data());
  EXPECT_TRUE(signal_.Wait([this] { return first_.hellos() > 0 && second_.hellos() > 0; }));
  EXPECT_FALSE(std::filesystem::exists(temp_.Path() / "proven_term"));
}

TEST_F(AgentServers, LeavesAServerOfAnotherCluster) {
  first_.SetCluster("c2");
  second_.SetCluster("");
  Join({first_.url(), second_.url()});
  RunningDaemon daemon(Data());
  EXPECT_TRUE(signal_.Wait([this] { return first_.hellos() > 0 && second_.hellos() > 0; }));
  EXPECT_FALSE(std::filesystem::exists(temp_.Path() / "proven_term"));
}

TEST_F(AgentServers, GoesToTheNextWhenItsServerIsLost) {
  Join({first_.url(), second_.url()});
  RunningDaemon daemon(Data());
  ASSERT_TRUE(AwaitLink());
  FakeServer& used = Used();
  FakeServer& other = Other();
  used.Die();
  EXPECT_TRUE(signal_.Wait([&] { return other.links() == 1; }));
}

TEST_F(AgentServers, StartsWithTheOneThatCanBeReached) {
  Join({first_.url(), second_.url()});
  first_.Die();
  RunningDaemon daemon(Data());
  EXPECT_TRUE(signal_.Wait([&] { return second_.links() == 1; }));
}

TEST_F(AgentServers, GoodbyeSendsItElsewhereAndIsRemembered) {
  Join({first_.url()});
  {
    RunningDaemon daemon(Data());
    ASSERT_TRUE(signal_.Wait([&] { return first_.links() == 1; }));
    first_.SayGoodbye({second_.url()});
    ASSERT_TRUE(signal_.Wait([&] { return second_.links() == 1 && first_.links() == 0; }));
    EXPECT_EQ(Kept(), second_.url() + "\n");
    EXPECT_EQ(first_.hellos(), 1);
  }
  // Also through a restart.
  RunningDaemon again(Data());
  EXPECT_TRUE(signal_.Wait([&] { return second_.hellos() == 2; }));
  EXPECT_EQ(first_.hellos(), 1);
}

TEST_F(AgentServers, GoodbyeWithoutAnotherServerBringsItBack) {
  Join({first_.url()});
  RunningDaemon daemon(Data());
  ASSERT_TRUE(signal_.Wait([&] { return first_.links() == 1; }));
  first_.SayGoodbye({});
  EXPECT_TRUE(signal_.Wait([&] { return first_.hellos() == 2; }));
}

TEST_F(AgentServers, RemembersTheServersOfAWelcome) {
  Join({first_.url()});
  first_.Name({first_.url(), second_.url(), "nonsense", "http://plain:8440"});
  {
    RunningDaemon daemon(Data());
    ASSERT_TRUE(signal_.Wait([&] { return first_.links() + second_.links() == 1; }));
    std::vector<std::string> both = {first_.url(), second_.url()};
    AwaitKept();
    EXPECT_EQ(Kept(), both[0] + "\n" + both[1] + "\n");
  }
  first_.Die();
  RunningDaemon again(Data());
  EXPECT_TRUE(signal_.Wait([&] { return second_.links() == 1; }));
}

}  // namespace
}  // namespace muster::agent
