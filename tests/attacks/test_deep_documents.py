#!/usr/bin/env python3
"""An operator applies documents that lead to each other without end: groups of groups, jobs that start jobs.

The attacker holds an operator's token. A chain of documents must not be followed deeper than the server's stack, in one apply or in
a look at what is kept. Jobs that many jobs start must not be looked at once for each way to them. The server lives, answers others
meanwhile, and starts again with such documents.
"""

import hashlib
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

LEVELS = 9000
KEPT_LEVELS = 400
GROUPS_AT_A_TIME = 16
JOBS_AT_A_TIME = 8
PATIENCE = 20


def group(name, targets=None):
    return f"apiVersion: muster/v1\nkind: group\nname: {name}\n" + (f"targets: '@{targets}'\n" if targets else "hosts: [h1]\n")


def job(name, *starts):
    stages = [f"{{name: s{i}, job: {other}}}" for i, other in enumerate(starts)] or ["{name: w, wait: 1000h}"]
    return f"apiVersion: muster/v1\nkind: job\nname: {name}\ntargets: h1\nstages: [{', '.join(stages)}]\n"


def trigger(name, of):
    return f"apiVersion: muster/v1\nkind: trigger\nname: {name}\nevery: 1s\njob: {of}\n"


class DeepDocuments(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster("h1", settings={"retention": "{files: 3s}"})
        self.mallory = self.token("operator")

    def token(self, role):
        return self.cluster.muster("tokens", "create", f"{role}-{time.monotonic_ns()}", "--role", role).text.strip()

    def apply(self, documents):
        files = [{"file": f"f{i}.yaml", "text": "---\n".join(documents[i:i + 4000])} for i in range(0, len(documents), 4000)]
        return self.cluster.http("POST", "/api/v1/documents", {"documents": files}, token=self.mallory, timeout=60)

    def assertLives(self):
        self.assertTrue(self.cluster.server.running())
        self.assertEqual(self.cluster.http("GET", "/api/v1/whoami", timeout=PATIENCE).status, 200)

    def assertRefused(self, answer, words):
        self.assertIn(answer.status, (400, 409, 422), answer)
        self.assertIn(words, answer.body.decode())
        self.assertLess(len(answer.body), 20_000)
        self.assertLives()

    def assertSkipped(self, name, words):
        def slot():
            slots = self.cluster.get(f"/triggers/{name}/slots")["slots"]
            return [one for one in slots if one["result"] == "skipped" and words in one["detail"]]
        wait_until(f"a slot of {name} is skipped", slot)

    def test_groups(self):
        chain = [group(f"g{i}", f"g{i + 1}") for i in range(LEVELS)] + [group(f"g{LEVELS}")]
        self.assertRefused(self.apply(chain), "@g0 -> @g1")
        # From the top down, a few levels at a time: no document that is applied has many levels below it.
        for first in range(0, KEPT_LEVELS, GROUPS_AT_A_TIME):
            last = first + GROUPS_AT_A_TIME
            self.assertEqual(self.apply([group(f"g{i}", f"g{i + 1}") for i in range(first, last)] + [group(f"g{last}")]).status, 200)
        viewer = self.token("viewer")
        resolved = self.cluster.http("POST", "/api/v1/hosts/resolve", {"targets": "@g0"}, token=viewer, timeout=60)
        self.assertRefused(resolved, "@g0 -> @g1")
        near = self.cluster.http("POST", "/api/v1/hosts/resolve", {"targets": f"@g{KEPT_LEVELS - 3}"}, token=viewer)
        self.assertEqual(near.json()["count"], 1, near)
        on_group = job("deep-group").replace("targets: h1", "targets: '@g0'")
        self.assertEqual(self.apply([on_group, trigger("deep-group", "deep-group")]).status, 200)
        self.assertSkipped("deep-group", "@g0 -> @g1")
        self.cluster.restart_server()
        self.assertLives()

    def test_jobs(self):
        chain = [job(f"j{i}", f"j{i + 1}") for i in range(LEVELS)] + [job(f"j{LEVELS}")]
        began = time.monotonic()
        self.assertRefused(self.apply(chain), "j0 -> j1")
        self.assertLess(time.monotonic() - began, PATIENCE)
        for first in range(0, KEPT_LEVELS, JOBS_AT_A_TIME):
            last = first + JOBS_AT_A_TIME
            self.assertEqual(self.apply([job(f"j{i}", f"j{i + 1}") for i in range(first, last)] + [job(f"j{last}")]).status, 200)
        start = self.cluster.http("POST", "/api/v1/jobs/j0/start", {}, token=self.mallory, timeout=60)
        self.assertRefused(start, "j0 -> j1")
        self.assertEqual(self.apply([trigger("deep-job", "j0")]).status, 200)
        self.assertSkipped("deep-job", "j0 -> j1")
        self.cluster.restart_server()
        self.assertLives()

    def test_diamond(self):
        # On each level 30 jobs, each of which starts all 30 of the next.
        levels, width = 8, 30
        names = [[f"d{level}-{i}" for i in range(width)] for level in range(levels)] + [[]]
        jobs = [job(name, *names[level + 1]) for level in range(levels) for name in names[level]]
        self.assertEqual(self.apply(jobs).status, 200)
        begin = job("begin", *names[0]).replace("[{", "[{name: w, wait: 1000h}, {", 1)
        self.assertEqual(self.apply([begin]).status, 200)
        started = self.cluster.http("POST", "/api/v1/jobs/begin/start", {}, token=self.mallory, timeout=60)
        self.assertEqual(started.status, 201, started)
        data = b"a file that no job names"
        path = f"/api/v1/artifacts/{hashlib.sha256(data).hexdigest()}"
        self.assertIn(self.cluster.http("PUT", path, data, token=self.mallory).status, (200, 201, 204))
        # Whether the file may go is for the thread that decides to say; others' calls need it too.
        worst, end = 0, time.monotonic() + 120
        while "retention: dropped" not in self.cluster.server.log.read_text(errors="replace"):
            self.assertLess(time.monotonic(), end)
            began = time.monotonic()
            self.assertEqual(self.cluster.http("GET", "/api/v1/agents/pending", timeout=60).status, 200)
            worst = max(worst, time.monotonic() - began)
            time.sleep(0.1)
        self.assertLess(worst, PATIENCE)
        self.assertLives()


if __name__ == "__main__":
    unittest.main()
