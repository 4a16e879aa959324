#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  std::vector<Param> params;  // secrets by name; long values are cut
  std::vector<AuditStage> stages;
  std::uint32_t more_stages = 0;       // that are not listed
  std::string plan_sha256;             // PlanHash
  std::string content_sha256;          // of a document: Document::hash
  std::vector<std::string> secrets;    // "VARIABLE=secret:NAME", "param token=secret:NAME"
  std::vector<std::string> approvals;  // of a start: that it will ask for; else: gone around
  std::vector<std::string> starters;   // who caused what the run does
  std::string stage;                   // that the act is about
  std::uint32_t batch = 0;             // of the stage, from 1
  std::uint32_t pass = 0;
};

// What a plan will do. Its size is bounded, however large the plan is.
AuditFacts FactsOf(const RunSpec& plan);

// SHA-256 over everything that decides what a run of the plan does: its parameters, its stages with
// their actions, the jobs it starts.
std::string PlanHash(const RunSpec& plan);

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
