#include "server/planning/applied_set.hpp"

#include <sstream>
#include <utility>

#include "server/planning/known_names.hpp"

namespace muster::server {
namespace {

bool SaysNothing(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

std::size_t FindWord(std::string_view line, std::string_view word) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !IsWordPart(line[at - 1]);
    const auto end = at + word.size();
    if (begins && (end >= line.size() || !IsWordPart(line[end]))) return at;
  }
  return std::string_view::npos;
}

// Where a name that the document refers to stands in it, after the key that names it; else where
// the document begins.
documents::Position PlaceOf(const documents::Document& document, std::string_view key,
                            std::string_view word) {
  std::istringstream text(document.text);
  std::uint32_t number = document.position.line;
  bool begun = false;
  bool after_key = false;
  for (std::string line; std::getline(text, line);) {
    if (!begun && SaysNothing(line)) continue;
    if (std::exchange(begun, true)) ++number;
    const auto key_at = FindWord(line, key);
    after_key = after_key || key_at != std::string_view::npos;
    if (!after_key) continue;
    const auto from = key_at == std::string_view::npos ? 0 : key_at + key.size();
    if (const auto at = FindWord(std::string_view(line).substr(from), word);
        at != std::string_view::npos)
      return {number, static_cast<std::uint32_t>(from + at + 1)};
  }
  return document.position;
}

DocumentKey KeyOf(const documents::Document& document) {
  return {std::string(documents::Name(documents::KindOf(document))), documents::NameOf(document)};
}

}  // namespace

AppliedSet::AppliedSet(Store& store, const std::vector<documents::Document>& puts,
                       const std::set<DocumentKey>& drops)
    : store_(store), puts_(puts), drops_(drops), book_(store, JobBook::Reads::kWithoutCommands) {
  for (const auto& [kind, name] : drops)
    if (documents::ParseKind(kind) == documents::Kind::kJob) book_.Set(name, std::nullopt);
  for (const auto& document : puts) {
    given_.emplace(KeyOf(document), &document);
    if (const auto* job = std::get_if<documents::JobDocument>(&document.body))
      book_.Set(job->name, *job);
  }
}

const documents::Document* AppliedSet::FindPut(const DocumentKey& key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : found->second;
}

bool AppliedSet::IsDropped(const DocumentKey& key) const {
  return drops_.contains(key) && !given_.contains(key);
}

Result<bool> AppliedSet::IsThere(const DocumentKey& key) {
  if (given_.contains(key)) return true;
  if (drops_.contains(key)) return false;
  if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
  const auto kept = store_.FindDocument(key.first, key.second, 0);
  if (!kept) return Fail(kept.error());
  return kept_[key] = kept->has_value();
}

Result<std::vector<documents::Reference>> AppliedSet::ReferencesOf(documents::Kind kind,
                                                                   const std::string& name) {
  const DocumentKey key{documents::Name(kind), name};
  if (const auto* given = FindPut(key)) return documents::ReferencesOf(given->body);
  if (drops_.contains(key)) return std::vector<documents::Reference>{};
  if (kind == documents::Kind::kJob) {
    const auto job = book_.Find(name);
    if (!job) return Fail(job.error());
    if (*job == nullptr) return std::vector<documents::Reference>{};
    return documents::ReferencesOf((*job)->document);
  }
  const auto kept = store_.FindDocument(key.first, name, 0);
  if (!kept) return Fail(kept.error());
  if (!*kept) return std::vector<documents::Reference>{};
  const auto document = ReadKept(**kept);
  if (!document) return std::vector<documents::Reference>{};  // it cannot be used anyway
  return documents::ReferencesOf(document->body);
}

std::string AppliedSet::NearName(documents::Kind kind, const std::string& name) {
  // Each looks at many names, so a request gets a few of them.
  constexpr std::size_t kMostHints = 20;
  return hints_++ < kMostHints ? DidYouMean(store_, documents::Name(kind), name) : std::string();
}

void AppliedSet::Put(const documents::Document& document, std::string_view key,
                     std::string_view word, std::string sentence) {
  problems_.push_back({.file = document.file,
                       .position = PlaceOf(document, key, word),
                       .sentence = std::move(sentence)});
}

}  // namespace muster::server
