#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "domain/command.hpp"
#include "domain/host.hpp"
#include "domain/ids.hpp"
#include "domain/log.hpp"
#include "domain/task.hpp"
#include "link/term_ticket.hpp"

// What travels on a link, in domain words. api/link.proto is the same on the wire; link/codec turns
// one into the other.
namespace muster::link {

// A moment on the server's steady clock, as a node is told it. Nodes compare it only with their own
// estimate of the same clock.
using ServerTime = std::int64_t;  // milliseconds

// --- node to server ---

enum class HeldState : std::uint8_t { kAccepted = 1, kRunning = 2, kEnded = 3 };

// A task the node holds, as its Hello lists it.
struct HeldTask {
  TaskKey task;
  HeldState state = HeldState::kAccepted;
  std::optional<TaskEnd> end;  // with kEnded; its log totals only when the output is complete
  friend bool operator==(const HeldTask&, const HeldTask&) = default;
};

struct Hello {
  std::string version;
  std::vector<std::string> features;
  Labels facts;
  std::string store;  // random, made with the data folder
  std::string boot;   // the kernel's boot id
  std::uint64_t session = 0;
  Term highest_term;  // it has ever obeyed
  std::vector<HeldTask> tasks;
  std::int64_t sent_at = 0;  // the node's own boottime clock, ms; Welcome gives it back
  bool has_others = false;   // servers that it has not tried since it was last welcome
  // The number of ServerFrame::seen that it was told since it was last welcome, 0 for none. Agents
  // of before 0.2 do not say it.
  std::optional<std::uint64_t> seen = {};
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct Beat {
  std::int64_t sent_at = 0;  // the node's own boottime clock, ms
  std::uint32_t running = 0;
  friend bool operator==(const Beat&, const Beat&) = default;
};

enum class ReportKind : std::uint8_t {
  kStarted = 1,
  kRefusedLate = 2,  // past start_by (or an older session or term): not started
  kEnded = 3,
  kLogEnded = 4,  // the task's end is known already; now its output is complete too
};

struct Report {
  TaskKey task;
  ReportKind kind = ReportKind::kStarted;
  std::optional<TaskEnd> end;    // with kEnded
  std::optional<LogTotals> log;  // with kLogEnded
  friend bool operator==(const Report&, const Report&) = default;
};

// Joined when ready together; the parts count in this order.
struct NodeFrame {
  std::uint64_t session = 0;
  std::optional<Hello> hello;
  std::optional<Beat> beat;
  std::vector<LogChunk> chunks;
  std::vector<Report> reports;
  std::string renew = {};  // a certificate request for the node's own key, PEM; answered by Papers
  bool Empty() const {
    return !hello && !beat && chunks.empty() && reports.empty() && renew.empty();
  }
  friend bool operator==(const NodeFrame&, const NodeFrame&) = default;
};

// --- server to node ---

enum class Verb : std::uint8_t {
  kGoOn = 1,    // hold it, go on; what follows durable_offset is still wanted
  kKill = 2,    // end it, then report as usual
  kForget = 3,  // the server has all it needs
};

struct TaskAnswer {
  TaskKey task;
  Verb verb = Verb::kGoOn;
  std::uint64_t durable_offset = 0;
  Duration grace{};  // with kKill
  // Bytes of output that the server takes, if it knows: for the server that holds the link.
  std::optional<std::uint64_t> max_output = {};
  friend bool operator==(const TaskAnswer&, const TaskAnswer&) = default;
};

struct Welcome {
  std::string cluster;
  Term term;
  std::uint64_t session = 0;
  HostId host;
  std::string host_name;
  ServerTime server_time = 0;
  std::int64_t echo = 0;  // Hello's sent_at
  Duration heartbeat = std::chrono::seconds(10);
  std::vector<TaskAnswer> answers;
  std::vector<std::string> servers = {};  // URLs of the cluster's; none leaves what the node knows
  TermTicket ticket = {};                 // of `term`
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

// Asks for one attempt. `command` is shared by every order of the run.
struct Order {
  TaskKey task;
  std::uint64_t session = 0;
  Term term;
  ServerTime start_by = 0;
  std::vector<std::string> needs;  // features
  std::string stage;
  std::string host_name;
  std::shared_ptr<const Command> command;
};

struct Kill {
  TaskKey task;
  Duration grace{};
  friend bool operator==(const Kill&, const Kill&) = default;
};

struct LogAck {
  TaskKey task;
  std::uint64_t offset = 0;  // durable up to here
  friend bool operator==(const LogAck&, const LogAck&) = default;
};

struct BeatAnswer {
  std::int64_t echo = 0;
  ServerTime server_time = 0;
  // URLs of the cluster's, when they are not those that the node was told last.
  std::vector<std::string> servers = {};
  friend bool operator==(const BeatAnswer&, const BeatAnswer&) = default;
};

// The server will not talk to this node as it is; it closes the link after this.
struct Refusal {
  std::string code;     // "copy", "revoked", "old_session", "unknown", "version"
  std::string message;  // for the host's operator
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// Whom to trust from now on and, when the node asked, who it is.
struct Papers {
  std::string ca_pem;    // the CAs of servers; "" leaves what the node has
  std::string signer;    // key id of the CA that signs now, hex
  std::string cert_pem;  // the renewed certificate, "" when none was asked for
  friend bool operator==(const Papers&, const Papers&) = default;
};

// Connect elsewhere now. The server closes this link after it; running tasks go on as ever.
struct Goodbye {
  std::vector<std::string> servers;  // URLs to choose from; none leaves what the node knows
  friend bool operator==(const Goodbye&, const Goodbye&) = default;
};

struct ServerFrame {
  bool say_hello = false;  // begin again with Hello: a new leadership, or `seen`
  // With say_hello: the session of this host that was accepted last, when its Hello was of an older
  // one. A node that still counts lower after it was told so is another one.
  std::uint64_t seen = 0;
  std::optional<Welcome> welcome;
  std::optional<Refusal> refusal;
  std::optional<BeatAnswer> beat;
  std::vector<Order> orders;
  std::vector<Kill> kills;
  std::vector<LogAck> log_acks;
  std::vector<TaskKey> forgets;
  std::optional<Papers> papers = {};
  std::optional<Goodbye> goodbye = {};
  bool Empty() const {
    return !say_hello && !welcome && !refusal && !beat && orders.empty() && kills.empty() &&
           log_acks.empty() && forgets.empty() && !papers && !goodbye;
  }
};

}  // namespace muster::link
