"""Documents, and starts of jobs."""

from contract_drivers import drives
from contract_drivers.world import HEAD


@drives("applyDocuments", "listDocuments", "showDocument", "deleteDocument")
def documents(world):
    name = world.name("doc")
    text = HEAD.format(kind="job", name=name) + "description: contract\ntargets: h1\nstages:\n" \
        "  - name: say\n    script: {file: a.sh}\n  - name: put\n    push: {from: b.txt, to: /tmp/}\n"
    file = {"file": "a.yaml", "text": text, "attachments": {"a.sh": "true\n"}}
    digest = world.sha256(b"hello")
    world.call("writeArtifact", (200, 201), b"hello", headers={"Content-Type": "application/octet-stream"}, sha256=digest)
    file["pushes"] = {"b.txt": [{"sha256": digest, "size": 5, "mode": "0644"}]}
    world.call("applyDocuments", 200, {"documents": [file], "dry_run": True})
    world.call("applyDocuments", 200, {"documents": [file], "reason": "contract"})
    world.call("applyDocuments", 200, {"documents": [file]})
    world.call("applyDocuments", 422, {"documents": [{"file": "b.yaml", "text": text.replace("say", "say: {")}]},
               code="invalid_documents")
    world.call("applyDocuments", 400, {"documents": []})
    world.call("applyDocuments", 403, {"documents": [{"file": "h.yaml", "text": HEAD.format(kind="host", name="other")}]},
               bearer=world.token("operator"))
    world.call("applyDocuments", 413, {"documents": [{"file": "big.yaml", "text": "#" * (5 << 20)}]})
    for kind in ("job", "host", "group", "channel", "trigger"):
        world.call("listDocuments", 200, query={"kind": kind, "limit": 1})
    world.call("listDocuments", 400, query={"kind": "mood"})
    world.call("showDocument", 200, query={"version": 1}, kind="job", name=name)
    world.call("showDocument", 404, query={"version": 99}, kind="job", name=name)
    world.call("showDocument", 400, kind="mood", name=name)
    world.call("deleteDocument", 400, kind="mood", name=name)
    parent = world.job(f"stages: [{{name: a, job: {name}}}]\n")
    world.call("deleteDocument", 409, kind="job", name=name)
    world.call("deleteDocument", 200, query={"reason": "contract"}, kind="job", name=parent)


@drives("listJobs")
def list_jobs(world):
    name = world.job("description: contract\nstages:\n  - {name: say, script: 'true'}\n")
    world.cluster.wait_end(world.call("startJob", 201, {}, name=name).json()["id"])
    world.call("listJobs", 200, query={"name": name}, bearer=world.viewer)
    world.call("listJobs", 200, query={"limit": 1})
    world.call("listJobs", 400, query={"limit": 0})


@drives("listChannels", "testChannel")
def channels(world):
    name = world.apply(world.name("channel"), "type: webhook\nurl: http://127.0.0.1:9/\n", kind="channel")
    world.call("testChannel", 200, {"reason": "contract"}, name=name)
    world.call("testChannel", 400, {"mood": "good"}, name=name)
    world.call("listChannels", 200, bearer=world.viewer)
    world.call("listChannels", 200, query={"limit": 1})
    world.call("listChannels", 400, query={"limit": 0})


@drives("startJob")
def start_job(world):
    job = world.job("params: {version: {default: '1'}}\nmax_hosts: 1\n"
                    "stages:\n  - {name: say, script: 'echo $MUSTER_HOST'}\n")
    key = {"Idempotency-Key": world.name("key")}
    request = {"params": {"version": "2"}, "reason": "contract"}
    run = world.call("startJob", 201, request, headers=key, name=job).json()["id"]
    world.call("startJob", 422, {"params": {"version": "3"}}, headers=key, name=job, code="key_reused")
    world.cluster.wait_end(run)
    world.call("getRun", 200, id=run)
    world.call("startJob", 200, {**request, "dry_run": True, "exclude": "h2", "targets": "h*", "during_freeze": True,
                                 "include_maintenance": True}, name=job)
    world.call("startJob", 422, {"targets": "h1,h2"}, name=job, code="too_many_hosts")
    world.call("startJob", 409, {"targets": f"h1,{world.never_joined}", "require_all": True}, name=job, code="left_out")
    world.call("startJob", 404, {"targets": "nobody"}, name=job, code="no_match")
    world.call("startJob", 400, {"params": {"no_such": "1"}}, name=job)


@drives("rerunRun")
def rerun_run(world):
    job = world.job("params: {version: {default: '1'}}\nmax_hosts: 1\nstages:\n  - {name: say, script: 'true'}\n")
    run = world.call("startJob", 201, {"params": {"version": "2"}}, name=job).json()["id"]
    world.cluster.wait_end(run)
    key = {"Idempotency-Key": world.name("key")}
    again = world.call("rerunRun", 201, {"reason": "contract"}, headers=key, id=run).json()["id"]
    world.cluster.wait_end(again)
    world.call("rerunRun", 422, {"params": {"version": "3"}}, headers=key, id=run, code="key_reused")
    world.call("rerunRun", 200, {"dry_run": True, "version": "latest", "params": {"version": "3"}}, id=run)
    world.call("rerunRun", 422, {"targets": "h1,h2"}, id=run, code="too_many_hosts")
    world.call("rerunRun", 400, {"mood": "good"}, id=run)
    world.call("rerunRun", 403, {}, bearer=world.viewer, id=run)
    world.call("rerunRun", 404, {}, id="r999999999")
