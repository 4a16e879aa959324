#!/usr/bin/env -S /usr/bin/python3 -B
"""Many triggers: applied with one call, counted without a walk, and started together."""
import datetime
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

JOB = """apiVersion: muster/v1
kind: job
name: tick
targets: h1
stages:
  - name: tick
    script: 'true'
"""


def trigger(name, line):
    return f"apiVersion: muster/v1\nkind: trigger\nname: {name}\njob: tick\n{line}\n"


def in_seconds(seconds):
    moment = datetime.datetime.fromtimestamp(int(time.time()) + seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class ManyTriggersTest(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster()
        self.apply([JOB])

    def apply(self, texts, **more):
        body = {"documents": [{"file": "all.yaml", "text": "---\n".join(texts)}], **more}
        answer = self.cluster.http("POST", "/api/v1/documents", body)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["documents"]

    def metrics(self):
        lines = self.cluster.http("GET", "/metrics", token=None).body.decode().splitlines()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def triggers(self):
        return self.cluster.get("/status")["triggers"]

    def test_thousands_are_applied_with_one_call_and_again_changes_nothing(self):
        texts = [trigger(f"far-{i}", f"cron: '{i % 60} 3 1 1 *'") for i in range(3000)]
        fates = self.apply(texts)
        self.assertEqual({(one["result"], one["version"]) for one in fates}, {("created", 1)})
        self.assertEqual(self.triggers()["all"], 3000)
        self.assertEqual(self.metrics()["muster_triggers_near"], 0)
        texts[17] = trigger("far-17", "cron: '0 4 1 1 *'")
        fates = {one["name"]: (one["result"], one["version"]) for one in self.apply(texts)}
        self.assertEqual(fates.pop("far-17"), ("changed", 2))
        self.assertEqual(set(fates.values()), {("unchanged", 1)})
        self.cluster.restart_server()
        self.assertEqual(self.triggers()["runnable"], 3000)
        fates = self.apply(texts[:10], prune=True)
        self.assertEqual(sum(one["result"] == "deleted" for one in fates), 2990)
        self.assertEqual(self.triggers()["all"], 10)

    def test_files_are_limited_in_number_and_the_limit_is_said(self):
        files = [{"file": f"{i}.yaml", "text": trigger(f"t{i}", "cron: '0 3 1 1 *'")} for i in range(1500)]
        answer = self.cluster.http("POST", "/api/v1/documents", {"documents": files})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(len(answer.json()["documents"]), 1500)
        answer = self.cluster.http("POST", "/api/v1/documents", {"documents": files[:1] * 10001})
        self.assertEqual(answer.status, 400)
        self.assertIn("10000", answer.body.decode())

    def test_a_body_that_is_too_large_says_the_limit(self):
        text = "---\n".join(trigger(f"t{i}", "cron: '0 3 1 1 *'  # " + "x" * 900) for i in range(5000))
        answer = self.cluster.http("POST", "/api/v1/documents", {"documents": [{"file": "a.yaml", "text": text}]})
        self.assertEqual(answer.status, 413)
        self.assertIn("limits.max_body", answer.body.decode())
        self.assertEqual(self.triggers()["all"], 0)

    def test_states_are_counted_and_shown(self):
        self.cluster.add_agent("h1")
        self.cluster.wait_online("h1")
        self.apply([trigger("far", "cron: '0 3 1 1 *'"), trigger("held", "cron: '0 3 1 1 *'"),
                    trigger("soon", f"once: '{in_seconds(2)}'"),
                    trigger("lost", f"once: '{in_seconds(2)}'\ntargets: nowhere")])
        self.assertEqual(self.cluster.http("POST", "/api/v1/triggers/held/pause", {}).status, 200)
        wait_until("both are decided", lambda: self.metrics()["muster_slots_total{outcome=\"started\"}"] == 1
                   and self.metrics()["muster_slots_total{outcome=\"error\"}"] == 1)
        wait_until("the run ends", lambda: self.triggers()["running"] == 0)
        counts = self.triggers()
        self.assertEqual((counts["all"], counts["runnable"], counts["paused"], counts["complete"]), (4, 1, 1, 2))
        metrics = self.metrics()
        self.assertEqual(metrics["muster_triggers{state=\"paused\"}"], 1)
        self.assertEqual(metrics["muster_slot_lateness_seconds_count"], 1)
        self.assertEqual(metrics["muster_slots_total{outcome=\"missed\"}"], 0)
        self.assertIn("triggers 4, 1 paused", self.cluster.muster("status").text)

    def test_those_due_together_all_start(self):
        self.cluster.add_agent("h1")
        self.cluster.wait_online("h1")
        moment = in_seconds(4)
        self.apply([trigger(f"t{i}", f"once: '{moment}'") for i in range(600)])
        wait_until("all are started",
                   lambda: self.metrics()["muster_slots_total{outcome=\"started\"}"] == 600, 60)


if __name__ == "__main__":
    unittest.main()
