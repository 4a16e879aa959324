#include "server/planning/apply_command.hpp"

#include "server/planning/kind_rules.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kDocumentsPage = 500;

}  // namespace

Result<std::set<DocumentKey>> ToPrune(Store& store, const std::vector<documents::Document>& puts) {
  std::set<DocumentKey> given;
  for (const auto& document : puts)
    given.emplace(documents::Name(documents::KindOf(document)), documents::NameOf(document));
  std::set<std::string> kinds;
  for (const auto& [kind, name] : given) kinds.insert(kind);
  std::set<DocumentKey> drops;
  for (const auto& kind : kinds) {
    std::string after;
    while (true) {
      const auto page = store.ListDocumentHeads(kind, after, kDocumentsPage);
      if (!page) return Fail(page.error());
      for (const auto& kept : *page)
        if (!given.contains({kind, kept.name})) drops.emplace(kind, kept.name);
      if (page->size() < kDocumentsPage) break;
      after = page->back().name;
    }
  }
  return drops;
}

const documents::KindRow* KindDenied(Role role, const std::vector<documents::Document>& puts,
                                     const std::set<DocumentKey>& drops) {
  for (const auto& document : puts)
    if (const auto& row = documents::RowOf(documents::KindOf(document)); role < row.role)
      return &row;
  for (const auto& [kind, name] : drops)
    if (const auto* row = documents::FindKind(kind); row != nullptr && role < row->role) return row;
  return nullptr;
}

Result<engine::ApplyDocuments> ApplyCommandOf(Store& store, const ApplyRequest& request,
                                              const std::vector<documents::Document>& puts,
                                              const std::set<DocumentKey>& drops) {
  engine::ApplyDocuments command{
      .caller = {}, .puts = {}, .drops = {drops.begin(), drops.end()}, .reason = request.reason};
  for (const auto& document : puts) {
    command.puts.push_back(std::make_shared<const Document>(KeptOf(document, request)));
    const auto& rules = RulesOf(documents::KindOf(document));
    if (rules.put == nullptr) continue;
    if (auto added = rules.put(store, document, command); !added) return Fail(added.error());
  }
  for (const auto& [kind, name] : drops) {
    const auto known = documents::ParseKind(kind);
    if (!known || RulesOf(*known).drop == nullptr) continue;
    if (auto added = RulesOf(*known).drop(store, name, command); !added) return Fail(added.error());
  }
  return command;
}

Result<engine::DocumentsApplied> Foresee(Store& store, const engine::ApplyDocuments& command) {
  engine::DocumentsApplied foreseen;
  for (const auto& put : command.puts) {
    const auto kept = store.FindDocument(put->kind, put->name, 0);
    if (!kept) return Fail(kept.error());
    const bool same = *kept && (*kept)->hash == put->hash;
    foreseen.documents.push_back({put->kind, put->name,
                                  *kept ? (*kept)->version + (same ? 0 : 1) : 1,
                                  same    ? engine::DocumentFate::kUnchanged
                                  : *kept ? engine::DocumentFate::kChanged
                                          : engine::DocumentFate::kCreated});
  }
  for (const auto& [kind, name] : command.drops)
    foreseen.documents.push_back({kind, name, 0, engine::DocumentFate::kDeleted});
  return foreseen;
}

}  // namespace muster::server
