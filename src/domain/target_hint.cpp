#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/similar.hpp"
#include "domain/host_ranges.hpp"
#include "domain/target_node.hpp"
#include "domain/targets.hpp"

namespace muster {
namespace {

using Node = TargetExpression::Node;

constexpr std::size_t kMostTermsLookedAt = 10;
constexpr std::size_t kMostValuesNamed = 6;
constexpr std::size_t kMostValuesKept = 100;
constexpr std::string_view kFactPrefix = "fact.";

struct HintTerms {
  std::set<std::string> names;
  std::map<std::string, std::set<std::string>> labels;  // the values asked for; none by ~
};

void Gather(const Node& node, HintTerms& terms) {
  if (terms.names.size() + terms.labels.size() >= kMostTermsLookedAt) return;
  if (node.kind == Node::Kind::kNames)
    for (const auto& name : node.values)
      if (terms.names.size() < kMostTermsLookedAt) terms.names.insert(name);
  if (node.kind == Node::Kind::kLabel)
    terms.labels[node.text].insert(node.values.begin(), node.values.end());
  if (node.kind == Node::Kind::kRegex) terms.labels[node.text];
  for (const auto& child : node.children) Gather(*child, terms);
}

std::string HintForName(const std::string& name, std::span<const Host* const> hosts) {
  NearestName nearest(name);
  for (const Host* host : hosts) nearest.Offer(host->name);
  return nearest.Hint();
}

std::string HintForKey(const std::string& key, bool fact, std::span<const Host* const> hosts) {
  std::set<std::string_view> known;
  for (const Host* host : hosts)
    for (const auto& [name, value] : fact ? host->facts : host->labels)
      if (known.size() < kMostValuesKept) known.insert(name);
  NearestName nearest(key);
  for (const auto name : known) nearest.Offer(name);
  return fmt::format(
      "; no host has the {} '{}'{}", fact ? "fact" : "label", key,
      nearest.Best().empty() ? "" : fmt::format(", did you mean {}?", nearest.Best()));
}

// No host has one of the values; else nothing.
std::string HintForValue(const std::string& key, const std::set<std::string>& asked, bool fact,
                         std::span<const Host* const> hosts) {
  const std::string plain = fact ? key.substr(kFactPrefix.size()) : key;
  bool has_key = false;
  std::set<std::string> values;
  for (const Host* host : hosts) {
    const Labels& labels = fact ? host->facts : host->labels;
    const auto found = labels.find(plain);
    if (found == labels.end()) continue;
    has_key = true;
    if (asked.contains(found->second)) return "";
    if (values.size() < kMostValuesKept) values.insert(found->second);
  }
  if (!has_key) return HintForKey(plain, fact, hosts);
  if (asked.empty()) return "";
  NearestName nearest(*asked.begin());
  for (const auto& value : values) nearest.Offer(value);
  if (!nearest.Best().empty())
    return fmt::format("; no host has {}={}, did you mean {}={}?", key, *asked.begin(), key,
                       nearest.Best());
  std::string named;
  for (const auto& value : values) {
    if (values.size() > kMostValuesNamed) break;
    named += fmt::format("{}{}", named.empty() ? "" : ", ", value);
  }
  return fmt::format("; no host has {}={}{}{}", key, *asked.begin(),
                     named.empty() ? "" : "; there are ", named);
}

}  // namespace

std::string TargetExpression::Hint(std::span<const Host* const> hosts) const {
  HintTerms terms;
  Gather(*root_, terms);
  std::set<std::string_view> there;
  for (const Host* host : hosts)
    if (terms.names.contains(host->name)) there.insert(host->name);
  for (const auto& name : terms.names)
    if (!there.contains(name)) return HintForName(name, hosts);
  for (const auto& [key, values] : terms.labels)
    if (auto hint = HintForValue(key, values, key.starts_with(kFactPrefix), hosts); !hint.empty())
      return hint;
  return "";
}

}  // namespace muster
