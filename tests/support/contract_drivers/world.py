"""What drivers find: a cluster of two servers with the hosts h1 and h2, calls, runs and documents."""

import functools
import hashlib
import json
import os
import subprocess

from muster_processes import wait_until

HEAD = "apiVersion: muster/v1\nkind: {kind}\nname: {name}\n"


class World:
    def __init__(self, client):
        self.client, self.cluster = client, client.cluster
        self.call = client.call
        self._names = 0

    def name(self, prefix):
        """One that was not used before."""
        self._names += 1
        return f"{prefix}{self._names}"

    def apply(self, name, text, kind="job"):
        answer = self.cluster.http("POST", "/api/v1/documents", {"documents": [
            {"file": f"{name}.yaml", "text": HEAD.format(kind=kind, name=name) + text}]})
        assert answer.status == 200, answer
        return name

    def job(self, text, prefix="job"):
        """The name of a new job on h1."""
        return self.apply(self.name(prefix), "targets: h1\n" + text)

    def start(self, job):
        answer = self.cluster.http("POST", f"/api/v1/jobs/{job}/start", {})
        assert answer.status == 201, answer
        return answer.json()["id"]

    @functools.cached_property
    def ended(self):
        """A run that failed on h1 and wrote to both streams."""
        run = self.cluster.start_run("-t", "h1,h2", "--", "echo hello; echo oops >&2; test $MUSTER_HOST = h2")
        self.cluster.wait_end(run)
        return run

    @functools.cached_property
    def never_joined(self):
        """Targets that mean a declared host that never joined."""
        self.apply(self.name("declared"), "labels: {declared: never_joined}\n", kind="host")
        return "declared=never_joined"

    def asking(self, approve="Go on?"):
        return self.job(f"stages:\n  - name: ask\n    approve: {approve}\n  - {{name: work, script: 'true'}}\n")

    def held(self, approve="Go on?"):
        """A run of a job whose first stage, `ask`, waits for an approval; `work` is the next."""
        run = self.start(self.asking(approve))
        wait_until("it waits", lambda: self.cluster.run_of(run)["stages"][0]["state"] == "awaiting_approval")
        return run

    @functools.cached_property
    def viewer(self):
        """The token of a viewer."""
        return self.token("viewer")

    def live(self, path):
        """Parts of a path that name something."""
        return {"/runs/{id}": {"id": self.ended}, "/triggers/{name}": {"name": self.trigger}, "/hosts/{name}": {"name": "h1"},
                "/jobs/{name}": {"name": self.idle}, "/servers/{server}": {"server": "s2"},
                "/invites/{invite}": {"invite": "0" * 12}, "/agents/pending": {"name": "h1"},
                "/tokens/{token}": {"token": "nobody"}, "/secrets/{name}": {"name": "unset"},
                "/freezes/{freeze}": {"freeze": "f1"}, "/channels/{name}": {"name": "nobody"}}.get("/".join(path.split("/")[:3]), {})

    @functools.cached_property
    def idle(self):
        """A job that does nothing."""
        return self.job("stages:\n  - {name: work, script: 'true'}\n")

    @functools.cached_property
    def trigger(self):
        """A trigger that is far away."""
        return self.apply(self.name("trigger"), f"cron: 0 0 1 1 *\njob: {self.idle}\n", kind="trigger")

    def token(self, role, **more):
        answer = self.cluster.http("POST", "/api/v1/tokens", {"name": self.name(role), "role": role, **more})
        assert answer.status == 201, answer
        return answer.json()["token"]

    def sha256(self, content):
        return hashlib.sha256(content).hexdigest()

    def request_pem(self, name, key=None):
        """A certificate request for a host, with a new key or the one of a file."""
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", os.devnull]
        return subprocess.run(["openssl", "req", "-new", *(["-key", key] if key else new), "-subj", f"/CN={name}"],
                              capture_output=True, text=True, check=True).stdout

    def invite(self, path="/api/v1/agents/invites", **body):
        answer = self.cluster.http("POST", path, body)
        assert answer.status == 201, answer
        return answer.json()["token"]

    def check_events(self, what, text):
        """Server-sent events, each by its name."""
        schemas = {"run": "RunEvent", "task": "TaskEvent", "log": "LogEvent", "reset": "RunNamed", "gap": "RunNamed"}
        names = set()
        for block in text.split("\n\n"):
            lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if lines:
                assert ("id" in lines) == (lines["event"] in ("run", "task")), lines
                self.client.fits_schema(f"{what}: {lines['event']}", schemas[lines["event"]], json.loads(lines["data"]))
                names.add(lines["event"])
        return names
