#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzzed_leader.hpp"
#include "fuzz/node_frames.hpp"
#include "link/codec/codec.hpp"

// A host gone bad says what it likes to a server that leads, beside an honest host with work of its
// own. It changes nothing but its own host and tasks, an ended task stays ended, the honest host
// hears nothing of it, and the next leader can go on from the records.
namespace muster::fuzz {
namespace {

constexpr HostId kBad{1};
constexpr HostId kHonest{2};

std::vector<TaskRecord> TasksOf(Store& store, HostId host) {
  std::vector<TaskRecord> found;
  for (const auto& run : *store.ListRuns({}, RunId{UINT64_MAX}, 100)) {
    TaskFilter filter;
    filter.host = host;
    for (auto& task : *store.ListTasks(run.id, filter, std::nullopt, 100))
      found.push_back(std::move(task));
  }
  return found;
}

std::string HelloOf(const std::string& store, std::uint64_t session) {
  link::NodeFrame frame;
  frame.hello.emplace();
  frame.hello->version = "0.1.0";
  frame.hello->store = store;
  frame.hello->boot = "boot";
  frame.hello->session = session;
  return link::Encode(frame);
}

class Conversation {
 public:
  Conversation() {
    leader_.AddHosts(2);
    honest_ = leader_.Open("key-h2");
    leader_.Say(honest_, HelloOf("store-2", 1));
    bad_ = leader_.Open("key-h1");
    leader_.Say(bad_, HelloOf("store", 1));
    leader_.StartRun({kBad.value, kHonest.value});
    leader_.StartRun({kHonest.value});
    leader_.StartRun({kBad.value});
    for (const HostId host : {kBad, kHonest})
      for (const auto& task : TasksOf(leader_.store, host)) known_.push_back(task.key);
    MUSTER_CHECK(known_.size() == 4);
    SayThatWorkRuns();
    before_ = TasksOf(leader_.store, kHonest);
    honest_->sent.clear();
    leader_.store.Watch({kBad});
  }

  void Go(Choices choices) {
    for (int steps = 0; steps < 40 && !choices.Empty(); ++steps) Step(choices);
    Check();
  }

 private:
  void SayThatWorkRuns() {
    link::NodeFrame frame;
    frame.session = 1;
    for (const auto& task : known_) {
      if (task.host != kHonest) continue;
      frame.reports.push_back(
          {.task = task, .kind = link::ReportKind::kStarted, .end = {}, .log = {}});
      frame.chunks.push_back({task, 0, Stream::kStdout, WallTime{1}, "honest"});
    }
    leader_.Say(honest_, link::Encode(frame));
  }

  void Step(Choices& choices) {
    switch (choices.Below(8)) {
      case 0:
        Say(std::string(choices.Long()));
        break;
      case 1:
        leader_.Advance(std::chrono::milliseconds(choices.Number() % 60'000));
        break;
      case 2:
        Reopen();
        break;
      case 3:
        Reopen();
        Say(HelloOf("store", ++session_));
        break;
      default:
        Say(link::Encode(PickNodeFrame(choices, known_, session_)));
    }
  }
  void Say(const std::string& bytes) {
    leader_.Say(bad_, bytes);
    if (bad_->closed) Reopen();
  }
  void Reopen() {
    CheckOrders();
    leader_.Cut(bad_);
    bad_ = leader_.Open("key-h1");
  }

  // It is asked to do its own work alone.
  void CheckOrders() const {
    for (const auto& bytes : bad_->sent) {
      const auto frame = link::DecodeServerFrame(bytes);
      MUSTER_CHECK(frame);
      for (const auto& order : frame->orders) MUSTER_CHECK(order.task.host == kBad);
      if (frame->welcome) MUSTER_CHECK(frame->welcome->host == kBad);
    }
  }
  void Check() {
    CheckOrders();
    MUSTER_CHECK(!honest_->closed);
    MUSTER_CHECK(honest_->sent.empty());
    MUSTER_CHECK(TasksOf(leader_.store, kHonest) == before_);
    for (const auto& task : known_) {
      const std::uint64_t kept = *leader_.logs.DurableEnd(task);
      if (task.host == kHonest) MUSTER_CHECK(kept == 6);
      if (task.host == kBad) MUSTER_CHECK(kept <= 1000);
    }
    leader_.CheckAnotherCanLead();
    MUSTER_CHECK(TasksOf(leader_.store, kHonest) == before_);
  }

  FuzzedLeader leader_;
  std::shared_ptr<KeptLink> honest_;
  std::shared_ptr<KeptLink> bad_;
  std::vector<TaskKey> known_;
  std::vector<TaskRecord> before_;
  std::uint64_t session_ = 1;
};

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::fuzz;
  Conversation().Go(Choices({reinterpret_cast<const char*>(data), size}));
  return 0;
}
