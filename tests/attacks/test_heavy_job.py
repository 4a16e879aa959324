#!/usr/bin/env python3
"""An operator starts a job that takes the server long to think about.

The attacker holds an operator's token. Their job has very many stages with very many switches; what the server works out about
it, on the thread that decides for everybody, must not keep others from their work.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402

FLEET = 20
STAGES = 250
SWITCHES = 40
PATIENCE = 10  # seconds; each command takes less than one


def heavy():
    """Each stage can lead to forty branches, and each branch to forty others and back."""
    def switches(at):
        targets = ((at * 7 + i * 3) % STAGES for i in range(SWITCHES))
        return "{" + ", ".join(f"s{i}: b{target}" for i, target in enumerate(targets)) + ", back: m0}"

    lines = ["apiVersion: muster/v1", "kind: job", "name: heavy", "targets: h1", "stages:"]
    lines += [f"  - {{name: m{i}, script: 'sleep 1000', switch: {switches(i)}}}" for i in range(STAGES)]
    lines += ["branches:"]
    lines += [f"  - {{name: b{i}, approve: {{message: '?'}}, switch: {switches(i + 1)}}}" for i in range(STAGES)]
    return "\n".join(lines) + "\n"


def hub():
    """A job that starts 85 jobs of 1,000 stages each."""
    head = "apiVersion: muster/v1\nkind: job\nname: {}\ntargets: all\nstages:\n"
    waits = "".join(f"  - {{name: w{i}, wait: 1s}}\n" for i in range(999))
    for i in range(85):
        yield head.format(f"leaf{i}") + waits
    yield head.format("hub") + "".join(f"  - {{name: s{i}, job: leaf{i}}}\n" for i in range(85))
    # The request is refused, so each host is left before all the inner stages behind it.
    inner = "".join(f"      - {{name: i{i}, job: hub}}\n" for i in range(950))
    yield (head.format("drop") + "  - name: seq\n    stages:\n      - {name: i, http: {url: 'http://127.0.0.1:1/'}}\n" + inner)


class HeavyJob(ClusterTest):
    hosts = ("h1", "h2")

    def test_hosts_that_are_left_before_many_large_jobs(self):
        token = self.cluster.muster("tokens", "create", "mallet", "--role", "operator").text.strip()
        join = self.cluster.invite(uses=FLEET, replace=True)
        self.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", self.cluster.url, "--count", str(FLEET)],
                                {"MUSTER_JOIN": join})
        wait_until("the fleet is online", lambda: self.cluster.get("/status")["online"] == FLEET + len(self.hosts))
        for text in hub():
            body = {"documents": [{"file": "f.yaml", "text": text}]}
            self.assertEqual(self.cluster.http("POST", "/api/v1/documents", body, token=token, timeout=120).status, 200)
        started = self.cluster.http("POST", "/api/v1/jobs/drop/start", {}, token=token, timeout=60)
        self.assertEqual(started.status, 201, started.body[:500])
        self.cluster.wait_end(started.json()["id"], deadline=PATIENCE)
        self.assertCode(self.cluster.muster("run", "-t", "h2", "--", "true", deadline=PATIENCE), 0)

    def test_others_go_on(self):
        token = self.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        file = self.cluster.folder / "heavy.yaml"
        file.write_text(heavy())
        mallory = {"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""}
        self.assertCode(self.cluster.muster("apply", "-f", file, environment=mallory), 0)
        for _ in range(3):
            run = self.cluster.muster("start", "heavy", environment=mallory, deadline=PATIENCE)
            self.assertCode(run, 0)
            self.assertCode(self.cluster.muster("skip", run.text.strip(), "m200", environment=mallory, deadline=PATIENCE), 0)
            self.assertCode(self.cluster.muster("run", "-t", "h2", "--", "true", deadline=PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
