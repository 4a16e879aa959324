#include <algorithm>
#include <iterator>

#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"

namespace muster::records {
namespace {

// A row may have the hashes of very many files, and PostgreSQL gives all rows of an answer at once.
constexpr std::size_t kHeadsAtOnce = 50;

Result<DocumentHead> ListedHeadOf(const Row& row) {
  auto head = Decode<DocumentHead>(row.Bytes(0));
  if (head) head->files = {};
  return head;
}

}  // namespace

Result<std::optional<Document>> FindDocument(Queries& queries, std::string_view kind,
                                             std::string_view name, std::uint32_t version) {
  if (version > 0)
    return ReadOne<Document>(
        queries, "SELECT record FROM document WHERE kind = ? AND name = ? AND version = ?",
        Values().Word(kind).Word(name).Int(version), RecordOf<Document>);
  return ReadOne<Document>(queries,
                           "SELECT d.record FROM document_head h JOIN document d"
                           " ON d.kind = h.kind AND d.name = h.name AND d.version = h.version"
                           " WHERE h.kind = ? AND h.name = ? AND h.dropped = 0",
                           Values().Word(kind).Word(name), RecordOf<Document>);
}

Result<std::vector<DocumentHead>> ListDocumentHeads(Queries& queries, std::string_view kind,
                                                    std::string_view after, std::size_t limit) {
  std::vector<DocumentHead> heads;
  while (heads.size() < limit) {
    const std::size_t wanted = std::min(kHeadsAtOnce, limit - heads.size());
    const std::string last = heads.empty() ? std::string(after) : heads.back().name;
    auto page = ReadAll<DocumentHead>(
        queries,
        "SELECT record FROM document_head WHERE kind = ? AND name > ? AND dropped = 0"
        " ORDER BY name LIMIT ?",
        Values().Word(kind).Word(last).Int(LimitOf(wanted)), ListedHeadOf);
    if (!page) return page;
    std::ranges::move(*page, std::back_inserter(heads));
    if (page->size() < wanted) break;
  }
  return heads;
}

}  // namespace muster::records
