#include "adapters/postgres/schema.hpp"

namespace muster::postgres {
namespace {

// Strings are bytes and ids, times and numbers bigint. Rows that are written again keep room in
// their page, and no index names what changes often: then the new version goes beside the old one
// and no index hears of it. That is why attempts with an open log have a table of their own instead
// of an index with a condition.
constexpr const char* kCreateTables = R"(
  CREATE TABLE fence (id bigint PRIMARY KEY CHECK (id = 1), term bigint NOT NULL,
                      number bigint NOT NULL) WITH (fillfactor = 10);
  INSERT INTO fence VALUES (1, 0, 0);
  CREATE TABLE meta (name bytea PRIMARY KEY, number bigint NOT NULL, bytes bytea NOT NULL)
    WITH (fillfactor = 50);
  INSERT INTO meta VALUES
    ('id_space', 0, ''), ('next_run', 1, ''), ('next_host', 1, ''), ('next_audit', 1, ''),
    ('audit_hash', 0, ''),
    ('cluster', 0, convert_to(replace(gen_random_uuid()::text, '-', ''), 'UTF8'));
  CREATE TABLE host (id bigint PRIMARY KEY, record bytea NOT NULL) WITH (fillfactor = 70);
  CREATE TABLE invite (id bytea PRIMARY KEY, uses_left bigint NOT NULL, record bytea NOT NULL);
  CREATE INDEX invite_open ON invite (id) WHERE uses_left > 0;
  CREATE INDEX invite_used ON invite (id) WHERE uses_left = 0;
  CREATE TABLE token (name bytea PRIMARY KEY, hash bytea NOT NULL, role bigint NOT NULL,
                      created_by bytea NOT NULL, created bigint NOT NULL, expires bigint NOT NULL,
                      revoked_by bytea NOT NULL, revoked bigint NOT NULL);
  CREATE TABLE pending_join (name bytea PRIMARY KEY, record bytea NOT NULL);
  CREATE TABLE run (id bigint PRIMARY KEY, state bigint NOT NULL, by bytea NOT NULL,
                    created bigint NOT NULL, record bytea NOT NULL) WITH (fillfactor = 70);
  CREATE INDEX run_state ON run (state, id);
  CREATE INDEX run_by ON run (by, id);
  CREATE INDEX run_created ON run (created, id);
  CREATE TABLE plan (run bigint PRIMARY KEY, record bytea NOT NULL);
  CREATE TABLE targets (run bigint PRIMARY KEY, record bytea NOT NULL);
  CREATE TABLE visit (run bigint NOT NULL, visit bigint NOT NULL, record bytea NOT NULL,
                      PRIMARY KEY (run, visit)) WITH (fillfactor = 70);
  CREATE TABLE node (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, store bytea NOT NULL,
                     boot bytea NOT NULL, UNIQUE (store, boot));
  CREATE TABLE task (
    run bigint NOT NULL CHECK (run <> 0), visit bigint NOT NULL, ordinal bigint NOT NULL,
    attempt bigint NOT NULL, host bigint NOT NULL, state bigint NOT NULL, sent bigint NOT NULL,
    sent_commit bigint NOT NULL, sent_term bigint NOT NULL, ended bigint NOT NULL,
    ended_commit bigint NOT NULL, ended_term bigint NOT NULL, node bigint NOT NULL,
    log_state bigint NOT NULL, log_bytes bigint NOT NULL, rest bytea,
    PRIMARY KEY (run, visit, ordinal, attempt)) WITH (fillfactor = 50);
  CREATE INDEX task_host ON task (host, run);
  CREATE TABLE open_log (run bigint NOT NULL, visit bigint NOT NULL, ordinal bigint NOT NULL,
                         attempt bigint NOT NULL, PRIMARY KEY (run, visit, ordinal, attempt));
  CREATE TABLE idempotency_key (
    caller bytea NOT NULL, key bytea NOT NULL, body_sha256 bytea NOT NULL, run bigint NOT NULL,
    created bigint NOT NULL, PRIMARY KEY (caller, key));
  CREATE INDEX idempotency_key_created ON idempotency_key (created);
  CREATE TABLE wish (run bigint NOT NULL, visit bigint NOT NULL, ordinal bigint NOT NULL,
                     host bigint NOT NULL, attempt bigint NOT NULL, record bytea NOT NULL,
                     PRIMARY KEY (run, visit, ordinal, host, attempt));
  CREATE TABLE hold (run bigint NOT NULL, visit bigint NOT NULL, ordinal bigint NOT NULL,
                     host bigint NOT NULL, attempt bigint NOT NULL, key bytea NOT NULL,
                     PRIMARY KEY (run, visit, ordinal, host, attempt, key));
  CREATE TABLE audit (number bigint PRIMARY KEY, at bigint NOT NULL, actor bytea NOT NULL,
                      address bytea NOT NULL, client bytea NOT NULL, act bytea NOT NULL,
                      object bytea NOT NULL, detail bytea NOT NULL, reason bytea NOT NULL,
                      run bigint NOT NULL, hosts bigint NOT NULL, names bytea NOT NULL,
                      command bytea NOT NULL, command_sha256 bytea NOT NULL,
                      previous bytea NOT NULL, hash bytea NOT NULL);
  CREATE INDEX audit_actor ON audit (actor, number);
  CREATE INDEX audit_act ON audit (act, number);
  CREATE INDEX audit_at ON audit (at, number);
  CREATE INDEX audit_run ON audit (run, act);
  CREATE TABLE audit_host (host bigint NOT NULL, number bigint NOT NULL,
                           PRIMARY KEY (host, number));
  CREATE INDEX audit_host_number ON audit_host (number);
  CREATE TABLE document (kind bytea NOT NULL, name bytea NOT NULL, version bigint NOT NULL,
                         record bytea NOT NULL, PRIMARY KEY (kind, name, version));
  CREATE TABLE document_head (kind bytea NOT NULL, name bytea NOT NULL, version bigint NOT NULL,
                              dropped bigint NOT NULL, record bytea NOT NULL,
                              PRIMARY KEY (kind, name));
  CREATE TABLE secret (name bytea PRIMARY KEY, record bytea NOT NULL);
  CREATE TABLE notice (run bigint NOT NULL, visit bigint NOT NULL, record bytea NOT NULL,
                       PRIMARY KEY (run, visit));
  CREATE TABLE freeze_row (id bigint PRIMARY KEY, record bytea NOT NULL);
  CREATE TABLE trigger_row (name bytea PRIMARY KEY, due bigint NOT NULL, dropped bigint NOT NULL,
                            record bytea NOT NULL) WITH (fillfactor = 70);
  CREATE INDEX trigger_due ON trigger_row (due, name) WHERE due > 0;
  CREATE TABLE slot (trigger_name bytea NOT NULL, first bigint NOT NULL, act bigint NOT NULL,
                     last bigint NOT NULL, fate bigint NOT NULL, made bigint NOT NULL,
                     record bytea NOT NULL, PRIMARY KEY (trigger_name, first, act))
    WITH (fillfactor = 80);
  CREATE INDEX slot_made ON slot (made);
)";

// What a batch does first, and the one drop that is several.
constexpr const char* kFunctions = R"(
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

  CREATE FUNCTION muster_drop_run(which bigint, most bigint) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE
    dropped bigint;
  BEGIN
    DELETE FROM task WHERE ctid = ANY (ARRAY (SELECT ctid FROM task WHERE run = which LIMIT most));
    GET DIAGNOSTICS dropped = ROW_COUNT;
    IF dropped >= most THEN RETURN; END IF;
    DELETE FROM open_log WHERE run = which;
    DELETE FROM wish WHERE run = which;
    DELETE FROM hold WHERE run = which;
    DELETE FROM visit WHERE run = which;
    DELETE FROM plan WHERE run = which;
    DELETE FROM targets WHERE run = which;
    DELETE FROM run WHERE id = which;
  END $$;
)";

// Which hosts had a name before: their removals, by the name. `object` is "host NAME".
constexpr const char* kRemovedHosts =
    "CREATE INDEX audit_removed ON audit (object, number) WHERE act = 'host.remove'";

constexpr SchemaStep kSteps[] = {{kCreateTables}, {kFunctions}, {kRemovedHosts}};

}  // namespace

std::span<const SchemaStep> RecordSteps() { return kSteps; }

}  // namespace muster::postgres
