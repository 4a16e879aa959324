#include "adapters/sqlite/secret_rows.hpp"

#include "adapters/records/records.hpp"
#include "adapters/sqlite/record_writer.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::sqlite {
namespace {

Result<Secret> SecretOf(const Statement& row) { return records::DecodeSecret(row.ColumnBytes(0)); }

}  // namespace

Result<std::optional<Secret>> ReadSecret(Database& database, std::string_view name) {
  return ReadOne<Secret>(
      database, "SELECT record FROM secret WHERE name = ?",
      [&](Statement& read) { read.Text(name); }, SecretOf);
}

Result<std::vector<Secret>> ReadSecrets(Database& database) {
  return ReadAll<Secret>(database, "SELECT record FROM secret ORDER BY name", SecretOf);
}

Result<std::vector<OpenNotice>> ReadNotices(Database& database) {
  return ReadAll<OpenNotice>(
      database, "SELECT record FROM notice ORDER BY run, visit",
      [](const Statement& row) { return records::DecodeNotice(row.ColumnBytes(0)); });
}

Result<> RecordWriter::Put(const PutSecret& put, Seen&) {
  const std::string record = records::EncodeSecret(put.secret);
  return put_secret_->Text(put.secret.name).Blob(record).Run();
}

Result<> RecordWriter::Put(const DropSecret& drop, Seen&) {
  return drop_secret_->Text(drop.name).Run();
}

Result<> RecordWriter::Put(const PutNotice& put, Seen&) {
  const std::string record = records::EncodeNotice(put.notice);
  return put_notice_->Id(put.notice.run.value).Int(put.notice.visit.value).Blob(record).Run();
}

Result<> RecordWriter::Put(const DropNotice& drop, Seen&) {
  return drop_notice_->Id(drop.run.value).Int(drop.visit.value).Run();
}

}  // namespace muster::sqlite
