#include "domain/targets.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include <re2/re2.h>

#include "domain/host_ranges.hpp"
#include "domain/target_node.hpp"
#include "domain/target_parser.hpp"

namespace muster {
namespace {

using Node = TargetExpression::Node;
using Mask = std::vector<char>;  // one per host: meant or not

const std::string* LabelOf(const Host& host, std::string_view key) {
  constexpr std::string_view kFact = "fact.";
  const bool fact = key.starts_with(kFact);
  const Labels& labels = fact ? host.facts : host.labels;
  const auto found = labels.find(fact ? key.substr(kFact.size()) : key);
  return found == labels.end() ? nullptr : &found->second;
}

// Evaluates node by node over all hosts.
class Resolver {
 public:
  Resolver(std::span<const Host* const> hosts, const TargetContext& context, bool any_state)
      : hosts_(hosts), context_(context), any_state_(any_state) {}

  Result<Mask> Evaluate(const Node& node, bool negated) {
    switch (node.kind) {
      case Node::Kind::kAll:
        return Where([](const Host&) { return true; });
      case Node::Kind::kNames:
        return Names(node, negated);
      case Node::Kind::kPattern:
        return Where([&](const Host& host) { return MatchesPattern(host.name, node.text); });
      case Node::Kind::kGroup:
        return Members(context_.Group(node.text));
      case Node::Kind::kRun:
        return Members(context_.RunHosts(node.text, node.state));
      case Node::Kind::kLabel:
        return Where([&](const Host& host) {
          const auto* value = LabelOf(host, node.text);
          return value != nullptr && node.values.contains(*value);
        });
      case Node::Kind::kRegex:
        return Matching(node);
      case Node::Kind::kNot:
        return Opposite(node, negated);
      case Node::Kind::kAnd:
      case Node::Kind::kOr:
        return Joined(node, negated);
    }
    return Fail(ErrorCode::kInternal, "targets: a term of unknown kind");
  }

  // Names written out that no host has.
  const std::set<std::string>& Missing() const { return missing_; }

 private:
  Mask Where(const std::function<bool(const Host&)>& matches) const {
    Mask mask(hosts_.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      mask[i] = hosts_[i]->state == HostState::kActive && matches(*hosts_[i]);
    return mask;
  }

  // Hosts often share a value, which is matched once. The tables that matching builds up are of one
  // regular expression at a time; the node's own has none.
  Result<Mask> Matching(const Node& node) {
    re2::RE2::Options options(node.regex->options());
    options.set_max_mem(kMaxTargetRegexMemory);
    const re2::RE2 regex(node.regex->pattern(), options);
    const auto size = static_cast<std::size_t>(std::max(1, regex.ProgramSize()));
    std::unordered_map<std::string_view, bool> known;
    auto mask = Where([&](const Host& host) {
      const auto* value = LabelOf(host, node.text);
      if (value == nullptr || regex_work_ > kMaxTargetRegexWork) return false;
      const auto [place, added] = known.try_emplace(*value);
      if (added) {
        regex_work_ += size * (value->size() + 1);
        place->second = re2::RE2::PartialMatch(*value, regex);
      }
      return place->second;
    });
    if (regex_work_ > kMaxTargetRegexWork)
      return Fail(ErrorCode::kInvalid,
                  "targets: the regular expressions take too long on so many different values of "
                  "'{}'; use fewer or simpler ones, or name the values",
                  node.text);
    return mask;
  }

  Result<Mask> Names(const Node& node, bool negated) {
    Mask mask(hosts_.size());
    for (const auto& name : node.values) {
      const auto found = ByName().find(name);
      if (found == ByName().end()) {
        missing_.insert(name);
        continue;
      }
      const Host& host = *hosts_[found->second];
      // Leaving such a host out is no mistake, sending it work is. A copy may be an active host
      // again in a moment: it is refused by itself, as one that is away ends by itself.
      if (host.state == HostState::kRevoked && !negated && !any_state_)
        return Fail(ErrorCode::kConflict, "host '{}' takes no work, it is {}{}", name,
                    host.note.empty() ? Name(host.state) : host.note,
                    "; write the targets without its name (-x does not take a name back; a pattern "
                    "such as 'web*' leaves revoked hosts out)");
      mask[found->second] = 1;
    }
    return mask;
  }

  Result<Mask> Members(const Result<NameSet>& names) const {
    if (!names) return Fail(names.error());
    return Where([&](const Host& host) { return (*names)->contains(host.name); });
  }

  Result<Mask> Opposite(const Node& node, bool negated) {
    auto mask = Evaluate(*node.children.front(), !negated);
    if (!mask) return mask;
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      (*mask)[i] = hosts_[i]->state == HostState::kActive && (*mask)[i] == 0;
    return mask;
  }

  Result<Mask> Joined(const Node& node, bool negated) {
    const bool both = node.kind == Node::Kind::kAnd;
    Mask joined(hosts_.size(), both ? 1 : 0);
    for (const auto& child : node.children) {
      const auto mask = Evaluate(*child, negated);
      if (!mask) return mask;
      for (std::size_t i = 0; i < joined.size(); ++i)
        joined[i] = both ? joined[i] & (*mask)[i] : joined[i] | (*mask)[i];
    }
    return joined;
  }

  const std::unordered_map<std::string_view, std::size_t>& ByName() {
    if (by_name_.empty())
      for (std::size_t i = 0; i < hosts_.size(); ++i) by_name_.emplace(hosts_[i]->name, i);
    return by_name_;
  }

  std::span<const Host* const> hosts_;
  const TargetContext& context_;
  const bool any_state_;
  std::size_t regex_work_ = 0;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::set<std::string> missing_;
};

bool NodeSaysAll(const Node& node, bool negated) {
  if (node.kind == Node::Kind::kAll) return !negated;
  const bool inner = node.kind == Node::Kind::kNot ? !negated : negated;
  return std::ranges::any_of(node.children,
                             [&](const auto& child) { return NodeSaysAll(*child, inner); });
}

void Walk(const Node& node, const std::function<void(const Node&)>& see) {
  see(node);
  for (const auto& child : node.children) Walk(*child, see);
}

}  // namespace

TargetExpression::TargetExpression(std::unique_ptr<Node> root) : root_(std::move(root)) {}
TargetExpression::TargetExpression(TargetExpression&&) noexcept = default;
TargetExpression& TargetExpression::operator=(TargetExpression&&) noexcept = default;
TargetExpression::~TargetExpression() = default;

Result<TargetExpression> TargetExpression::Parse(std::string_view text) {
  auto root = ParseTargets(text);
  if (!root) return Fail(root.error());
  return TargetExpression(std::move(*root));
}

Result<std::vector<std::size_t>> TargetExpression::Resolve(std::span<const Host* const> hosts,
                                                           const TargetContext& context,
                                                           ResolveOptions options) const {
  Resolver resolver(hosts, context, options.any_state);
  const auto mask = resolver.Evaluate(*root_, false);
  if (!mask) return Fail(mask.error());
  if (!options.ignore_missing && !resolver.Missing().empty()) {
    const std::vector<std::string> missing(resolver.Missing().begin(), resolver.Missing().end());
    return Fail(ErrorCode::kNotFound, "no such host: {}", FoldHostNames(missing, 500));
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if ((*mask)[i] != 0) found.push_back(i);
  if (found.empty() && !options.allow_none) return Fail(ErrorCode::kNotFound, "no host matches");
  std::ranges::sort(found, [&](std::size_t a, std::size_t b) {
    return NaturalLess(hosts[a]->name, hosts[b]->name);
  });
  return found;
}

TargetExpression TargetExpression::Without(TargetExpression other) && {
  auto left_out = std::make_unique<Node>();
  left_out->kind = Node::Kind::kNot;
  left_out->children.push_back(std::move(other.root_));
  auto both = std::make_unique<Node>();
  both->kind = Node::Kind::kAnd;
  both->children.push_back(std::move(root_));
  both->children.push_back(std::move(left_out));
  return TargetExpression(std::move(both));
}

std::optional<std::set<std::string>> TargetExpression::OnlyNames() const {
  std::set<std::string> names;
  bool only = true;
  Walk(*root_, [&](const Node& node) {
    if (node.kind == Node::Kind::kNames)
      names.insert(node.values.begin(), node.values.end());
    else if (node.kind != Node::Kind::kOr)
      only = false;
  });
  if (!only) return std::nullopt;
  return names;
}

bool TargetExpression::SaysAll() const noexcept { return NodeSaysAll(*root_, false); }

std::vector<std::string> TargetExpression::Groups() const {
  std::set<std::string> groups;
  Walk(*root_, [&](const Node& node) {
    if (node.kind == Node::Kind::kGroup) groups.insert(node.text);
  });
  return {groups.begin(), groups.end()};
}

std::vector<std::string> TargetExpression::LabelsUsed() const {
  std::set<std::string> labels;
  Walk(*root_, [&](const Node& node) {
    if (node.kind == Node::Kind::kLabel || node.kind == Node::Kind::kRegex)
      labels.insert(node.text);
  });
  return {labels.begin(), labels.end()};
}

std::vector<std::pair<std::string, std::string>> TargetExpression::Runs() const {
  std::set<std::pair<std::string, std::string>> runs;
  Walk(*root_, [&](const Node& node) {
    if (node.kind == Node::Kind::kRun) runs.emplace(node.text, node.state);
  });
  return {runs.begin(), runs.end()};
}

std::string QuoteTargetValue(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    out += c;
    if (c == '"') out += c;
  }
  return out + '"';
}

}  // namespace muster
