#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "fuzz/server_frames.hpp"
#include "link/codec/codec.hpp"
#include "link/node.hpp"

// A server gone bad says what it likes to an agent. Nothing is begun that is held already, without
// a Welcome, or for another session or term than the one it obeys; only what is held is killed or
// forgotten, the term does not go back, and every answer is a frame that a server can read, within
// the window.
namespace muster::fuzz {
namespace {

constexpr std::size_t kWindow = 4096;

class Agent {
 public:
  Agent() : node_({.version = "0.1.0", .store = "store", .boot = "boot", .window = kWindow}) {
    node_.Observe([this](const link::Moment& moment) {
      if (moment.kind == link::MomentKind::kRefused) held_[moment.task].ended = true;
    });
    node_.SayHello(++session_, now_);
    Flush();
  }

  void Go(Choices choices) {
    for (int steps = 0; steps < 60 && !choices.Empty(); ++steps) Step(choices);
  }

 private:
  void Step(Choices& choices) {
    now_ += static_cast<std::int64_t>(choices.Below(100));
    switch (choices.Below(8)) {
      case 0:
        if (const auto frame = link::DecodeServerFrame(choices.Long())) Receive(*frame);
        break;
      case 1:
        node_.Disconnected();
        node_.SayHello(++session_, now_);
        break;
      case 2:
        now_ += static_cast<std::int64_t>(choices.Number() % 100'000);
        node_.QueueBeat(now_);
        break;
      case 3:
        Speak(choices);
        break;
      case 4:
        End(choices);
        break;
      default:
        Receive(Pick(choices));
    }
    Flush();
  }

  // Frames go over the wire, as what cannot be encoded cannot arrive.
  link::ServerFrame Pick(Choices& choices) {
    const Honest honest{.session = session_, .term = node_.HighestTerm(), .echo = now_};
    const auto arrived = link::DecodeServerFrame(encoder_.Encode(PickServerFrame(choices, honest)));
    return arrived ? *arrived : link::ServerFrame{};
  }

  void Receive(const link::ServerFrame& frame) {
    const Term before = node_.HighestTerm();
    const auto actions = node_.Receive(frame, now_);
    MUSTER_CHECK(node_.HighestTerm() >= before);
    if (actions.new_term) MUSTER_CHECK(*actions.new_term == node_.HighestTerm());
    for (const auto& order : actions.start) {
      MUSTER_CHECK(node_.Welcomed());
      MUSTER_CHECK(order.session == session_);
      MUSTER_CHECK(order.term == node_.HighestTerm());
      MUSTER_CHECK(!held_.contains(order.task));
      held_[order.task] = {};
      node_.Started(order.task);
    }
    for (const auto& kill : actions.kill) MUSTER_CHECK(held_.contains(kill.task));
    for (const auto& task : actions.forget) MUSTER_CHECK(held_.erase(task) == 1);
    MUSTER_CHECK(node_.Holding() == held_.size());
    if (actions.hello_again) node_.SayHello(++session_, now_);
  }

  struct Held {
    std::string output;
    bool ended = false;
  };
  Held* PickHeld(Choices& choices, TaskKey& task) {
    if (held_.empty()) return nullptr;
    auto found = held_.begin();
    std::advance(found, choices.Below(held_.size()));
    task = found->first;
    return found->second.ended ? nullptr : &found->second;
  }
  void Speak(Choices& choices) {
    TaskKey task;
    Held* held = PickHeld(choices, task);
    if (held == nullptr) return;
    held->output.append(choices.Number() % 3000, 'x');
    node_.Output(task, held->output.size());
  }
  void End(Choices& choices) {
    TaskKey task;
    Held* held = PickHeld(choices, task);
    if (held == nullptr) return;
    held->ended = true;
    TaskEnd end;
    end.state = TaskState::kSucceeded;
    end.log.emplace();
    end.log->bytes = held->output.size();
    end.log->stdout_sha256 = end.log->stderr_sha256 = kEmptySha256;
    node_.Ended(task, end);
  }

  void Flush() {
    const auto read = [this](const TaskKey& task, std::uint64_t from,
                             std::size_t limit) -> Result<std::vector<LogChunk>> {
      const auto& output = held_.at(task).output;
      if (from >= output.size()) return std::vector<LogChunk>{};
      return std::vector<LogChunk>{
          {task, from, Stream::kStdout, WallTime{1}, output.substr(from, limit)}};
    };
    for (int frames = 0; auto frame = node_.NextFrame(read); ++frames) {
      MUSTER_CHECK(frames < 1000);
      MUSTER_CHECK(link::DecodeNodeFrame(link::Encode(*frame)));
      MUSTER_CHECK(frame->hello || frame->session == session_);
      std::size_t bytes = 0;
      for (const auto& chunk : frame->chunks) bytes += chunk.data.size();
      MUSTER_CHECK(bytes <= kWindow);
    }
  }

  link::Node node_;
  link::ServerFrameEncoder encoder_;
  std::int64_t now_ = 1'000;
  std::uint64_t session_ = 0;
  std::map<TaskKey, Held> held_;
};

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::fuzz;
  Agent().Go(Choices({reinterpret_cast<const char*>(data), size}));
  return 0;
}
