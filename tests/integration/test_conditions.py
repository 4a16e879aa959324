#!/usr/bin/env -S /usr/bin/python3 -B
"""Conditions on a real server: a value rises, holds, is told once, falls, and the server is killed in between."""
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

CHANNEL = """apiVersion: muster/v1
kind: channel
name: ops
type: webhook
url: URL/hook
"""

WATCH = """apiVersion: muster/v1
kind: job
name: watch
targets: h1
params:
  limit: {type: number, default: 0.9}
stages:
  - name: check
    condition:
      url: URL/metric
      value: /data/result/0/value/1
      above: '${{ params.limit }}'
      for: 3s
  - name: tell
    when: stages.check.outputs.changed
    notify: {to: ops, message: '${{ stages.check.outputs.state }} at ${{ stages.check.outputs.value }}'}
---
apiVersion: muster/v1
kind: trigger
name: watch
job: watch
every: 1s
"""

ASK = """apiVersion: muster/v1
kind: job
name: ask
params:
  path: {required: true}
stages:
  - name: check
    condition: {url: 'URL/${{ params.path }}', value: /value, above: 0.9, missing: MISSING}
    switch: {firing: fires, default: end}
branches:
  - name: fires
    script: 'true'
"""

COUNT = """apiVersion: muster/v1
kind: job
name: count
targets: h1
stages:
  - name: count
    script:
      run: |
        echo "$MUSTER_TRIGGER counts ${MUSTER_DATA_COUNT:-0} as $1 in $MUSTER_SLOT"
        echo "muster.data.count=$((${MUSTER_DATA_COUNT:-0} + 1))" >> "$MUSTER_OUTPUT"
      args: ['${{ trigger.data.count | default: ''nothing'' }}']
---
apiVersion: muster/v1
kind: trigger
name: count
job: count
cron: 0 0 1 1 *
"""

# What a server that is broken, hostile or merely odd may answer, and what the stage says of it.
ANSWERS = {
    "number": (b'{"value": 1}', None),
    "text": (b'{"value": "0.95"}', None),
    "infinite": (b'{"value": "+Inf"}', None),
    "word": (b'{"value": "high"}', "'high' is no number"),
    "list": (b'{"value": [1]}', "is no number"),
    "nan": (b'{"value": "NaN"}', "no value at '/value'"),
    "null": (b'{"value": null}', "no value at '/value'"),
    "nothing": (b"{}", "no value at '/value'"),
    "page": (b"<html>", "is no JSON"),
    "empty": (b"", "is no JSON"),
    "deep": (b"[" * 100_000, "is no JSON"),
    "long": (b'{"value": "' + b"9" * 5000 + b'"}', "which is no number"),
    "huge": (b'{"value": 1, "pad": "' + b"x" * 2_000_000 + b'"}', "the answer is larger than"),
    "bytes": (b'{"value": "\xff\xfe"}', "is no JSON"),
}


class World(StubHandler):
    """Metrics under /metric, whatever a test wants elsewhere, and the channel's hook."""

    def do_GET(self):
        name = self.path.strip("/")
        if name in ANSWERS:
            return self.answer(200, ANSWERS[name][0])
        self.server.asked += 1
        if self.server.value is None:
            return self.answer(503, b"out of order\n")
        body = {"status": "success", "data": {"result": [{"metric": {}, "value": [1.5, self.server.value]}]}}
        return self.answer(200, body)

    def do_POST(self):
        body = self.content()
        self.server.told.append(json.loads(body)["message"])
        self.answer(200, {})


class Conditions(ClusterTest):
    def setUp(self):
        self.world = serve_stub(self, World, asked=0, value="0.5", told=[])
        self.cluster = self.new_cluster("h1", settings={"outside": "{allow: [127.0.0.1]}"})
        self.apply(CHANNEL)

    def apply(self, text):
        text = text.replace("URL", self.world.url)
        answer = self.cluster.http("POST", "/api/v1/documents", {"documents": [{"file": "t.yaml", "text": text}]})
        self.assertEqual(answer.status, 200, answer)

    def trigger(self, name="watch"):
        return self.cluster.get(f"/triggers/{name}")

    def remembered(self):
        return self.trigger()["data"].get("condition.check.state", "ok")

    def wait_checks(self, count=3):
        """Until so many more checks were made and their runs have ended."""
        begin = self.world.asked
        wait_until("more checks", lambda: self.world.asked >= begin + count)

    def test_rise_and_fall_are_told_once_though_the_server_is_killed(self):
        self.apply(WATCH)
        self.wait_checks()
        self.world.value = "0.95"
        wait_until("it is pending", lambda: self.remembered() == "pending")
        self.assertEqual(self.world.told, [])
        since = self.trigger()["data"]["condition.check.since"]
        self.cluster.restart_server()
        wait_until("it fires", lambda: self.remembered() == "firing")
        self.assertEqual(self.trigger()["data"]["condition.check.since"], since)
        self.assertEqual(self.world.told, ["firing at 0.95"])
        self.cluster.restart_server()
        self.wait_checks()

        self.world.value = None
        begin = self.world.asked
        wait_until("a check fails", lambda: self.world.asked >= begin + 2 and any(
            run["state"] == "failed" for run in self.cluster.get("/runs")["runs"]))
        self.assertEqual(self.remembered(), "firing")
        self.world.value = "0.97"
        self.wait_checks()
        self.assertEqual(self.world.told, ["firing at 0.95"])

        self.world.value = "0.2"
        wait_until("it is over", lambda: self.remembered() == "ok")
        self.assertEqual(self.world.told, ["firing at 0.95", "ok at 0.2"])
        self.cluster.restart_server()
        self.wait_checks()
        self.assertEqual(self.world.told, ["firing at 0.95", "ok at 0.2"])

    def test_answers_of_all_kinds(self):
        self.apply(ASK.replace("MISSING", "error"))
        for path, (_, complaint) in ANSWERS.items():
            with self.subTest(path=path):
                outcome = self.cluster.muster("start", "ask", "-t", "h1", "-p", f"path={path}", "--wait", "-o", "json")
                run = outcome.json()
                stages = {stage["name"]: stage for stage in run["stages"]}
                if complaint is None:
                    self.assertEqual((run["state"], stages["fires"]["state"]), ("succeeded", "succeeded"), run)
                    continue
                self.assertEqual((run["state"], stages["fires"]["state"]), ("failed", "skipped"), run)
                self.assertIn(complaint, stages["check"]["reason"])

    def test_missing_values_count_as_the_job_says(self):
        for missing, fires in (("ok", "skipped"), ("firing", "succeeded")):
            self.apply(ASK.replace("MISSING", missing))
            for path in ("nan", "null", "nothing"):
                outcome = self.cluster.muster("start", "ask", "-t", "h1", "-p", f"path={path}", "--wait", "-o", "json")
                stages = {stage["name"]: stage["state"] for stage in self.assertCode(outcome, 0).json()["stages"]}
                self.assertEqual(stages, {"check": "succeeded", "fires": fires}, (missing, path))

    def test_carried_data_reaches_tasks(self):
        self.apply(COUNT)
        for count in range(3):
            answer = self.cluster.http("POST", "/api/v1/triggers/count/fire", {})
            self.assertEqual(answer.status, 201, answer)
            run = answer.json()["id"]
            self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
            self.assertIn(f"count counts {count} as {count or 'nothing'} in 20".encode(),
                          self.cluster.muster("logs", run).out)
            wait_until("it is carried", lambda n=count: self.trigger("count")["data"] == {"count": str(n + 1)})
            self.cluster.restart_server()
            self.cluster.wait_online("h1")


if __name__ == "__main__":
    unittest.main()
