"""Runs that are changed under way, and frozen."""

from contract_drivers import drives


@drives("stopRun")
def stop_run(world):
    run = world.held()
    world.call("stopRun", 202, {"grace_ms": 0, "reason": "contract"}, id=run)
    world.call("stopRun", 409, id=world.ended)
    both = world.cluster.start_run("-t", "h1,h2", "--", "sleep 60")
    world.call("stopRun", 202, {"host": "h1", "grace_ms": 0}, id=both)
    world.call("stopRun", 404, {"host": "nobody"}, id=both)
    world.call("stopRun", 202, {"grace_ms": 0}, id=both)


@drives("pauseRun", "resumeRun")
def pause_run(world):
    run = world.held()
    world.call("pauseRun", 202, {"reason": "contract"}, id=run)
    world.call("getRun", 200, id=run)
    world.call("getRunSummary", 200, id=run)
    world.call("resumeRun", 202, id=run)
    world.call("pauseRun", 202, id=run)
    for name in ("pauseRun", "resumeRun"):
        world.call(name, 409, id=world.ended)


@drives("retryRun")
def retry_run(world):
    run = world.start(world.job("stages:\n  - {name: work, script: 'exit 3'}\n"))
    world.cluster.wait_end(run)
    world.call("retryRun", 200, {"dry_run": True}, id=run)
    world.call("retryRun", 202, {"version": "latest", "all_hosts": True, "from_start": True, "reason": "contract"}, id=run)
    world.cluster.wait_end(run)
    world.call("retryRun", 202, {"from": "work"}, id=run)
    world.call("retryRun", 409, id=world.held())
    world.call("retryRun", 404, {"from": "nowhere"}, id=world.ended)
    world.call("getRun", 200, id=run)
    world.call("listVisits", 200, id=run)


@drives("skipStage")
def skip_stage(world):
    run = world.held()
    world.call("skipStage", 202, {"stage": "work", "reason": "contract"}, id=run)
    world.call("getRun", 200, id=run)
    world.call("skipStage", 409, {"stage": "command"}, id=world.ended)
    world.call("skipStage", 404, {"stage": "nowhere"}, id=run)


@drives("setRun")
def set_run(world):
    run = world.held()
    world.call("setRun", 202, {"stage": "work", "concurrency": 5, "max_failures": "10%", "max_unreachable": "1"}, id=run)
    world.call("getRun", 200, id=run)
    world.call("setRun", 409, {"concurrency": 1}, id=world.ended)


@drives("approveRun")
def approve_run(world):
    run = world.held()
    visits = world.call("listVisits", 200, id=run).json()["visits"]
    world.call("approveRun", 409, {"approval": "1-1-000000000000"}, id=run)
    world.call("approveRun", 202, {"stage": "ask", "approval": visits[0]["approval"], "comment": "contract"}, id=run)
    world.call("listVisits", 200, id=run)
    world.call("approveRun", 409, id=world.ended)
    run = world.held("{message: 'Go on?', not: starter}")
    world.call("listVisits", 200, id=run)
    world.call("approveRun", 403, id=run)


@drives("rejectRun")
def reject_run(world):
    run = world.held()
    world.call("rejectRun", 202, {"stage": "ask", "comment": "contract"}, id=run)
    world.call("listVisits", 200, id=run)
    world.call("rejectRun", 409, {"comment": "contract"}, id=world.ended)


@drives("freeze", "listFreezes", "thaw", "thawAll")
def freeze(world):
    reason = {"reason": "contract"}
    made = world.call("freeze", 201, {"scope": "all", "targets": "h1", "for_seconds": 600, **reason})
    made = made.json()["freezes"][0]["id"]
    world.call("listFreezes", 200)
    world.call("getStatus", 200)
    world.call("startRun", (409, 503), {"targets": "h1", "command": {"argv": ["true"]}}, code="frozen")
    world.call("startRun", 201, {"targets": "h1", "command": {"argv": ["true"]}, "during_freeze": True})
    world.call("thaw", 200, reason, freeze=made)
    world.call("thaw", 404, reason, freeze=made)
    world.call("freeze", 404, {"targets": "nobody", **reason})
    world.call("freeze", 400, {"scope": "mood", **reason})
    world.call("freeze", 201, {"scope": "events", **reason})
    world.call("thawAll", 200, reason)
    world.call("thawAll", 200)
