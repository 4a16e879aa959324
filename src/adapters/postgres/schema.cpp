#include "adapters/postgres/schema.hpp"

#include "adapters/records/sql.hpp"

namespace muster::postgres {
namespace {

// Rows that fresh tables have.
constexpr const char* kFirstRows = R"(
  INSERT INTO fence VALUES (1, 0, 0);
  INSERT INTO meta VALUES
    ('id_space', 0, ''), ('next_run', 1, ''), ('next_host', 1, ''), ('next_audit', 1, ''),
    ('audit_hash', 0, ''),
    ('cluster', 0, convert_to(replace(gen_random_uuid()::text, '-', ''), 'UTF8'));
)";

// What a batch does first.
constexpr const char* kMoveFence = R"(
  CREATE FUNCTION muster_move_fence(want_term bigint, want_number bigint) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE
    at_term bigint;
    at_number bigint;
  BEGIN
    UPDATE fence SET number = want_number WHERE term = want_term AND number = want_number - 1;
    IF FOUND THEN RETURN; END IF;
    SELECT term, number INTO at_term, at_number FROM fence;
    IF at_term IS DISTINCT FROM want_term THEN
      RAISE EXCEPTION 'term % holds the store, not %', at_term, want_term USING ERRCODE = 'MU001';
    ELSIF at_number = want_number THEN
      RAISE EXCEPTION 'batch % is there already', want_number USING ERRCODE = 'MU002';
    END IF;
    RAISE EXCEPTION 'the store is at batch %', at_number USING ERRCODE = 'MU003';
  END $$;
)";

// The SQL of each step; made once, as steps point into it.
const std::vector<std::string>& Texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> made;
    for (std::uint32_t version = 1; version <= records::kSchemaVersion; ++version)
      made.push_back(records::CreateTables(records::Dialect::kPostgres, version));
    made.front() += kFirstRows;
    made.front() += kMoveFence;
    return made;
  }();
  return texts;
}

}  // namespace

std::span<const SchemaStep> RecordSteps() {
  static const std::vector<SchemaStep> steps = [] {
    std::vector<SchemaStep> made;
    for (const auto& text : Texts()) made.push_back({text.c_str()});
    return made;
  }();
  return steps;
}

}  // namespace muster::postgres
