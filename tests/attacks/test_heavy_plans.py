#!/usr/bin/env python3
"""An operator, or the author of a merge request, writes little that becomes very much: one script or folder that very many stages use,
jobs that start such jobs, and approvals whose messages repeat large values.

What is not let in must not take the memory of the server (or of the command line in a build); what is let in must not make a run that
cannot be stopped, or records that the next leader cannot read.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from muster_processes import BIN, clean_environment  # noqa: E402
from process_cost import MIB, assert_cost, forget_most_memory, most_memory_of  # noqa: E402

SCRIPT = "#!/bin/sh\ntrue\n" + "#" * (MIB - 100) + "\n"
FILES = 15_000
GROWTH = 500 * MIB  # what each of these took before was more than 700
HEAD = "apiVersion: muster/v1\nkind: job\nname: {}\ntargets: h1\nstages:\n"


def scripts(name, count, wait=True):
    """A job of `count` stages that use one script."""
    lines = "- {name: w, wait: 1000h}\n" if wait else ""
    return HEAD.format(name) + lines + "".join(f"- {{name: s{i}, script: {{file: a.sh}}}}\n" for i in range(count))


class HeavyPlans(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mallory = cls.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        cls.vera = cls.cluster.muster("tokens", "create", "vera", "--role", "viewer").text.strip()

    def setUp(self):
        super().setUp()
        forget_most_memory(self.server())
        self.before = most_memory_of(self.server())

    def server(self):
        return self.cluster.server.process.pid

    def apply(self, text, dry_run=False, **more):
        body = {"documents": [{"file": "f.yaml", "text": text, **more}], "dry_run": dry_run}
        return self.cluster.http("POST", "/api/v1/documents", body, token=self.mallory, timeout=300)

    def start(self, job, params=None):
        return self.cluster.http("POST", f"/api/v1/jobs/{job}/start", {"params": params or {}}, token=self.mallory, timeout=300)

    def run_of_large(self):
        runs = self.cluster.http("GET", "/api/v1/runs", timeout=60).json()["runs"]
        return next((run["id"] for run in runs if run["job"] == "large"), None)

    def assertRefused(self, answer, *words):
        self.assertIn(answer.status, (400, 422), answer.body[:500])
        for word in words:
            self.assertIn(word, answer.body.decode())

    def assertMemoryHeld(self):
        self.assertTrue(self.cluster.server.running())
        assert_cost(self, most_memory_of(self.server()) - self.before, GROWTH)

    def assertLeadsAgain(self):
        """After a crash, with whatever was written."""
        self.cluster.server.end(signal.SIGKILL)
        self.cluster.start_server()

    def test_one_script_in_very_many_stages(self):
        for jobs in (1, 3):
            text = "---\n".join(scripts(f"j{i}", 1000, wait=False) for i in range(jobs))
            self.assertRefused(self.apply(text, dry_run=True, attachments={"a.sh": SCRIPT}), "16.0 MB", "counted for each stage")
        self.assertMemoryHeld()

    def test_one_folder_in_very_many_stages(self):
        sha = hashlib.sha256(b"x").hexdigest()
        self.assertIn(self.cluster.http("PUT", f"/api/v1/artifacts/{sha}", b"x", {"Content-Type": "application/octet-stream"},
                                        token=self.mallory).status, (200, 201, 204))
        files = [{"path": "", "folder": True, "mode": "0755"}]
        files += [{"path": f"f{i}", "sha256": sha, "size": 1, "mode": "0644"} for i in range(FILES)]
        text = HEAD.format("p") + "".join(f"- {{name: s{i}, push: {{from: a, to: /tmp/x}}}}\n" for i in range(300))
        for dry_run in (True, False):
            self.assertRefused(self.apply(text, dry_run, pushes={"a": files}), "16.0 MB", "archive")
        self.assertMemoryHeld()

    def test_very_many_sizes_of_batches(self):
        sizes = ",".join(["1%"] * 345_000)
        self.assertRefused(self.apply(HEAD.format("b") + f"- {{name: s, script: 'true', batches: '{sizes}'}}\n", dry_run=True),
                           "batches")
        self.assertMemoryHeld()

    def test_a_plan_of_jobs_with_very_many_choices(self):
        """What is read for a plan that is too large is bounded, and counts the parameters."""
        choices = ",".join(f"c{i:05}" for i in range(90_000))
        head = HEAD.removesuffix("stages:\n") + f"params: {{{{p: {{{{type: choice, choices: [{choices}]}}}}}}}}\nstages:\n"
        for i in range(60):
            answer = self.apply(head.format(f"choices{i}") + "- {name: s, wait: 1s}\n")
            self.assertEqual(answer.status, 200, answer.body[:500])
        stages = "".join(f"- {{name: s{i}, job: choices{i}}}\n" for i in range(60))
        answer = self.apply(HEAD.format("chooser") + "- {name: w, wait: 1000h}\n" + stages)
        self.assertEqual(answer.status, 200, answer.body[:500])
        forget_most_memory(self.server())
        before = most_memory_of(self.server())
        self.assertRefused(self.start("chooser"), "64.0 MB")
        assert_cost(self, most_memory_of(self.server()) - before, 250 * MIB)

    def test_a_plan_of_many_such_jobs(self):
        """Each of them is let in; a job that starts them all is larger than a plan may be."""
        for i in range(8):
            answer = self.apply(scripts(f"part{i}", 15), attachments={"a.sh": SCRIPT})
            self.assertEqual(answer.status, 200, answer.body[:500])
        whole = HEAD.format("whole") + "".join(f"- {{name: s{i}, needs: [], job: part{i}}}\n" for i in range(8))
        self.assertEqual(self.apply(whole).status, 200)
        self.assertRefused(self.start("whole"), "64.0 MB")
        # A plan of 30 MB runs, is read again, and can be stopped.
        large = HEAD.format("large") + "".join(f"- {{name: s{i}, needs: [], job: part{i}}}\n" for i in range(2))
        self.assertEqual(self.apply(large).status, 200)
        self.start("large")  # a slow disk may let it wait longer than for an answer
        run = wait_until("it is started", self.run_of_large)
        self.assertLeadsAgain()
        self.assertEqual(self.cluster.http("GET", f"/api/v1/runs/{run}", timeout=60).status, 200)
        self.assertCode(self.cluster.muster("stop", "--all", "--yes", deadline=120), 0)
        self.cluster.wait_end(run)

    def test_messages_of_approvals(self):
        """Each repeats parameters of a megabyte. No message is kept, and a page of visits has a bound of its own."""
        params = "".join(f"  p{i}: {{required: true}}\n" for i in range(8))
        message = "".join("${{ params.p%d }}" % i for i in range(8))
        stages = "".join(f"- {{name: a{i}, needs: [], approve: {{message: '{message}'}}}}\n" for i in range(250))
        text = HEAD.format("talk").replace("stages:", f"params:\n{params}stages:") + stages
        self.assertEqual(self.apply(text).status, 200)
        started = self.start("talk", {f"p{i}": "x" * 126_000 for i in range(8)})
        self.assertEqual(started.status, 201, started.body[:500])
        run = started.json()["id"]
        self.cluster.wait_end(run)
        visits = self.cluster.http("GET", f"/api/v1/runs/{run}/visits?limit=1000", token=self.vera, timeout=120)
        self.assertIn("its message has", visits.body.decode())
        self.assertLess(len(visits.body), 2 * MIB)
        self.assertMemoryHeld()
        self.assertRefused(self.apply(HEAD.format("long") + f"- {{name: a, approve: {{message: {'x' * 5000}}}}}\n"), "4.0 KB")

    def test_pages_of_visits(self):
        """Approvals with long messages come in pages that have a bound, and all of them come."""
        stages = "".join(f"- {{name: a{i}, needs: [], approve: {{message: '${{{{ params.p }}}}'}}}}\n" for i in range(400))
        text = HEAD.format("ask").replace("stages:", "params: {p: {required: true}}\nstages:") + stages
        self.assertEqual(self.apply(text).status, 200)
        started = self.start("ask", {"p": "x" * 4000})
        self.assertEqual(started.status, 201, started.body[:500])
        run, pages = started.json()["id"], []

        def asked():
            cursor, names = "0", set()
            pages.clear()
            while cursor is not None:
                page = self.cluster.http("GET", f"/api/v1/runs/{run}/visits?limit=1000&cursor={cursor}", token=self.vera, timeout=60)
                pages.append(len(page.body))
                names |= {visit["stage"] for visit in page.json()["visits"]}
                cursor = page.json()["next"]
            return len(names) == 400
        wait_until("all visits are listed", asked)
        self.assertLess(max(pages), 1.5 * MIB, "together they have more")
        self.cluster.http("POST", f"/api/v1/runs/{run}/stop", {"grace_ms": 0})
        self.cluster.wait_end(run)


class Build(unittest.TestCase):
    """`muster apply` of a merge request, before any server is asked."""

    def test_memory_of_the_command_line(self):
        for jobs, size in ((1, MIB), (3, MIB), (1, 3_900_000)):
            with self.subTest(jobs=jobs, size=size), tempfile.TemporaryDirectory() as place:
                Path(place, "a.sh").write_text("#!/bin/sh\n" + "#" * (size - 100) + "\n")
                Path(place, "j.yaml").write_text("---\n".join(scripts(f"j{i}", 1000, wait=False) for i in range(jobs)))
                command = [str(BIN / "muster"), "apply", "--dry-run", "-f", place]
                environment = {**clean_environment(), "MUSTER_SERVER": "http://127.0.0.1:1", "MUSTER_TOKEN": "x",
                               "XDG_CONFIG_HOME": "/nonexistent"}
                with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE) as child:
                    patience = threading.Timer(60, child.kill)  # it would wait for a server
                    patience.start()
                    words = child.stderr.read().decode()
                    _, status, used = os.wait4(child.pid, 0)
                    patience.cancel()
                    child.returncode = os.waitstatus_to_exitcode(status)
                assert_cost(self, used.ru_maxrss * 1024, GROWTH)
                self.assertEqual(child.returncode, 1, words)
                self.assertIn("push", words)


if __name__ == "__main__":
    unittest.main()
