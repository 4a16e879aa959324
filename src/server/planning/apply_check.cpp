#include "server/planning/apply_check.hpp"

#include <algorithm>

#include "cron/zone.hpp"
#include "server/planning/kind_rules.hpp"
#include "server/planning/nesting.hpp"

namespace muster::server {
namespace {

using documents::KindRow;

constexpr std::size_t kHeadsPage = 200;

Result<> CheckNamed(AppliedSet& set, const documents::Document& document) {
  const auto& row = documents::RowOf(documents::KindOf(document));
  for (const auto& reference : documents::ReferencesOf(document.body)) {
    if (!reference.needed) continue;
    const auto kind = documents::Name(reference.kind);
    const auto there = set.IsThere({std::string(kind), reference.name});
    if (!there) return Fail(there.error());
    if (!*there)
      set.Complain(document, reference.key, reference.name,
                   "there is no {} '{}'{}; apply it together with this {}", kind, reference.name,
                   set.NearName(reference.kind, reference.name), row.name);
  }
  return {};
}

class ZoneCheck {
 public:
  void Look(AppliedSet& set, const documents::Document& document) {
    const auto named = documents::ZonesOf(document.body);
    for (const auto& zone : std::set<std::string>(named.begin(), named.end()))
      if (!IsZone(zone))
        set.Complain(document, "tz", zone,
                     "there is no time zone '{}'; expected one as Europe/Berlin", zone);
  }

 private:
  bool IsZone(const std::string& name) {
    const auto known = zones_.find(name);
    if (known != zones_.end()) return known->second;
    return zones_[name] = cron::LoadZone(name).has_value();
  }

  std::map<std::string, bool> zones_;  // looked up once
};

// The names of a document's own kind that it names.
Result<std::vector<std::string>> OwnKindBelow(AppliedSet& set, documents::Kind kind,
                                              const std::string& name) {
  const auto references = set.ReferencesOf(kind, name);
  if (!references) return Fail(references.error());
  std::vector<std::string> names;
  for (const auto& reference : *references)
    if (reference.kind == kind) names.push_back(reference.name);
  return names;
}

std::string_view KeyOf(const documents::Document& document, const std::string& name) {
  for (const auto& reference : documents::ReferencesOf(document.body))
    if (reference.kind == documents::KindOf(document) && reference.name == name)
      return reference.key;
  return "name";
}

void ComplainOfNesting(AppliedSet& set, const KindRow& row, const NestingProblem& problem) {
  const auto& [deepest, verb, before] = row.nesting;
  const auto& way = problem.way;
  const auto& document = *set.FindPut({std::string(row.name), way.front()});
  const std::string& next = way.size() > 1 ? way[1] : way.front();
  const auto key = KeyOf(document, next);
  if (problem.kind == NestingProblem::Kind::kCircle)
    set.Complain(document, key, next, "{} {} each other in a circle: {} -> {}{}", row.plural, verb,
                 WayText(way, before), before, way.front());
  else
    set.Complain(document, key, next, "{} {} {} more than {} levels deep: {}; use fewer levels",
                 row.plural, verb, row.plural, deepest, WayText(way, before));
}

// Each circle and each chain is said once, by the first document in it.
Result<> CheckOwnKind(AppliedSet& set, const KindRow& row) {
  if (row.nesting.deepest == 0) return {};
  std::vector<std::string> names;
  for (const auto& document : set.Puts())
    if (documents::KindOf(document) == row.kind) names.push_back(documents::NameOf(document));
  const auto found = CheckNesting(names, row.nesting.deepest, [&](const std::string& name) {
    return OwnKindBelow(set, row.kind, name);
  });
  if (!found) return Fail(found.error());
  for (const auto& problem : *found) ComplainOfNesting(set, row, problem);
  return {};
}

// A document that stays must not lose what it holds.
Result<> CheckKeptOne(AppliedSet& set, const KindRow& row, const std::string& name) {
  const DocumentKey key{row.name, name};
  if (set.FindPut(key) != nullptr || set.IsDropped(key)) return {};
  const auto kept = set.Kept().FindDocument(key.first, name, 0);
  if (!kept) return Fail(kept.error());
  if (!*kept) return {};  // deleted meanwhile
  const auto document = ReadKept(**kept);
  if (!document) return {};  // it cannot be used anyway
  for (const auto& reference : documents::ReferencesOf(document->body)) {
    const auto hold = std::ranges::find(row.holds, reference.kind, &documents::Hold::kind);
    const auto kind = documents::Name(reference.kind);
    if (hold == row.holds.end() || !set.IsDropped({std::string(kind), reference.name})) continue;
    set.Complain(*document, reference.key, reference.name,
                 "{} '{}' {} {} '{}', which would be deleted", row.name, name, hold->verb, kind,
                 reference.name);
  }
  return {};
}

Result<> CheckKept(AppliedSet& set, const KindRow& row, const std::set<DocumentKey>& drops) {
  const bool needed = std::ranges::any_of(drops, [&](const DocumentKey& drop) {
    const auto kind = documents::ParseKind(drop.first);
    return kind && std::ranges::find(row.holds, *kind, &documents::Hold::kind) != row.holds.end();
  });
  if (!needed) return {};
  std::string after;
  while (true) {
    const auto page = set.Kept().ListDocumentHeads(row.name, after, kHeadsPage);
    if (!page) return Fail(page.error());
    for (const auto& head : *page)
      if (auto checked = CheckKeptOne(set, row, head.name); !checked) return checked;
    if (page->size() < kHeadsPage) return {};
    after = page->back().name;
  }
}

}  // namespace

Result<std::vector<documents::Problem>> CheckReferences(
    Store& store, const std::vector<documents::Document>& puts,
    const std::set<DocumentKey>& drops) {
  AppliedSet set(store, puts, drops);
  ZoneCheck zones;
  for (const auto& document : puts) {
    zones.Look(set, document);
    if (auto checked = CheckNamed(set, document); !checked) return Fail(checked.error());
    const auto& rules = RulesOf(documents::KindOf(document));
    if (rules.check == nullptr) continue;
    if (auto checked = rules.check(set, document); !checked) return Fail(checked.error());
  }
  for (const auto& row : documents::Kinds())
    if (auto checked = CheckOwnKind(set, row); !checked) return Fail(checked.error());
  for (const auto& row : documents::Kinds())
    if (auto checked = CheckKept(set, row, drops); !checked) return Fail(checked.error());
  return std::move(set).TakeProblems();
}

}  // namespace muster::server
