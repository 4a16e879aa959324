#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/crypto/pki.hpp"
#include "fuzz/fuzzed_leader.hpp"
#include "fuzz/node_frames.hpp"
#include "fuzz/server_frames.hpp"
#include "server/peers/leader_link.hpp"

// A server that a follower takes for the leader says what it likes. Until it has proven its term,
// the follower's nodes get nothing of it, and nothing it says of the cluster is believed. From then
// on the follower does what it is told, and survives it: every frame that reaches a node is one
// that the node can read.
namespace muster::fuzz {
namespace {

constexpr std::string_view kCluster = "c";
constexpr std::string_view kLeader = "s1";

// The cluster's CA and a foreign one; made once, as keys take long.
struct Cas {
  crypto::KeyAndCert own = *crypto::MakeCa("own", std::chrono::hours(1));
  crypto::KeyAndCert foreign = *crypto::MakeCa("foreign", std::chrono::hours(1));

  static const Cas& Get() {
    static const Cas cas;
    return cas;
  }
};

// The follower's connection; its handlers are called by the conversation.
struct Wire {
  net::LinkClient::Handlers handlers;
  bool alive = true;
};
class WireEnd final : public net::LinkClient {
 public:
  explicit WireEnd(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
  ~WireEnd() override { wire_->alive = false; }
  void Send(std::string frame) override { MUSTER_CHECK(server::DecodeFollowerFrame(frame)); }
  std::size_t Unsent() const override { return 0; }

 private:
  const std::shared_ptr<Wire> wire_;
};

class Conversation {
 public:
  Conversation() {
    static const bool quiet = [] {
      spdlog::set_level(spdlog::level::off);
      return true;
    }();
    MUSTER_CHECK(quiet);
    gateway_.SetSubmit([this](engine::AnyCommand command) {
      if (gateway_.HeardBy() == server::Hearing::By::kLeaderElsewhere)
        leader_.Submit(std::move(command));
    });
    Reconnect();
    for (std::size_t i = 0; i < 2; ++i) OpenNode(i);
  }
  ~Conversation() { Settle(); }

  void Go(Choices choices) {
    for (int steps = 0; steps < 60 && !choices.Empty(); ++steps) {
      Step(choices);
      Settle();
      CheckNodes();
    }
  }

 private:
  void Step(Choices& choices) {
    switch (choices.Below(16)) {
      case 0:
        return SayBytes(std::string(choices.Long()));
      case 1:
        clock_.now.mono = clock_.now.mono + Duration(choices.Number() % 60'000);
        clock_.now.wall = clock_.now.wall + Duration(choices.Number() % 60'000);
        return;
      case 2:
        return Reconnect();
      case 3:
        return Say(server::LeaderRefusal{std::string(choices.Short())});
      case 4:
        return Say(server::CloseLink{PickLink(choices)});
      case 5:
        return Say(server::DrainOrder{choices.Yes()});
      case 6:
      case 7:
        return SayBeat(choices);
      case 8:
      case 9:
        return SayWelcome(choices);
      case 10:
        return OpenNode(choices.Below(2));
      case 11:
        return NodeSays(choices);
      case 12:
        return leader_.AskAgain();
      default:
        return Say(Links::Outgoing{PickLink(choices), PickServerFrame(choices, {})});
    }
  }

  LinkId PickLink(Choices& choices) const {
    return LinkId(choices.Below(4) == 0 ? choices.Number() : nodes_[choices.Below(2)]->Id());
  }

  void SayBeat(Choices& choices) {
    server::LeaderBeat beat;
    beat.echo = choices.Yes() ? clock_.now.mono : MonoTime{Time(choices)};
    beat.now = MonoTime{Time(choices)};
    beat.wall = WallTime{Time(choices)};
    if (choices.Yes())
      beat.cluster = server::ClusterFacts{
          .servers = {{std::string(choices.Short()), std::string(choices.Short()), {}}},
          .hosts = {{"ca", "cas", choices.Number(), std::string(choices.Short())}}};
    Say(beat);
  }
  static std::int64_t Time(Choices& choices) {
    return static_cast<std::int64_t>(choices.Number() << (choices.Byte() % 64));
  }

  // A term with a proof that is right, or wrong in one of all ways.
  void SayWelcome(Choices& choices) {
    const Cas& cas = Cas::Get();
    server::LeaderWelcome welcome;
    welcome.term = Term(choices.Number());
    link::TermTicket ticket{.cluster = std::string(kCluster),
                            .term = welcome.term,
                            .leader = std::string(kLeader),
                            .signature = {}};
    const std::size_t wrong = choices.Below(8);
    if (wrong == 1) ticket.cluster = choices.Yes() ? "other" : "";
    if (wrong == 2) ticket.term = Term(welcome.term.value + 1);
    if (wrong == 3) ticket.leader = "s9";
    const std::string& key = wrong == 4 ? cas.foreign.key_pem : cas.own.key_pem;
    ticket.signature = *crypto::SignText(key, link::TicketText(ticket));
    if (wrong == 5) ticket.signature = choices.Short();
    if (wrong == 6) ticket.leader += '\0';
    if (wrong == 7) ticket = {};
    const bool right = wrong == 0;
    if (right && wire_->alive) proven_ = true;
    Say(welcome_with(std::move(welcome), std::move(ticket)));
    if (right) return;
    MUSTER_CHECK(!wire_->alive);  // it is not followed any more
    MUSTER_CHECK(!leader_.Heard());
    proven_ = false;
  }
  static server::LeaderWelcome welcome_with(server::LeaderWelcome welcome,
                                            link::TermTicket ticket) {
    welcome.ticket = std::move(ticket);
    return welcome;
  }

  void Say(const server::LeaderItem& item) {
    server::LeaderFrames frames;
    frames.Add(item);
    for (auto& frame : frames.Take()) SayBytes(std::move(frame));
  }
  void SayBytes(std::string bytes) {
    if (!wire_->alive) return;
    const auto on_frame = wire_->handlers.on_frame;  // the connection may end meanwhile
    on_frame(std::move(bytes));
    if (!wire_->alive) proven_ = false;
  }
  void Reconnect() {
    proven_ = false;
    leader_.Follow("", "");
    MUSTER_CHECK(!leader_.Heard() && !leader_.Trouble().empty());
    leader_.Follow(std::string(kLeader), "https://127.0.0.1:1");
    const auto on_open = wire_->handlers.on_open;
    on_open();
    Settle();
  }

  void OpenNode(std::size_t which) {
    if (nodes_.size() > which) {
      nodes_[which]->closed = true;
      gateway_.OnClosed(*nodes_[which]);
    } else {
      nodes_.resize(which + 1);
      read_.resize(which + 1);
    }
    nodes_[which] = std::make_shared<KeptLink>(++next_link_, "key-h" + std::to_string(which));
    read_[which] = 0;
    gateway_.OnLink(nodes_[which]);
    link::NodeFrame frame;
    frame.session = ++session_;
    frame.hello = link::Hello{.version = "0.1.0",
                              .features = {},
                              .facts = {},
                              .store = "store",
                              .boot = "boot",
                              .session = session_,
                              .highest_term = {},
                              .tasks = {}};
    NodeSays(which, frame);
  }
  void NodeSays(Choices& choices) {
    const std::size_t which = choices.Below(2);
    const std::vector<TaskKey> tasks{PickSmallTask(choices)};
    NodeSays(which, PickNodeFrame(choices, tasks, session_));
  }
  void NodeSays(std::size_t which, const link::NodeFrame& frame) {
    if (nodes_[which]->closed) return;
    gateway_.OnFrame(*nodes_[which], link::Encode(frame));
  }

  void CheckNodes() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (; read_[i] < nodes_[i]->sent.size(); ++read_[i]) {
        const auto frame = link::DecodeServerFrame(nodes_[i]->sent[read_[i]]);
        MUSTER_CHECK(frame);
        // What only a leader says. It may have proven its term and lost the connection since.
        if (frame->welcome || !frame->orders.empty() || !frame->kills.empty() ||
            !frame->forgets.empty() || frame->refusal || frame->papers)
          MUSTER_CHECK(ever_proven_);
      }
  }

  void Settle() {
    ever_proven_ = ever_proven_ || proven_;
    for (int round = 0; round < 500; ++round) {
      std::promise<void> passed;
      if (FuzzedLeader::Workers().Post([&] { passed.set_value(); })) passed.get_future().wait();
      if (loop_.impl().context.poll() == 0) return;
    }
    MUSTER_CHECK(!"the server does not come to rest");
  }

  server::LeaderLink::Self Self() {
    server::LeaderLink::Self self;
    self.name = "s2";
    self.version = "0.1.0";
    self.identity = [](const std::string&) { return net::TlsIdentity{}; };
    self.trusted_cas = Cas::Get().own.cert_pem;
    self.cluster = [] { return std::string(kCluster); };
    self.drain = [this](bool) { MUSTER_CHECK(proven_); };
    self.facts = [this](const server::ClusterFacts&) { MUSTER_CHECK(proven_); };
    self.lost = [] {};
    self.dial = [this](const net::Endpoint&, const net::TlsIdentity&,
                       net::LinkClient::Handlers handlers) {
      wire_ = std::make_shared<Wire>(Wire{.handlers = std::move(handlers)});
      return std::make_unique<WireEnd>(wire_);
    };
    return self;
  }

  FixedClock clock_;
  MemoryStore store_;
  MemoryLogStore logs_;
  net::EventLoop loop_;
  server::Gateway gateway_{loop_,
                           store_,
                           logs_,
                           clock_,
                           FuzzedLeader::Workers(),
                           [this](const std::vector<LogChunk>& chunks) { leader_.Stored(chunks); }};
  server::ClockJudge judge_;
  std::shared_ptr<Wire> wire_;
  server::LeaderLink leader_{loop_, gateway_, clock_, judge_, Self()};
  std::vector<std::shared_ptr<KeptLink>> nodes_;
  std::vector<std::size_t> read_;  // frames of each that were checked
  std::uint64_t next_link_ = 0;
  std::uint64_t session_ = 0;
  bool proven_ = false;       // its term, over this connection
  bool ever_proven_ = false;  // over any
};

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::fuzz;
  Conversation().Go(Choices({reinterpret_cast<const char*>(data), size}));
  return 0;
}
