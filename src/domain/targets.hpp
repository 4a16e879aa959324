#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "domain/host.hpp"

namespace muster {

// The target language: one small, total language that says which hosts are meant.
//
//   web1                     the host of exactly that name (unknown: an error)
//   web*  *.sh1  web?        names by pattern
//   web[01-20,30]            names by range, zero-padded as written (each unknown name is an error)
//   a,b                      either (the comma binds like `or`)
//   @db                      a group
//   zone=sh1  zone!=sh1      a label, exactly (a host without the label is `!=`)
//   zone in (sh1,sh2)        one of several
//   app~"^test"              a label by RE2, unanchored;  app!~"x" the opposite
//   fact.os=debian           what the agent says of its machine
//   run:r12.failed           the hosts of a run in a state (also run:r12 for all of them)
//   and or not ( )           `not` binds tightest, then `and`, then `or` and `,`
//   all                      everything; only when written
//
// Values may be quoted with "…" or '…' and then may hold any character; the quote itself is written
// twice, a backslash is just a backslash. A quoted word alone is an exact name. An empty expression
// is an error, a lone * is an error that says "write all".

// Names of hosts. Shared by the table of what was looked up and those who read it.
using NameSet = std::shared_ptr<const std::set<std::string>>;

// Answers what an expression cannot know by itself. Pure code passes a table of what was looked up.
// Names are never null.
class TargetContext {
 public:
  virtual ~TargetContext() = default;
  // Names in group `name`; kNotFound when there is no such group.
  virtual Result<NameSet> Group(std::string_view name) const = 0;
  // Hosts of run `id` in `state` ("" is all); kNotFound when there is no such run or state.
  virtual Result<NameSet> RunHosts(std::string_view id, std::string_view state) const = 0;
};

// How strictly an expression is taken.
struct ResolveOptions {
  bool ignore_missing = false;  // unknown exact names pass
  bool any_state = false;       // exact names also mean hosts that take no work
  bool allow_none = false;      // it may mean no host now
  bool declared = false;        // ResolveTargets also looks for hosts that never joined
};

class TargetExpression {
 public:
  // kInvalid names the column and what was expected there.
  static Result<TargetExpression> Parse(std::string_view text);

  TargetExpression(TargetExpression&&) noexcept;
  TargetExpression& operator=(TargetExpression&&) noexcept;
  ~TargetExpression();

  // The matching hosts, as indices into `hosts` in the order of their names. Linear in hosts. Only
  // active hosts match patterns and labels; a revoked or copied host named exactly is an error.
  // kNotFound: an exact name (or name of a range, group, run) is unknown, with the name in the
  // message; or nothing matches at all.
  Result<std::vector<std::size_t>> Resolve(std::span<const Host* const> hosts,
                                           const TargetContext& context,
                                           ResolveOptions options = {}) const;

  // What this means and `other` does not: "web* and not web3".
  TargetExpression Without(TargetExpression other) &&;

  // True when the expression says `all` outside of `not`: callers ask before acting on it.
  bool SaysAll() const noexcept;

  // The names, when it is nothing but names written out: then only hosts of these names matter to
  // Resolve, however many others there are. Nothing otherwise.
  std::optional<std::set<std::string>> OnlyNames() const;

  // What may be meant instead when Resolve ended with kNotFound among these hosts, as the end of
  // its sentence: "; did you mean web7?", "; no host has the label 'zoen', did you mean zone?". ""
  // when nothing is near. Looks at ten terms at most, and at each host once for each.
  std::string Hint(std::span<const Host* const> hosts) const;

  // Groups ("@db") and runs ("r12", "failed") it mentions, so a caller can look them up first.
  std::vector<std::string> Groups() const;
  // Labels and facts it looks at, as they are written: "zone", "fact.os".
  std::vector<std::string> LabelsUsed() const;
  std::vector<std::pair<std::string, std::string>> Runs() const;

  struct Node;  // defined in the source

 private:
  explicit TargetExpression(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

// Writes `value` so that it is one literal in an expression, whatever it holds.
std::string QuoteTargetValue(std::string_view value);

}  // namespace muster
