#!/usr/bin/env -S /usr/bin/python3 -B
"""Triggers on a real server: applied, fired, steered, and killed in between."""
import datetime
import sys
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

TRIGGER = """apiVersion: muster/v1
kind: trigger
name: NAME
job: tick
"""


def second(text):
    """Seconds since 1970 of a time that the API gave."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class TriggerTest(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster()
        self.cluster.add_agent("h1")
        self.cluster.wait_online("h1")
        self.apply(JOB)

    def apply(self, text, status=200):
        answer = self.cluster.http("POST", "/api/v1/documents", {"documents": [{"file": "t.yaml", "text": text}]})
        self.assertEqual(answer.status, status, answer)
        return answer.json()

    def trigger(self, name, lines):
        self.apply(TRIGGER.replace("NAME", name) + lines)

    def steer(self, name, act, body=None, status=200):
        answer = self.cluster.http("POST", f"/api/v1/triggers/{name}/{act}", body or {})
        self.assertEqual(answer.status, status, answer)
        return answer.json()

    def slots(self, name):
        """All rows, oldest first, page by page."""
        rows, cursor = [], ""
        while cursor is not None:
            page = self.cluster.get(f"/triggers/{name}/slots?limit=7" + (f"&cursor={cursor}" if cursor else ""))
            rows += page["slots"]
            cursor = page["next"]
        return rows[::-1]

    def started(self, name):
        return [row for row in self.slots(name) if row["result"] == "started"]

    def test_every_second_is_on_record_once_though_the_server_is_killed(self):
        self.trigger("tick", "cron: '* * * * * *'\nmissed: all\noverlap: {rule: allow, most: 50}\n")
        for count in (2, 4, 6):
            wait_until("slots are started", lambda count=count: len(self.started("tick")) >= count)
            self.cluster.restart_server()
        wait_until("slots are started after the last kill", lambda: len(self.started("tick")) >= 8)
        self.steer("tick", "pause")
        rows = self.slots("tick")
        seconds = []
        for row in rows:
            first, last = round(second(row["first"])), round(second(row["last"]))
            self.assertEqual(row["count"], last - first + 1, row)
            seconds += range(first, last + 1)
        self.assertEqual(seconds, list(range(seconds[0], seconds[-1] + 1)), "a hole, or a slot twice")
        run = self.cluster.get("/runs/" + rows[0]["run"])
        self.assertEqual(run["job"], "tick")

    def test_a_paused_trigger_starts_nothing_and_is_fired_by_hand(self):
        self.trigger("daily", "cron: 0 0 1 1 *\ntz: Europe/Berlin\n")
        self.assertEqual(self.steer("daily", "pause", {"reason": "holidays"})["state"], "paused")
        run = self.steer("daily", "fire", {"reason": "now"}, 201)["id"]
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        self.assertEqual([(row["run"], row["by_hand"]) for row in self.slots("daily")], [(run, True)])
        self.cluster.restart_server()
        self.assertEqual(self.cluster.get("/triggers/daily")["state"], "paused")
        self.assertEqual(self.steer("daily", "resume")["state"], "runnable")
        self.steer("daily", "fire", {}, 201)
        self.assertEqual(self.cluster.http("POST", "/api/v1/triggers/nobody/pause", {}).status, 404)

    def test_a_deleted_trigger_is_gone_but_not_its_ledger(self):
        self.trigger("tick", "every: 1s\n")
        wait_until("a slot is started", lambda: self.started("tick"))
        self.assertEqual(self.cluster.http("DELETE", "/api/v1/documents/trigger/tick").status, 200)
        self.assertEqual(self.cluster.http("GET", "/api/v1/triggers/tick").status, 404)
        self.assertEqual(self.cluster.get("/triggers")["triggers"], [])
        self.assertTrue(self.started("tick"))

    def test_mistakes_are_refused_with_their_place(self):
        answer = self.apply(TRIGGER.replace("NAME", "t") + "cron: 0 0 * * *\ntz: Mars/Olympus\n", 422)
        self.assertIn("Mars/Olympus", answer["error"]["message"])
        self.assertEqual(answer["error"]["details"][0]["line"], 6)
        answer = self.apply(TRIGGER.replace("NAME", "t").replace("job: tick", "job: nothing") + "every: 5m\n", 422)
        self.assertIn("no job 'nothing'", answer["error"]["message"])


if __name__ == "__main__":
    unittest.main()
