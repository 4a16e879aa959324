"""Starting runs as a program does, and hosts that are not there."""

import base64
import json
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from runs_test import RunsTest  # noqa: E402

ERROR_FIELDS = {"code", "message", "params", "details", "request_id"}


class Starting(RunsTest):
    """POST /runs as a program calls it."""

    def start(self, body, key=None):
        return self.cluster.http("POST", "/api/v1/runs", body, headers={"Idempotency-Key": key} if key else None)

    def assertError(self, answer, status, code):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(set(answer.json()), {"error"})
        error = answer.json()["error"]
        self.assertEqual(set(error), ERROR_FIELDS)
        self.assertEqual(error["code"], code)
        self.assertTrue(error["message"] and error["request_id"], error)
        return error

    def test_same_key_and_body_start_once(self):
        marks = self.cluster.folder / f"marks-{uuid.uuid4()}"
        body = {"targets": "web1", "command": {"script": f"echo x >> {marks}"}}
        key = str(uuid.uuid4())
        first = self.start(body, key)
        self.assertEqual(first.status, 201, first)
        self.assertEqual(set(first.json()), {"id", "state", "hosts", "commit"})
        self.cluster.wait_end(first.json()["id"])
        again = self.start(body, key)
        self.assertEqual((again.status, again.json()["id"]), (201, first.json()["id"]))
        other = self.start(body, str(uuid.uuid4()))
        self.assertNotEqual(other.json()["id"], first.json()["id"])
        self.cluster.wait_end(other.json()["id"])
        self.assertEqual(marks.read_text(), "x\nx\n")

    def test_another_body_under_the_key_is_422(self):
        key = str(uuid.uuid4())
        first = self.start({"targets": "web1", "command": {"argv": ["true"]}}, key)
        self.assertEqual(first.status, 201, first)
        self.assertError(self.start({"targets": "web2", "command": {"argv": ["true"]}}, key), 422, "key_reused")

    def test_started_says_where(self):
        answer = self.start({"targets": "web1", "command": {"argv": ["true"]}})
        self.assertEqual(answer.headers["Location"], f"/api/v1/runs/{answer.json()['id']}")

    def test_script_and_stdin_have_a_limit(self):
        body = {"targets": "web1", "command": {"script": "true #" + "x" * (1 << 20)}}
        self.assertError(self.start(body), 413, "too_large")
        half = 600 << 10
        body = {"targets": "web1", "command": {"script": "true #" + "x" * half},
                "stdin_base64": base64.b64encode(b"y" * half).decode()}
        self.assertError(self.start(body), 413, "too_large")
        body = {"targets": "web1", "command": {"script": "true #" + "x" * ((1 << 20) - 6)}}
        answer = self.start(body)
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(self.cluster.wait_end(answer.json()["id"])["state"], "succeeded")

    def test_wrong_requests_have_the_documented_form(self):
        command = {"argv": ["true"]}
        for body, status, code in (
                (b"{garbage", 400, "invalid"), (b"[1]", 400, "invalid"), (b"", 400, "invalid"), ({}, 400, "invalid"),
                ({"targets": "web1"}, 400, "invalid"), ({"targets": "", "command": command}, 400, "invalid"),
                ({"targets": "web1", "command": command, "surprise": 1}, 400, "invalid"),
                ({"targets": "web1", "command": {"argv": []}}, 400, "invalid"),
                ({"targets": "web1", "command": {"argv": ["true"], "script": "true"}}, 400, "invalid"),
                ({"targets": "web1", "command": command, "timeout_ms": -1}, 400, "invalid"),
                ({"targets": "web1", "command": command, "concurrency": "two"}, 400, "invalid"),
                ({"targets": "web1", "command": command, "batches": "1,,"}, 400, "invalid"),
                ({"targets": "web1", "command": command, "env": {"A=B": "x"}}, 400, "invalid"),
                ({"targets": "web1 and", "command": command}, 400, "invalid"),
                ({"targets": "web9", "command": command}, 404, "no_match"),
                ({"targets": "zone=none", "command": command}, 404, "no_match")):
            with self.subTest(body=body):
                self.assertError(self.start(body), status, code)

    def test_dry_run_says_what_would_be(self):
        before = self.run_ids()
        answer = self.cluster.http("POST", "/api/v1/runs?dry_run=true",
                                   {"targets": "all", "command": {"argv": ["true"]}, "batches": "1,50%"})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json(), {"hosts": 3, "names": "db1,web[1-2]", "never_joined": "", "never_joined_count": 0, "left_out": "",
                                         "offline": [], "offline_count": 0, "batches": [1, 1, 1], "says_all": True,
                                         "max_failures": "0", "max_unreachable": None, "on_limit": "fail",
                                         "shares": answer.json()["shares"], "hindrances": []})
        self.assertEqual(self.run_ids(), before)


class Offline(ClusterTest):
    hosts = ("here", "gone")

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agents(*cls.hosts)
        cls.cluster.agents["gone"].end()
        cls.cluster.wait_offline("gone")

    def test_offline_host_is_unreachable_and_6(self):
        outcome = self.cluster.muster("run", "-t", "all", "--wait-offline", "1s", "-o", "json", "--", "true")
        document = self.assertCode(outcome, 6).json()
        self.assertEqual([(host["host"], host["state"]) for host in document["hosts"]],
                         [("gone", "unreachable"), ("here", "succeeded")])
        self.assertEqual(document["state"], "succeeded")

    def test_a_failure_wins_over_an_absence(self):
        self.assertCode(self.cluster.muster("run", "-t", "all", "--wait-offline", "1s", "--", "false"), 1)

    def test_only_offline_hosts_fail_the_run(self):
        outcome = self.cluster.muster("run", "-t", "gone", "--wait-offline", "1s", "-o", "json", "--", "true")
        self.assertEqual(self.assertCode(outcome, 6).json()["state"], "failed")

    def test_why_names_the_offline_host(self):
        run = self.cluster.start_run("-t", "gone", "--wait-offline", "10m", "--", "true")
        self.assertEqual(self.cluster.wait_task(run, "gone", "queued")["attempt"], 0)
        self.assertIn("offline", self.assertCode(self.cluster.muster("why", run, "--host", "gone"), 0).text)
        self.assertCode(self.cluster.muster("stop", run), 0)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"skipped": 1})

    def test_offline_hosts_are_named_while_they_are_waited_for(self):
        waiter = self.cluster.begin("run", "-t", "all", "--wait-offline", "10m", "--", "true")
        wait_until("the host is named", lambda: "offline: gone" in waiter.said()[1])
        run = waiter.said()[1].split()[1]
        self.cluster.wait_task(run, "here", "succeeded")
        self.assertCode(self.cluster.muster("stop", run), 0)
        self.assertCode(waiter.finish(), 6)

    def test_hosts_shows_who_is_there(self):
        hosts = json.loads(self.assertCode(self.cluster.muster("hosts", "-o", "json"), 0).out)
        self.assertEqual({host["name"]: host["online"] for host in hosts["hosts"]}, {"here": True, "gone": False})
        self.assertEqual((hosts["total"], hosts["online"]), (2, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
