#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "fuzz/choices.hpp"
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
    link::ServerFrame frame;
    const std::uint8_t parts = choices.Byte();
    frame.say_hello = (parts & 128) != 0;
    if ((parts & 1) != 0) frame.welcome = PickWelcome(choices);
    if ((parts & 2) != 0)
      for (std::size_t count = 1 + choices.Below(4); count > 0; --count)
        frame.orders.push_back(PickOrder(choices));
    if ((parts & 4) != 0)
      frame.kills.push_back({PickTask(choices), Duration(choices.Number() % 9999)});
    if ((parts & 8) != 0) frame.log_acks.push_back({PickTask(choices), choices.Number()});
    if ((parts & 16) != 0) frame.forgets.push_back(PickTask(choices));
    if ((parts & 32) != 0)
      frame.beat = link::BeatAnswer{static_cast<std::int64_t>(choices.Number()),
                                    static_cast<std::int64_t>(choices.Number())};
    if ((parts & 64) != 0) frame.refusal = link::Refusal{"copy", std::string(choices.Short())};
    const auto arrived = link::DecodeServerFrame(encoder_.Encode(frame));
    return arrived ? *arrived : link::ServerFrame{};
  }
  link::Welcome PickWelcome(Choices& choices) {
    link::Welcome welcome;
    welcome.cluster = "c";
    welcome.term = Term(choices.Number());
    welcome.session = choices.Below(4) == 0 ? choices.Number() : session_;
    welcome.host = HostId(1);
    welcome.server_time = static_cast<std::int64_t>(choices.Number());
    welcome.echo = choices.Yes() ? now_ : static_cast<std::int64_t>(choices.Number());
    for (std::size_t count = choices.Below(4); count > 0; --count) {
      link::TaskAnswer answer;
      answer.task = PickTask(choices);
      answer.verb = static_cast<link::Verb>(1 + choices.Below(3));
      answer.durable_offset = choices.Number();
      welcome.answers.push_back(std::move(answer));
    }
    return welcome;
  }
  link::Order PickOrder(Choices& choices) {
    link::Order order;
    order.task = PickTask(choices);
    order.session = choices.Below(4) == 0 ? choices.Number() : session_;
    order.term = choices.Below(4) == 0 ? Term(choices.Number()) : node_.HighestTerm();
    order.start_by = static_cast<std::int64_t>(choices.Number());
    if (choices.Below(4) == 0) order.needs = {std::string(choices.Short())};
    order.command = std::make_shared<const Command>();
    return order;
  }
  static TaskKey PickTask(Choices& choices) {
    return {RunId(1 + choices.Below(3)), Visit(1), static_cast<std::uint32_t>(choices.Below(2)),
            HostId(1), Attempt(static_cast<std::uint32_t>(1 + choices.Below(2)))};
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
