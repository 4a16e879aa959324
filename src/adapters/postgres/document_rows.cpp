#include "adapters/postgres/document_rows.hpp"

#include <algorithm>
#include <iterator>

#include "adapters/postgres/rows.hpp"
#include "adapters/records/records.hpp"

namespace muster::postgres {
namespace {

// A row may have the hashes of very many files, and all rows of an answer are in memory at once.
constexpr std::size_t kHeadsAtOnce = 50;

Result<Document> DocumentOf(const Row& row) { return records::DecodeDocument(row.Bytes(0)); }

Result<DocumentHead> ListedHeadOf(const Row& row) {
  auto head = records::DecodeDocumentHead(row.Bytes(0));
  if (head) head->files = {};
  return head;
}

}  // namespace

Result<std::vector<DocumentHead>> ReadDocumentHeads(Connection& connection) {
  // Two ranges of the index, so that a million triggers between them are not even looked at.
  return ReadAll<DocumentHead>(
      connection,
      "SELECT record, dropped FROM (SELECT * FROM document_head WHERE kind < ?"
      " UNION ALL SELECT * FROM document_head WHERE kind > ?) h ORDER BY kind, name",
      Params().Bytes(kTriggerKind).Bytes(kTriggerKind), [](const Row& row) -> Result<DocumentHead> {
        auto head = records::DecodeDocumentHead(row.Bytes(0));
        if (head) head->dropped = row.Int(1) != 0;
        return head;
      });
}

Result<std::optional<Document>> ReadDocument(Connection& connection, std::string_view kind,
                                             std::string_view name, std::uint32_t version) {
  if (version > 0)
    return ReadOne<Document>(
        connection, "SELECT record FROM document WHERE kind = ? AND name = ? AND version = ?",
        Params().Bytes(kind).Bytes(name).Int(version), DocumentOf);
  return ReadOne<Document>(connection,
                           "SELECT d.record FROM document_head h JOIN document d"
                           " ON d.kind = h.kind AND d.name = h.name AND d.version = h.version"
                           " WHERE h.kind = ? AND h.name = ? AND h.dropped = 0",
                           Params().Bytes(kind).Bytes(name), DocumentOf);
}

Result<std::vector<DocumentHead>> ListDocumentHeads(Connection& connection, std::string_view kind,
                                                    std::string_view after, std::size_t limit) {
  std::vector<DocumentHead> heads;
  while (heads.size() < limit) {
    const std::size_t wanted = std::min(kHeadsAtOnce, limit - heads.size());
    const std::string last = heads.empty() ? std::string(after) : heads.back().name;
    auto page = ReadAll<DocumentHead>(
        connection,
        "SELECT record FROM document_head WHERE kind = ? AND name > ? AND dropped = 0"
        " ORDER BY name LIMIT ?",
        Params().Bytes(kind).Bytes(last).Int(LimitOf(wanted)), ListedHeadOf);
    if (!page) return page;
    std::ranges::move(*page, std::back_inserter(heads));
    if (page->size() < wanted) break;
  }
  const auto read = [&](const DocumentHead& head) {
    return ReadDocument(connection, head.kind, head.name, head.version);
  };
  if (auto filled = records::FillOldHeads(heads, read); !filled) return Fail(filled.error());
  return heads;
}

Result<ReadAt<std::optional<Secret>>> ReadSecret(Connection& connection, std::string_view name) {
  return ReadOneAt<Secret>(
      connection, "SELECT f.number, s.record FROM fence f LEFT JOIN secret s ON s.name = ?",
      Params().Bytes(name), [](const Row& row) { return records::DecodeSecret(row.Bytes(1)); });
}

Result<std::vector<Secret>> ReadSecrets(Connection& connection) {
  return ReadAll<Secret>(connection, "SELECT record FROM secret ORDER BY name", {},
                         [](const Row& row) { return records::DecodeSecret(row.Bytes(0)); });
}

Result<std::vector<OpenNotice>> ReadNotices(Connection& connection) {
  return ReadAll<OpenNotice>(connection, "SELECT record FROM notice ORDER BY run, visit", {},
                             [](const Row& row) { return records::DecodeNotice(row.Bytes(0)); });
}

}  // namespace muster::postgres
