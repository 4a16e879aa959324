#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/command.hpp"
#include "link/codec/codec.hpp"
#include "ports/links.hpp"
#include "server/certificates/cluster_facts.hpp"
#include "server/live/heard_host.hpp"

// What the servers of a cluster say to each other, in plain words; peers.proto is the same on the
// wire.
namespace muster::server {

struct FollowerHello {
  std::string name;
  std::string version;
  std::string url = {};               // how nodes reach it; "" from earlier versions
  std::vector<std::string> cas = {};  // as in ServerFacts
};
struct FollowerBeat {
  MonoTime sent_at;                          // by the follower's clock
  std::optional<Duration> clock_ahead = {};  // its wall clock, of the leader's, surely
  // Hosts that spoke over its links since the beat before; by the follower's clock, too.
  std::vector<HeardHost> heard = {};
};
struct StoredOutput {
  TaskKey task;
  std::uint64_t from = 0;
  std::uint64_t end = 0;
};
// Of NodeHello only the durable ends of what was looked up travel: the leader looks at the records
// itself.
using FollowerItem = std::variant<FollowerHello, FollowerBeat, engine::NodeHello,
                                  engine::NodeReports, engine::LinkClosed, StoredOutput>;

struct LeaderWelcome {
  Term term;
  link::TermTicket ticket = {};
};
struct LeaderRefusal {
  std::string why;
};
struct LeaderBeat {
  MonoTime echo;                             // by the follower's clock
  MonoTime now;                              // by the leader's
  WallTime wall = {};                        // the leader's; zero: it does not say
  std::optional<ClusterFacts> cluster = {};  // when they are news to the follower
};
struct CloseLink {
  LinkId link;
};
struct DrainOrder {
  bool wanted = true;
};
using LeaderItem =
    std::variant<LeaderWelcome, LeaderRefusal, LeaderBeat, Links::Outgoing, CloseLink, DrainOrder>;

// Puts items together into frames that a link carries; an item never grows past half of what one
// may hold. Not thread-safe.
class FollowerFrames {
 public:
  void Add(const FollowerItem& item);
  std::vector<std::string> Take();  // the frames, in order

 private:
  std::vector<std::string> frames_;
};
class LeaderFrames {
 public:
  void Add(const LeaderItem& item);
  std::vector<std::string> Take();

 private:
  std::vector<std::string> frames_;
  link::ServerFrameEncoder encoder_;
};

// kInvalid: not what a server of this cluster says.
Result<std::vector<FollowerItem>> DecodeFollowerFrame(std::string_view bytes);
Result<std::vector<LeaderItem>> DecodeLeaderFrame(std::string_view bytes);

}  // namespace muster::server
