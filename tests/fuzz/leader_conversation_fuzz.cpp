#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/crypto/pki.hpp"
#include "fuzz/fuzzed_leader.hpp"
#include "fuzz/node_frames.hpp"
#include "server/peers/followers.hpp"

// A server that follows goes bad and says what it likes to the leader, in the name of any node. It
// is a server, so its word for hosts and tasks counts; but an ended task stays ended, what only
// people decide stays as it is, and the next leader can go on from the records.
namespace muster::fuzz {
namespace {

using server::Followers;

class Conversation {
 public:
  Conversation() : leader_([this](FuzzedLeader& leader) { return MakeFollowers(leader); }) {
    leader_.AddHosts(2);
    Reopen();
    Say(server::FollowerHello{"s2", "0.1.0"});
    for (std::uint64_t host = 1; host <= 2; ++host) SayHello(host);
    leader_.StartRun({1, 2});
    leader_.StartRun({2});
    for (const auto& run : *leader_.store.ListRuns({}, RunId{UINT64_MAX}, 100))
      for (auto& task : *leader_.store.ListTasks(run.id, {}, std::nullopt, 100))
        known_.push_back(task.key);
    MUSTER_CHECK(known_.size() == 3);
    leader_.store.Watch({});
  }
  ~Conversation() { leader_.Settle(); }

  void Go(Choices choices) {
    for (int steps = 0; steps < 40 && !choices.Empty(); ++steps) Step(choices);
    leader_.CheckAnotherCanLead();
  }

 private:
  std::unique_ptr<Links> MakeFollowers(FuzzedLeader& leader) {
    static server::TermTickets tickets(crypto::GenerateKey(), "s1");
    auto made = std::make_unique<Followers>(
        leader.loop, leader.gateway, leader.store, leader.clock, FuzzedLeader::Workers(),
        [](std::string_view) -> Result<std::string> { return Fail(ErrorCode::kNotFound, "none"); },
        tickets,
        Followers::Exits{
            .submit = [&leader](engine::AnyCommand command) { leader.Submit(std::move(command)); },
            .stored = [](const server::StoredOutput&) {},
            .why_not = [] { return std::string("it does not lead"); },
            .clock = [](const std::string&, Duration) {}});
    followers_ = made.get();
    return made;
  }

  void Step(Choices& choices) {
    switch (choices.Below(10)) {
      case 0:
        SayBytes(std::string(choices.Long()));
        break;
      case 1:
        leader_.Advance(std::chrono::milliseconds(choices.Number() % 60'000));
        break;
      case 2:
        Reopen();
        Say(server::FollowerHello{"s2", std::string(choices.Short())});
        break;
      case 3:
        Say(engine::LinkClosed{LinkId(choices.Number())});
        break;
      case 4:
        Say(server::FollowerBeat{MonoTime{static_cast<std::int64_t>(choices.Number())},
                                 Duration(static_cast<std::int64_t>(choices.Number()))});
        break;
      case 5:
        Say(server::StoredOutput{PickTask(choices, known_), choices.Number(), choices.Number()});
        break;
      case 6:
      case 7:
        Say(PickNodeHello(choices));
        break;
      default:
        Say(PickReports(choices));
    }
  }

  engine::NodeHello PickNodeHello(Choices& choices) {
    engine::NodeHello hello;
    hello.link = LinkId(choices.Below(4) == 0 ? choices.Number() : 1 + choices.Below(2));
    hello.key = choices.Below(4) == 0 ? std::string(choices.Short())
                                      : "key-h" + std::to_string(1 + choices.Below(3));
    hello.address = choices.Short();
    hello.hello = PickHello(choices, known_);
    if (choices.Below(4) != 0) hello.hello.session = ++session_;
    for (std::size_t i = 0; i < hello.hello.tasks.size(); ++i)
      hello.looked.push_back({std::nullopt, choices.Number()});
    return hello;
  }
  engine::NodeReports PickReports(Choices& choices) {
    engine::NodeReports reports;
    reports.link = LinkId(1 + choices.Below(2));
    reports.session = choices.Below(4) == 0 ? choices.Number() : session_;
    for (std::size_t count = 1 + choices.Below(3); count > 0; --count) {
      engine::NodeReports::Marked marked{.report = PickReport(choices, known_), .mark = {}};
      if (choices.Yes())
        marked.mark = LogMark{static_cast<LogState>(choices.Below(5)), choices.Number(),
                              kEmptySha256, kEmptySha256};
      reports.reports.push_back(std::move(marked));
    }
    return reports;
  }

  void SayHello(std::uint64_t host) {
    engine::NodeHello hello;
    hello.link = LinkId(host);
    hello.key = "key-h" + std::to_string(host);
    hello.hello.version = "0.1.0";
    hello.hello.store = "store";
    hello.hello.boot = "boot";
    hello.hello.session = ++session_;
    Say(hello);
  }
  void Say(const server::FollowerItem& item) {
    server::FollowerFrames frames;
    frames.Add(item);
    for (const auto& frame : frames.Take()) SayBytes(frame);
  }
  void SayBytes(const std::string& bytes) {
    followers_->OnFrame(*link_, bytes);
    leader_.Settle();
    if (link_->closed) Reopen();
  }
  void Reopen() {
    if (link_) followers_->OnClosed(*link_);
    link_ = std::make_shared<KeptLink>(leader_.NextLink(), "key-s2", "s2");
    followers_->OnLink(link_);
    leader_.Settle();
  }

  Followers* followers_ = nullptr;  // the leader owns it
  FuzzedLeader leader_;
  std::shared_ptr<KeptLink> link_;
  std::vector<TaskKey> known_;
  std::uint64_t session_ = 0;
};

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::fuzz;
  Conversation().Go(Choices({reinterpret_cast<const char*>(data), size}));
  return 0;
}
