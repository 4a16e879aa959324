#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "domain/command.hpp"
#include "domain/ids.hpp"

namespace muster {

// Acts that other code looks for by name.
inline constexpr std::string_view kActRunStart = "run.start";
inline constexpr std::string_view kActHostRemove = "host.remove";  // object "host NAME"
// An entry's folded names are cut after about so many characters.
inline constexpr std::size_t kMostAuditNames = 4000;

// An act of somebody, for the audit trail. Entries form a chain: each holds the hash of the one
// before it, so whoever changes, removes or inserts one breaks it. Old entries may be dropped from
// the front, never the newest; the first that is left still holds its `previous`.
struct AuditEntry {
  std::uint64_t number = 0;  // grows by one with each
  WallTime at;
  std::string actor;           // name of the token
  std::string address;         // where the call came from
  std::string client;          // what the caller said of its program: "muster/0.1.0 alice@desk"
  std::string act;             // "run.start", "run.stop", "agent.join", "token.create", …
  std::string object;          // "r12", "host web1", "token alice"
  std::string detail;          // a sentence, and behind it what audit_facts.hpp says
  std::string reason;          // why, in the caller's words
  RunId run;                   // the run it is about, if it is about one
  std::uint32_t hosts = 0;     // how many it touches
  std::string names;           // which: folded ranges, cut after about kMostAuditNames
  std::string command;         // what they were to execute; see AuditText
  std::string command_sha256;  // of all of it, 32 bytes; see CommandHash
  std::string previous;        // hash of the entry before; "" for the first ever
  std::string hash;            // see AuditHash

  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// The last entry ever made; kept apart from the entries, so that a cut end shows.
struct AuditHead {
  std::uint64_t number = 0;
  std::string hash;

  friend bool operator==(const AuditHead&, const AuditHead&) = default;
};

// SHA-256 over `previous` and every other field of the entry but `hash`, each behind its length.
// Its form never changes: old entries must go on to fit their hashes.
std::string AuditHash(const AuditEntry& entry);

// A walk along the chain, entry by entry, oldest first.
class AuditWalk {
 public:
  // From the front of what is kept: the first entry's `previous` is believed.
  AuditWalk() = default;
  // From behind an entry that was looked at before.
  explicit AuditWalk(AuditHead behind) : last_(std::move(behind)) {}

  // False when the entry does not fit what came before it: see bad() and why(). Later calls stay
  // false.
  bool Take(const AuditEntry& entry);
  // Call at the end of the rows: false when the chain does not reach `head`.
  bool Reaches(const AuditHead& head);
  // `next` is a row behind the last one, or none, and `head` was read after it: false when nobody
  // made such an entry.
  bool EndsWith(const AuditEntry* next, const AuditHead& head);

  const AuditHead& last() const { return last_; }
  std::uint64_t bad() const { return bad_; }  // number of the first entry that is wrong; 0 is none
  const std::string& why() const { return why_; }

 private:
  bool Blame(std::uint64_t number, std::string why);

  AuditHead last_;
  std::uint64_t bad_ = 0;
  std::string why_;
};

// What a command executes, as a person would type it: the script as it is, else the words, quoted
// where a shell would need it; of files which, with their hashes, and where to. Cut after `most`
// bytes with "…"; valid UTF-8 in any case.
std::string AuditText(const Command& command, std::size_t most = 4096);

// SHA-256 over everything that decides what the command does: environment and stdin, the files of a
// push, the paths of a pull, the names of its secrets. A command that only executes something and
// uses no secret has the hash it always had.
std::string CommandHash(const Command& command);

}  // namespace muster
