#include <algorithm>
#include <optional>

#include "adapters/postgres/schema.hpp"

namespace muster::postgres {
namespace {

// A step may build an index over years of tasks.
constexpr std::chrono::hours kStepPatience{4};

// Held to the end of the transaction; the number is ours alone.
constexpr const char* kBeginMigration =
    "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(7309453021)";

// A reader that will not end must not hold up everybody behind a lock that waits for it.
constexpr const char* kContractPatience = "SET LOCAL lock_timeout = '2s'";

// `expanded` steps were run; servers need at least `needed` of them.
constexpr const char* kMakeVersion = R"(
  CREATE TABLE IF NOT EXISTS schema_version (
    id bigint PRIMARY KEY CHECK (id = 1), expanded bigint NOT NULL, needed bigint NOT NULL);
  INSERT INTO schema_version VALUES (1, 0, 0) ON CONFLICT DO NOTHING)";

struct Version {
  std::size_t expanded = 0;
  std::size_t needed = 0;
};

// Nothing when there are no tables yet.
Result<std::optional<Version>> ReadVersion(Connection& connection) {
  auto there = connection.Ask("SELECT to_regclass('schema_version') IS NOT NULL");
  if (!there) return Fail(there.error());
  if (there->At(0).Int(0) == 0) return std::optional<Version>();
  auto rows = connection.Ask("SELECT expanded, needed FROM schema_version");
  if (!rows) return Fail(rows.error());
  if (rows->Count() == 0) return std::optional<Version>();
  return std::optional(Version{.expanded = rows->At(0).Id(0), .needed = rows->At(0).Id(1)});
}

Result<> Refuse(const Version& version, std::size_t known) {
  if (version.needed <= known) return {};
  return Fail(ErrorCode::kInvalid,
              "a newer musterd wrote it (it needs schema {}, this one knows {}); start that "
              "version or a later one",
              version.needed, known);
}

Result<> Keep(Connection& connection, const Version& version) {
  auto kept = connection.Ask("UPDATE schema_version SET expanded = ?, needed = ?",
                             Params().Id(version.expanded).Id(version.needed));
  if (!kept) return Fail(kept.error());
  return {};
}

// The numbers of steps that were expanded and not contracted; the first step is 1.
std::vector<std::uint64_t> Unfinished(std::span<const SchemaStep> steps, const Version& version) {
  std::vector<std::uint64_t> numbers;
  const std::size_t expanded = std::min(version.expanded, steps.size());
  for (std::size_t i = version.needed; i < expanded; ++i)
    if (*steps[i].contract != '\0') numbers.push_back(i + 1);
  return numbers;
}

Result<> RunContracts(Connection& connection, std::span<const SchemaStep> steps, Version& version) {
  for (const auto number : Unfinished(steps, version)) {
    if (auto run = connection.Execute(steps[number - 1].contract, kStepPatience); !run) return run;
    version.needed = number;
  }
  return {};
}

// Until the end of the transaction nobody else takes the store.
Result<> HoldTerm(Connection& connection, Term term) {
  auto rows = connection.Ask("SELECT term FROM fence FOR UPDATE");
  if (!rows) return Fail(rows.error());
  if (rows->Count() == 1 && rows->At(0).Id(0) == term.value) return {};
  return Fail(ErrorCode::kFenced, "another server leads by now; ask it");
}

Result<> ExpandLocked(Connection& connection, std::span<const SchemaStep> steps) {
  if (auto made = connection.Execute(kMakeVersion); !made) return made;
  auto found = ReadVersion(connection);
  if (!found) return Fail(found.error());
  Version version = found->value_or(Version());
  const bool fresh = version.expanded == 0;
  if (auto may = Refuse(version, steps.size()); !may) return may;
  for (; version.expanded < steps.size(); ++version.expanded)
    if (auto run = connection.Execute(steps[version.expanded].expand, kStepPatience); !run)
      return run;
  if (fresh)
    if (auto run = RunContracts(connection, steps, version); !run) return run;
  return Keep(connection, version);
}

Result<> ContractLocked(Connection& connection, std::span<const SchemaStep> steps, Term term,
                        std::vector<std::uint64_t>& finished) {
  if (auto limited = connection.Execute(kContractPatience); !limited) return limited;
  auto found = ReadVersion(connection);
  if (!found) return Fail(found.error());
  if (!*found)
    return Fail(ErrorCode::kUnavailable, "there are no tables yet; the first leader makes them");
  Version version = **found;
  if (auto may = Refuse(version, steps.size()); !may) return may;
  if (version.expanded > steps.size())
    return Fail(ErrorCode::kConflict,
                "a newer musterd expanded the tables to {}; finalize with that version",
                version.expanded);
  if (auto held = HoldTerm(connection, term); !held) return held;
  finished = Unfinished(steps, version);
  if (auto run = RunContracts(connection, steps, version); !run) return run;
  return Keep(connection, version);
}

// Whether a transaction whose end was not answered was carried out is not known.
Result<> CommitWork(Connection& connection) {
  auto done = connection.Execute("COMMIT");
  if (done || done.error().code != ErrorCode::kUnavailable) return done;
  return Fail(ErrorCode::kTimeout, "{}", done.error().message);
}

template <typename Work>
Result<> Locked(Connection& connection, Work work) {
  auto done = connection.Execute(kBeginMigration);
  if (done) done = work();
  if (done) done = CommitWork(connection);
  if (!done) connection.Rollback();
  return done;
}

}  // namespace

Result<> CheckKnown(Connection& connection, std::span<const SchemaStep> steps) {
  auto version = ReadVersion(connection);
  if (!version) return Fail(version.error());
  return Refuse(version->value_or(Version()), steps.size());
}

Result<> CheckSame(Connection& connection, std::span<const SchemaStep> steps) {
  auto version = ReadVersion(connection);
  if (!version) return Fail(version.error());
  if (!*version || (*version)->expanded == 0)
    return Fail(ErrorCode::kNotFound, "the database holds no records");
  if ((*version)->expanded == steps.size()) return {};
  return Fail(
      ErrorCode::kConflict,
      "the tables are of schema {}, this musterd knows {}: use the musterd that the servers "
      "run",
      (*version)->expanded, steps.size());
}

Result<> Expand(Connection& connection, std::span<const SchemaStep> steps) {
  auto version = ReadVersion(connection);
  if (!version) return Fail(version.error());
  if (*version && (*version)->expanded >= steps.size()) return Refuse(**version, steps.size());
  return Locked(connection, [&] { return ExpandLocked(connection, steps); });
}

Result<std::vector<std::uint64_t>> Contract(Connection& connection,
                                            std::span<const SchemaStep> steps, Term term) {
  std::vector<std::uint64_t> finished;
  const auto done =
      Locked(connection, [&] { return ContractLocked(connection, steps, term, finished); });
  if (!done) return Fail(done.error());
  return finished;
}

Result<SchemaState> ReadSchemaState(Connection& connection, std::span<const SchemaStep> steps) {
  const auto found = ReadVersion(connection);
  if (!found) return Fail(found.error());
  const Version version = found->value_or(Version());
  return SchemaState{.version = version.expanded,
                     .needed = version.needed,
                     .known = steps.size(),
                     .unfinished = Unfinished(steps, version)};
}

}  // namespace muster::postgres
