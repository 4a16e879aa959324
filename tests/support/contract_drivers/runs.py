"""Runs: started, read, searched, streamed."""

import json

from contract_drivers import drives


@drives("startRun")
def start_run(world):
    run = {"targets": "h1", "command": {"argv": ["true"]}}
    key = {"Idempotency-Key": world.name("key")}
    world.call("startRun", 201, run, headers=key)
    world.call("startRun", 422, {**run, "targets": "h2"}, headers=key, code="key_reused")
    everything = {"targets": "h*", "exclude": "h2", "command": {"script": "cat", "interpreter": "/bin/sh", "args": ["-"]},
                  "stdin_base64": "aGVsbG8K", "env": {"A": "b"}, "timeout_ms": 60000, "grace_ms": 1000, "max_output": 65536,
                  "leftovers": "kill", "concurrency": 1, "batches": "1,100%", "max_failures": "1", "max_unreachable": "50%",
                  "wait_offline_ms": 1000, "reason": "contract", "title": "everything", "ignore_missing": True}
    answer = world.call("startRun", 201, everything, headers={"traceparent": "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"})
    world.cluster.wait_end(answer.json()["id"])
    world.call("getRun", 200, id=answer.json()["id"])
    world.call("startRun", 200, everything, {"dry_run": "true"})
    world.call("startRun", 400, {**run, "no_such_field": 1})
    world.call("startRun", 400, run, {"dry_run": "yes"})
    world.call("startRun", 404, {**run, "targets": "nobody"}, code="no_match")
    world.call("startRun", 409, {**run, "targets": f"h1,{world.never_joined}", "require_all": True}, code="left_out")
    world.call("startRun", 413, {**run, "command": {"script": "#" * (1 << 20) + "\n"}}, code="too_large")
    world.call("startRun", 201, {"targets": "h1", "push": {"content": "hello", "to": "/tmp/", "name": world.name("pushed"),
                                                           "mode": "0600"}})
    pull = world.call("startRun", 201, {"targets": "h1", "pull": {"paths": ["/etc/hostname"]}}).json()["id"]
    world.call("getRun", 200, id=pull)


@drives("listRuns")
def list_runs(world):
    world.call("listRuns", 200, query={"state": "failed", "by": "@me", "host": "h1", "since": "2020-01-01T00:00:00Z",
                                       "until": "2099-01-01T00:00:00Z"}, bearer=world.viewer)
    world.cluster.start_run("-t", "h1", "--", "true")
    world.call("listRuns", 200, query={"prefix": "r1", "limit": 1})
    world.call("listRuns", 400, query={"prefix": "r1", "job": "x"}, code="invalid")
    cursor = world.call("listRuns", 200, query={"limit": 1}).json()["next"]
    world.call("listRuns", 200, query={"limit": 1, "cursor": cursor})
    world.call("listRuns", 400, query={"limit": 0}, code="invalid")


@drives("getRun", "getRunSummary", "listVisits")
def read_run(world):
    for name in ("getRun", "getRunSummary", "listVisits"):
        world.call(name, 200, id=world.ended)
        world.call(name, 400, id="nonsense")


@drives("getRunStates")
def get_run_states(world):
    answer = world.call("getRunStates", 200, id=world.ended)
    assert answer.body == bytes([5, 4]), answer
    world.call("getRunStates", 304, id=world.ended, headers={"If-None-Match": answer.headers["ETag"]})
    world.call("getRunStates", 200, query={"stage": "command"}, id=world.ended)
    world.call("getRunStates", 404, query={"stage": "nowhere"}, id=world.ended)


@drives("listTasks")
def list_tasks(world):
    world.call("listTasks", 200, query={"attempts": "all", "state": "failed", "host": "h1"}, id=world.ended)
    cursor = world.call("listTasks", 200, query={"limit": 1, "stage": "command"}, id=world.ended).json()["next"]
    world.call("listTasks", 200, query={"limit": 1, "stage": "command", "cursor": cursor}, id=world.ended)
    world.call("listTasks", 400, query={"state": "sleepy"}, id=world.ended)


@drives("listGroups")
def list_groups(world):
    for query in ({}, {"masked": "true"}, {"by": "output", "stage": "command"}):
        world.call("listGroups", 200, query=query, id=world.ended)
    world.call("listGroups", 400, query={"by": "mood"}, id=world.ended)


@drives("readLog")
def read_log(world):
    for query in ({}, {"stream": "stderr", "attempt": 1}, {"from": 2, "limit": 3}, {"tail": 4, "stage": "command"}):
        world.call("readLog", 200, query={"host": "h1", **query}, id=world.ended)
    pieces = world.call("readLog", 200, query={"host": "h1"}, headers={"Accept": "application/json"}, id=world.ended)
    assert pieces.json()["bytes"] == 11, pieces
    world.call("readLog", 400, query={"host": "h1", "stream": "third"}, id=world.ended)
    world.call("readLog", 404, query={"host": "nobody"}, id=world.ended)


@drives("searchLogs")
def search_logs(world):
    query = {"re": "HELL|oops", "ignore_case": "true", "context": 1, "host": "h1", "stage": "command", "limit": 10}
    lines = world.call("searchLogs", 200, query=query, id=world.ended).body.splitlines()
    found = [json.loads(line) for line in lines if line]
    assert [line["match"] for line in found[:-1]] == [True, True] and found[-1]["done"], found
    for line in found:
        world.client.fits_schema("searchLogs", "SearchEnd" if "done" in line else "FoundLine", line)
    world.call("searchLogs", 400, query={"re": "("}, id=world.ended)
    world.call("searchLogs", 400, query={"re": "a", "ignore_case": "1"}, id=world.ended)


@drives("streamOutputs")
def stream_outputs(world):
    for query in ({}, {"stage": "command", "stream": "stdout"}):
        lines = [json.loads(line) for line in
                 world.call("streamOutputs", 200, query=query, id=world.ended).body.splitlines() if line]
        assert lines[-1]["done"] and any(line.get("end") for line in lines), lines
        for line in lines:
            schema = "OutputsEnd" if "done" in line else "OutputEnd" if "end" in line else "OutputPiece"
            world.client.fits_schema("streamOutputs", schema, line)
    world.call("streamOutputs", 400, query={"stream": "third"}, id=world.ended)


@drives("traceRun")
def trace_run(world):
    world.call("traceRun", 200, id=world.ended)
    world.call("traceRun", 200, query={"tasks": 0}, id=world.ended)
    world.call("traceRun", 400, query={"tasks": -1}, id=world.ended)


@drives("whyRun")
def why_run(world):
    run = world.held()
    world.call("whyRun", 200, id=run)
    world.call("whyRun", 200, query={"host": "h1"}, id=run)
    world.call("whyRun", 400, id="nonsense")


@drives("stream")
def stream(world):
    """Prism gives an answer once it is whole, and this one is endless: the stream of a token that ends, ends too."""
    for seconds in (2, 10, 40):  # the first is enough, but on a machine that is very busy
        token = world.token("viewer", expires_ms=seconds * 1000)
        run = world.cluster.start_run("-t", "h1", "--", f"sleep {seconds / 4}; echo hello; exit 3")
        answer = world.call("stream", 200, query={"topics": f"run:{run},log:{run},run:r999999"}, bearer=token)
        if world.check_events("stream", answer.body.decode()) >= {"run", "task", "log", "reset"}:
            break
    else:
        raise AssertionError(f"no events of all kinds: {answer.body}")
    world.call("stream", 400, query={"topics": "nonsense"})
