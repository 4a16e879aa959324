#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "link/messages.hpp"
#include "link/server_clock.hpp"
#include "link/step.hpp"

namespace muster::link {

// The node's end of a link, as a pure state machine: what to accept, repeat, keep and forget. It
// does no I/O and reads no clock: the driver (agent, emulator, simulation) hands in what happened
// together with the boottime clock, and carries out what comes back. Not thread-safe.
//
// The driver's side of the bargain:
//  - a session number grows with each Connected/SaidHello and was durable before it is used;
//  - what Receive wants started is journalled before its process starts, then Started or Ended is
//    called; what it wants forgotten is dropped from disk;
//  - `new_term` is durable before the orders that came with it are started.
class Node {
 public:
  struct Options {
    std::string version;
    std::vector<std::string> features;
    Labels facts;
    std::string store;
    std::string boot;
    // Whether a ticket was signed for this node's cluster; kDenied says why not. Without it tickets
    // are not asked for: for a node that has no CA to judge them by.
    std::function<Result<>(const TermTicket&)> proves = {};
    std::size_t window = 1 << 20;         // bytes of output sent and not yet durable
    std::size_t frame_bytes = 192 << 10;  // of output in one frame; of outputs (TaskEnd) as well
  };

  // Reads kept output of a task: chunks that overlap [from, from + limit), in order.
  using ReadOutput = std::function<Result<std::vector<LogChunk>>(const TaskKey&, std::uint64_t from,
                                                                 std::size_t limit)>;

  struct Actions {
    std::optional<Term> new_term;  // keep it: the highest term ever obeyed
    std::vector<Order> start;
    std::vector<Kill> kill;
    std::vector<TaskKey> forget;
    bool hello_again = false;  // call SayHello with the next session number
    // The server does not want this node, or cannot prove that it leads; the driver closes.
    std::optional<Refusal> refused;
    bool refused_by_node = false;     // the second of these
    std::optional<Welcome> welcomed;  // name, heartbeat and so on, for the driver's information
    // Keep them. Only of a server that has proven its term: whoever else has the address of one,
    // and even its key, does not say whom this node trusts and where it goes.
    std::optional<Papers> papers;
    std::vector<std::string> servers;  // none: nothing new
    bool goodbye = false;              // the server wants no link; the driver closes
  };

  explicit Node(Options options, Term highest_term = Term{});

  // Is told each moment of this node as it happens, before the driver can act on it: an order that
  // was obeyed is told before Receive gives it. Set it before Restore; it must not call back.
  using Observer = std::function<void(const Moment&)>;
  void Observe(Observer observer) { observer_ = std::move(observer); }

  // What the disk remembers, before the first connection. `spooled` is the output kept so far.
  void Restore(const HeldTask& held, std::uint64_t spooled);

  // What the next Hello tells of the machine.
  void SetFacts(Labels facts) { options_.facts = std::move(facts); }

  // Whether the next Hello says that there are servers which this node has not tried.
  void SetHasOthers(bool has_others) { has_others_ = has_others; }

  // A connection is open (or the server asked to begin anew on it): queues Hello.
  void SayHello(std::uint64_t session, std::int64_t now);
  void Disconnected();

  Actions Receive(const ServerFrame& frame, std::int64_t now);

  void Started(const TaskKey& task);
  void Output(const TaskKey& task, std::uint64_t spooled);
  // `end.log` is set: nothing is added to the output any more.
  void Ended(const TaskKey& task, const TaskEnd& end);

  void QueueBeat(std::int64_t now);

  // What to send next, or nothing. Call until it is empty, while the connection takes more.
  std::optional<NodeFrame> NextFrame(const ReadOutput& read);

  bool Welcomed() const { return welcomed_; }
  Term HighestTerm() const { return highest_term_; }
  // The server's clock by this node's estimate; nothing without a Welcome.
  std::optional<ServerTime> ServerNow(std::int64_t now) const { return clock_.Latest(now); }
  std::size_t Holding() const { return tasks_.size(); }
  std::uint32_t Running() const;

 private:
  struct Entry {
    HeldState state = HeldState::kAccepted;
    std::optional<TaskEnd> end;
    std::uint64_t spooled = 0;
    std::uint64_t sent = 0;
    std::uint64_t durable = 0;
    bool start_told = false;  // in this session
    bool end_told = false;
    bool log_told = false;
    bool answered = false;  // a task of Hello: the server said go on

    bool OutputSent() const { return end && end->log && sent >= end->log->bytes; }
  };

  Result<> Proven(const Welcome& welcome) const;
  void TakeWelcome(const Welcome& welcome, std::int64_t now, Actions& actions);
  void TakeOrder(const Order& order, std::int64_t now, Actions& actions);
  void Drop(const TaskKey& task, Actions& actions);
  void AddOutput(const TaskKey& task, Entry& entry, const ReadOutput& read, NodeFrame& frame);
  void AddReports(const TaskKey& task, Entry& entry, std::size_t& room, NodeFrame& frame);
  Hello MakeHello(std::int64_t now);
  bool TakeRoom(const TaskEnd& end, std::size_t& room) const;
  std::size_t Unacknowledged() const { return unacknowledged_; }
  void Tell(MomentKind kind, const TaskKey& task, const TaskEnd* end = nullptr) const;
  void Tell(MomentKind kind, const Order& order, std::optional<ServerTime> server_now) const;

  Options options_;
  Term highest_term_;
  std::uint64_t session_ = 0;
  std::uint64_t seen_ = 0;  // the session that a server has accepted, as it said
  bool has_others_ = false;
  bool welcomed_ = false;
  ServerClock clock_;
  std::map<TaskKey, Entry> tasks_;
  std::map<TaskKey, ServerTime> recent_;  // ids of forgotten tasks, until start_by is surely past
  std::map<TaskKey, ServerTime> start_by_;
  std::vector<Report> refused_;
  std::optional<Hello> hello_;
  std::optional<Beat> beat_;
  std::size_t unacknowledged_ = 0;
  bool dirty_ = false;   // something may be worth a frame
  bool unread_ = false;  // output that could not be read
  Observer observer_;    // may be empty
};

}  // namespace muster::link
