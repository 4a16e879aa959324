"""Searching the output of a whole run on the server: lines found in every stage and host, bounds, and clients that
leave."""

import http.client
import json
import sys
import unittest
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

JOB = """apiVersion: muster/v1
kind: job
name: noisy
targets: all
stages:
  - name: talk
    script: |
      echo begin
      echo "Disk of $MUSTER_HOST is full"
      echo end
      test $MUSTER_HOST != h2 || echo 'disk: trouble' >&2
  - name: more
    script: 'echo nothing; printf "full again, without an end"'
"""


class Search(ClusterTest):
    hosts = ("h1", "h2", "h3")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        answer = cls.cluster.http("POST", "/api/v1/documents", {"documents": [{"file": "noisy.yaml", "text": JOB}]})
        assert answer.status == 200, answer
        cls.run_id = cls.cluster.http("POST", "/api/v1/jobs/noisy/start", {}).json()["id"]
        wait_until("every output is known", lambda: (ended := cls.cluster.run_of(cls.run_id))["ended"]
                   and ended["logs_open"] == 0)

    def grep(self, *words, code=0):
        return self.assertCode(self.cluster.muster("logs", self.run_id, "--grep", *words), code)

    def found(self, run, **query):
        """The objects of an answer, the last one apart."""
        answer = self.cluster.http("GET", f"/api/v1/runs/{run}/search?" + urllib.parse.urlencode(query))
        self.assertEqual(answer.status, 200, answer)
        lines = [json.loads(line) for line in answer.body.splitlines() if line]
        self.assertTrue(lines[-1]["done"])
        return lines[:-1], lines[-1]

    def test_every_stage_and_host_is_looked_through(self):
        self.assertEqual(self.grep("full").text.splitlines(),
                         [f"h{n} talk:2: Disk of h{n} is full" for n in (1, 2, 3)] +
                         [f"h{n} more:2: full again, without an end" for n in (1, 2, 3)])

    def test_one_host_or_stage(self):
        self.assertEqual(self.grep("^full", "--stage", "more", "--host", "h3").text,
                         "h3:2: full again, without an end\n")

    def test_case_and_context(self):
        self.assertEqual(sorted(self.grep("disk", "-i", "--host", "h2").text.splitlines()),
                         ["h2 talk:1: disk: trouble", "h2 talk:2: Disk of h2 is full"])
        self.assertEqual(self.grep("full", "-C", "1", "--host", "h1", "--stage", "talk").text.splitlines(),
                         ["h1-1- begin", "h1:2: Disk of h1 is full", "h1-3- end"])

    def test_no_match_and_wrong_expressions_have_their_codes(self):
        self.assertIn("no match", self.grep("absent", code=4).complaint)
        self.assertIn("regular expression", self.grep("(", code=2).complaint)
        self.assertCode(self.cluster.muster("logs", "r999", "--grep", "x"), 4)
        self.grep("x", "-f", code=2)

    def test_stops_at_the_limit(self):
        lines, done = self.found(self.run_id, re="full", limit=2)
        self.assertEqual((len(lines), done["matches"], done["more"]), (2, 2, True))
        self.assertIn("stopped after 2 matches", self.grep("full", "--limit", "2").complaint)

    def test_objects_fit_for_programs(self):
        lines = [json.loads(line) for line in self.grep("trouble", "-o", "jsonl").text.splitlines()]
        self.assertEqual(lines, [{"host": "h2", "stage": "talk", "pass": 1, "visit": 1, "attempt": 1, "repeated": False, "stream": "stderr", "line": 1,
                                  "match": True, "text": "disk: trouble"}])

    def test_clients_that_read_nothing_hold_up_nobody_and_may_leave(self):
        run = self.cluster.start_run("-t", "h1", "--max-output", "64MB", "--", "yes 'a line of some length' | head -c 40000000")
        wait_until("the output is whole", lambda: self.cluster.task_of(run, "h1")["log"]["state"] == "complete")
        idle = []
        for i in range(4):  # one of each caller
            viewer = self.cluster.muster("tokens", "create", f"idle{i}", "--role", "viewer").text.strip()
            link = http.client.HTTPConnection("127.0.0.1", self.cluster.port, timeout=30)
            link.request("GET", f"/api/v1/runs/{run}/search?re=line&limit=1000000",
                         headers={"Authorization": "Bearer " + viewer})
            idle.append((link, link.getresponse()))
            self.assertEqual(idle[-1][1].status, 200)
        # Their searches stand still, the server does not.
        self.assertEqual(self.cluster.http("GET", f"/api/v1/runs/{run}/search?re=x").status, 503)
        self.assertEqual(self.cluster.get(f"/runs/{run}/summary")["counts"], {"succeeded": 1})
        for link, response in idle:
            response.close()
            link.close()
        wait_until("a place is free", lambda: self.cluster.http("GET", f"/api/v1/runs/{self.run_id}/search?re=x").status
                   == 200)
        lines, done = self.found(run, re="^a line of some length$", limit=1000)
        self.assertEqual((len(lines), lines[-1]["line"], done["more"]), (1000, 1000, True))


if __name__ == "__main__":
    unittest.main()
