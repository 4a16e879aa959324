#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"
#include "domain/no_such_run.hpp"

// Runs and what belongs to them, the keys of calls, secrets and tokens.
namespace muster::records {
namespace {

Result<Token> TokenOf(const Row& row) {
  const std::int64_t role = row.Int(2);
  if (role < 0 || role > static_cast<std::int64_t>(Role::kAdmin))
    return Fail(ErrorCode::kInternal, "record: token '{}' has the unknown role {}", row.Text(0),
                role);
  return Token{.name = row.Text(0),
               .hash = row.Text(1),
               .role = static_cast<Role>(role),
               .created_by = row.Text(3),
               .created = {row.Int(4)},
               .expires = {row.Int(5)},
               .revoked_by = row.Text(6),
               .revoked = {row.Int(7)}};
}

}  // namespace

Result<ReadAt<std::optional<Run>>> FindRun(Queries& queries, RunId id) {
  return ReadOneAt<Run>(queries,
                        "SELECT f.number, r.record, p.record FROM fence f"
                        " LEFT JOIN run r ON r.id = ? LEFT JOIN plan p ON p.run = r.id",
                        Values().Id(id.value), [](const Row& row) { return RunWithPlan(row, 1); });
}

Result<std::shared_ptr<const Targets>> FindTargets(Queries& queries, RunId id) {
  auto found =
      ReadOne<Targets>(queries, "SELECT record FROM targets WHERE run = ?", Values().Id(id.value),
                       [](const Row& row) { return Decode<Targets>(row.Bytes(0)); });
  if (!found) return Fail(found.error());
  if (!*found) return Fail(NoSuchRun(id));
  return std::make_shared<const Targets>(std::move(**found));
}

Result<std::vector<StageVisit>> ListVisits(Queries& queries, RunId run, Visit after,
                                           std::size_t limit) {
  return ReadAll<StageVisit>(
      queries, "SELECT record FROM visit WHERE run = ? AND visit > ? ORDER BY visit LIMIT ?",
      Values().Id(run.value).Int(after.value).Int(LimitOf(limit)), RecordOf<StageVisit>);
}

Result<ReadAt<std::optional<IdempotencyKey>>> FindKey(Queries& queries, std::string_view caller,
                                                      std::string_view key) {
  return ReadOneAt<IdempotencyKey>(
      queries,
      "SELECT f.number, k.caller, k.key, k.body_sha256, k.run, k.created FROM fence f"
      " LEFT JOIN idempotency_key k ON k.caller = ? AND k.key = ?",
      Values().Word(caller).Word(key), [](const Row& row) -> Result<IdempotencyKey> {
        return IdempotencyKey{.caller = row.Text(1),
                              .key = row.Text(2),
                              .body_sha256 = row.Text(3),
                              .run = RunId(row.Id(4)),
                              .created = {row.Int(5)}};
      });
}

Result<ReadAt<std::optional<Secret>>> FindSecret(Queries& queries, std::string_view name) {
  return ReadOneAt<Secret>(
      queries, "SELECT f.number, s.record FROM fence f LEFT JOIN secret s ON s.name = ?",
      Values().Word(name), [](const Row& row) { return Decode<Secret>(row.Bytes(1)); });
}

Result<std::vector<Secret>> ListSecrets(Queries& queries) {
  return ReadAll<Secret>(queries, "SELECT record FROM secret ORDER BY name", {}, RecordOf<Secret>);
}

Result<std::vector<Token>> ListTokens(Queries& queries) {
  return ReadAll<Token>(queries,
                        "SELECT name, hash, role, created_by, created, expires, revoked_by, revoked"
                        " FROM token ORDER BY name",
                        {}, TokenOf);
}

}  // namespace muster::records
