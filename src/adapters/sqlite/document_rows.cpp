#include "adapters/sqlite/document_rows.hpp"

#include "adapters/records/records.hpp"
#include "adapters/sqlite/record_writer.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::sqlite {
namespace {

Result<Document> DocumentOf(const Statement& row) {
  return records::DecodeDocument(row.ColumnBytes(0));
}

// Of a row of the list: the hashes of its files may be a megabyte.
Result<DocumentHead> ListedHeadOf(const Statement& row) {
  auto head = records::DecodeDocumentHead(row.ColumnBytes(0));
  if (head) head->files = {};
  return head;
}

}  // namespace

Result<std::vector<DocumentHead>> ReadDocumentHeads(Database& database) {
  // Two ranges of the index, so that a million triggers between them are not even looked at.
  return ReadAll<DocumentHead>(
      database,
      "SELECT record, dropped FROM (SELECT * FROM document_head WHERE kind < ?1"
      " UNION ALL SELECT * FROM document_head WHERE kind > ?1) ORDER BY kind, name",
      [](const Statement& row) -> Result<DocumentHead> {
        auto head = records::DecodeDocumentHead(row.ColumnBytes(0));
        if (head) head->dropped = row.ColumnInt(1) != 0;
        return head;
      },
      [](Statement& read) { read.Text(kTriggerKind); });
}

Result<std::optional<Document>> ReadDocument(Database& database, std::string_view kind,
                                             std::string_view name, std::uint32_t version) {
  if (version > 0)
    return ReadOne<Document>(
        database, "SELECT record FROM document WHERE kind = ? AND name = ? AND version = ?",
        [&](Statement& statement) { statement.Text(kind).Text(name).Int(version); }, DocumentOf);
  return ReadOne<Document>(
      database,
      "SELECT d.record FROM document_head h JOIN document d ON d.kind = h.kind"
      " AND d.name = h.name AND d.version = h.version"
      " WHERE h.kind = ? AND h.name = ? AND h.dropped = 0",
      [&](Statement& statement) { statement.Text(kind).Text(name); }, DocumentOf);
}

Result<std::vector<DocumentHead>> ListDocumentHeads(Database& database, std::string_view kind,
                                                    std::string_view after, std::size_t limit) {
  auto heads = ReadAll<DocumentHead>(
      database,
      "SELECT record FROM document_head WHERE kind = ? AND name > ? AND dropped = 0"
      " ORDER BY name LIMIT ?",
      ListedHeadOf,
      [&](Statement& statement) { statement.Text(kind).Text(after).Int(LimitOf(limit)); });
  if (!heads) return heads;
  const auto read = [&](const DocumentHead& head) {
    return ReadDocument(database, head.kind, head.name, head.version);
  };
  if (auto filled = records::FillOldHeads(*heads, read); !filled) return Fail(filled.error());
  return heads;
}

Result<> RecordWriter::Put(const PutDocument& put, Seen&) {
  const Document& document = *put.document;
  const auto record = records::EncodeDocument(document);
  if (!record) return Fail(record.error());
  put_document_->Text(document.kind).Text(document.name).Int(document.version);
  if (auto written = put_document_->Blob(*record).Run(); !written) return written;
  const std::string head = records::EncodeDocumentHead(HeadOf(document));
  put_document_head_->Text(document.kind).Text(document.name).Int(document.version);
  return put_document_head_->Blob(head).Run();
}

Result<> RecordWriter::Put(const DropDocument& drop, Seen&) {
  return drop_document_->Text(drop.kind).Text(drop.name).Run();
}

}  // namespace muster::sqlite
