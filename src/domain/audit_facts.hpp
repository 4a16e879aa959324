#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "domain/channel.hpp"
#include "domain/run.hpp"

// What an audit entry says beyond its sentence, for programs: what was done, with which parameters,
// under which approvals. It stands behind the sentence in AuditEntry::detail, so that the chain's
// hash covers it and servers that know nothing of it check and show it all the same.
namespace muster {

// One stage of what was started.
struct AuditStage {
  std::string name;
  std::string action;            // ActionName
  std::string text;              // its beginning, as a person would read it; "" when the entry's
                                 // command says it
  std::string user;              // whom it runs as; "" is the agent's default
  std::vector<std::string> env;  // names of the variables it is given
  std::string sha256;            // CommandHash, of a stage that works on hosts
};

// Empty parts are left out.
struct AuditFacts {
  std::string title;  // the caller's own words, for lists; believe the rest
  std::string job;
  std::uint32_t version = 0;
  std::string trigger;
  std::string parent;         // the run whose stage started it
  std::vector<Param> params;  // secrets by name; long values are cut
  std::vector<AuditStage> stages;
  std::uint32_t more_stages = 0;  // that are not listed
  std::string plan_sha256;        // PlanHash
  std::string content_sha256;     // of a document: Document::hash
  // "VARIABLE=secret:NAME", "param token=secret:NAME", "header Authorization=secret:NAME"; of a
  // channel also "url=secret:NAME" and "password=secret:NAME".
  std::vector<std::string> secrets;
  std::string host;                    // of a channel: where its messages go, with its port
  std::vector<std::string> channels;   // that it notifies; their secrets are named in them
  std::vector<std::string> approvals;  // of a start: that it will ask for; else: gone around
  std::vector<std::string> starters;   // who caused what the run does
  std::string stage;                   // that the act is about; of a child run: the parent's
  std::uint32_t batch = 0;             // of the stage, from 1
  std::uint32_t pass = 0;
};

// What a plan will do. Its size is bounded, however large the plan is.
AuditFacts FactsOf(const RunSpec& plan);

// Where the messages of a channel go, and which secrets go with them. No more of its url than the
// host: the rest may be a secret by itself. Of a url that comes from a secret not even that.
AuditFacts FactsOf(const Channel& channel);

// SHA-256 over everything that decides what a run of the plan does: its parameters, its stages with
// their actions, the jobs it starts.
std::string PlanHash(const RunSpec& plan);
// The same; hashes of jobs that are in `known` are not made again, and those made are added.
std::string PlanHash(const RunSpec& plan, std::map<const RunSpec*, std::string>& known);

// The sentence with the facts behind it, as AuditEntry::detail keeps them. A line break in the
// sentence becomes a space.
std::string DetailWith(std::string sentence, const AuditFacts& facts);

// The two parts of such a text; `facts` is a JSON object, or "" when there are none.
struct DetailParts {
  std::string_view sentence;
  std::string_view facts;
};
DetailParts SplitDetail(std::string_view detail);

}  // namespace muster
