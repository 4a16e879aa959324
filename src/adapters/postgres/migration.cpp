#include <optional>

#include "adapters/postgres/schema.hpp"

namespace muster::postgres {
namespace {

// A step may build an index over years of tasks.
constexpr std::chrono::hours kStepPatience{4};

// Held to the end of the transaction; the number is ours alone.
constexpr const char* kBegin =
    "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(7309453021)";

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

Result<> RunContracts(Connection& connection, std::span<const SchemaStep> steps, Version& version) {
  for (std::size_t i = version.needed; i < steps.size(); ++i) {
    if (*steps[i].contract == '\0') continue;
    if (auto run = connection.Execute(steps[i].contract, kStepPatience); !run) return run;
    version.needed = i + 1;
  }
  return {};
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

Result<> ContractLocked(Connection& connection, std::span<const SchemaStep> steps) {
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
  if (auto run = RunContracts(connection, steps, version); !run) return run;
  return Keep(connection, version);
}

template <typename Work>
Result<> Locked(Connection& connection, Work work) {
  auto done = connection.Execute(kBegin);
  if (done) done = work();
  if (done) done = connection.Execute("COMMIT");
  if (!done) connection.Rollback();
  return done;
}

}  // namespace

Result<> CheckKnown(Connection& connection, std::span<const SchemaStep> steps) {
  auto version = ReadVersion(connection);
  if (!version) return Fail(version.error());
  return Refuse(version->value_or(Version()), steps.size());
}

Result<> Expand(Connection& connection, std::span<const SchemaStep> steps) {
  auto version = ReadVersion(connection);
  if (!version) return Fail(version.error());
  if (*version && (*version)->expanded >= steps.size()) return Refuse(**version, steps.size());
  return Locked(connection, [&] { return ExpandLocked(connection, steps); });
}

Result<> Contract(Connection& connection, std::span<const SchemaStep> steps) {
  return Locked(connection, [&] { return ContractLocked(connection, steps); });
}

}  // namespace muster::postgres
