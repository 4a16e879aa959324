#!/usr/bin/env -S /usr/bin/python3 -B
"""Triggers on a real server: applied, fired, steered, and killed in between."""
import contextlib
import datetime
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from slot_chaos import SlotChaos  # noqa: E402

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
        return [row for row in self.ledger(name) if row["result"] != "schedule"]

    def ledger(self, name):
        """All rows, oldest first, page by page."""
        rows, cursor = [], ""
        while cursor is not None:
            page = self.cluster.get(f"/triggers/{name}/slots?limit=7" + (f"&cursor={cursor}" if cursor else ""))
            rows += page["slots"]
            cursor = page["next"]
        return rows[::-1]

    def started(self, name):
        return [row for row in self.slots(name) if row["result"] == "started"]

    def check(self, *words, code=0):
        outcome = self.cluster.muster("check", "slots", *words, "-o", "json")
        self.assertCode(outcome, code)
        return outcome.json()

    def test_every_second_is_on_record_once_though_the_server_is_killed(self):
        chaos = SlotChaos(self.cluster, 30, 7)
        chaos.begin()
        chaos.history(5)
        due, started = chaos.check()
        self.assertGreater(due, 30)
        self.assertGreater(started, 30)

    def test_a_slot_that_was_taken_from_the_ledger_is_found(self):
        self.trigger("tick", "cron: '* * * * * *'\n")
        wait_until("slots are on record", lambda: len(self.slots("tick")) >= 5)
        self.steer("tick", "pause")
        self.assertEqual(self.check("tick")["findings"], [])
        victim = self.started("tick")[1]
        self.cluster.server.end()
        with contextlib.closing(sqlite3.connect(self.cluster.data / "muster.db")) as database, database:
            database.execute("DELETE FROM slot WHERE trigger_name = 'tick' AND act = 0 AND first = ?",
                             (round(second(victim["first"]) * 1000),))
        self.cluster.start_server()
        found = [(finding["kind"], finding["first"]) for finding in self.check("tick", code=1)["findings"]]
        self.assertEqual(found, [("lost", victim["first"]), ("doubled", victim["first"])])
        shown = self.cluster.muster("check", "slots", "tick")
        self.assertCode(shown, 1)
        self.assertIn("lost", shown.text)

    def test_a_changed_schedule_is_checked_by_what_held(self):
        self.trigger("tick", "cron: '* * * * * *'\n")
        wait_until("slots are on record", lambda: len(self.slots("tick")) >= 3)
        self.trigger("tick", "cron: '*/2 * * * * *'\n")
        count = len(self.slots("tick"))
        wait_until("more slots are on record", lambda: len(self.slots("tick")) >= count + 2)
        self.assertEqual(self.cluster.http("DELETE", "/api/v1/documents/trigger/tick").status, 200)
        report = self.check("tick")
        self.assertEqual((report["findings"], report["waiting"]), ([], 0))
        versions = [row["version"] for row in self.ledger("tick") if row["result"] == "schedule"]
        self.assertEqual(versions, [1, 2, 0])

    def test_the_command_line(self):
        self.trigger("nightly", "cron: 30 2 * * *\ntz: Europe/Berlin\n")
        listed = self.cluster.muster("triggers")
        self.assertCode(listed, 0)
        self.assertRegex(listed.text, r"nightly +runnable +30 2 \* \* \* Europe/Berlin +in \d+\w +never +tick")
        self.assertCode(self.cluster.muster("triggers", "pause", "nightly", "--reason", "holidays"), 0)
        self.assertIn("paused by admin: holidays", self.cluster.muster("triggers").text)
        self.assertCode(self.cluster.muster("triggers", "resume", "nightly"), 0)
        shown = self.cluster.muster("triggers", "show", "nightly").text
        self.assertIn("at 02:30", shown)
        self.assertRegex(shown, r"next +\d{4}-\d\d-\d\dT02:30:00\+0[12]:00  in ")
        following = self.cluster.get("/triggers/nightly")["upcoming"][0]
        self.assertCode(self.cluster.muster("triggers", "skip", "nightly", following, "--reason", "no"), 0)
        self.assertIn("by admin: no", self.cluster.muster("triggers", "show", "nightly").text)
        self.assertCode(self.cluster.muster("triggers", "skip", "nightly", "2099-01-01T00:00:00Z"), 4)
        fired = self.cluster.muster("triggers", "fire", "nightly")
        self.assertCode(fired, 0)
        run = fired.text.strip()
        self.cluster.wait_end(run)
        self.assertRegex(self.cluster.muster("slots", "nightly").text, rf"started {run} +by hand")
        self.assertCode(self.cluster.muster("triggers", "show", "nobody"), 4)
        self.assertCode(self.cluster.muster("triggers", "backfill", "nightly", "--from", "2h", "--to", "3h"), 2)
        self.assertIn("nightly", self.cluster.muster("get", "triggers").text)

    def test_a_backfill_says_how_many_slots_it_starts(self):
        self.trigger("days", "cron: 0 2 * * *\ntz: UTC\n")
        words = ("triggers", "backfill", "days", "--from", "2026-01-01T00:00:00Z", "--to")
        one = self.assertCode(self.cluster.muster(*words, "2026-01-02T00:00:00Z", "--yes"), 0)
        self.assertIn("days: 1 slot from ", one.complaint)
        wait_until("it is backfilled", lambda: self.cluster.get("/triggers/days")["backfill"] is None)
        three = self.assertCode(self.cluster.muster(*words, "2026-01-04T00:00:00Z", "--yes"), 0)
        self.assertIn("days: 3 slots from ", three.complaint)

    def test_once_in_the_past_is_warned_of(self):
        text = (f"apiVersion: muster/v1\nkind: trigger\nname: gone\njob: tick\nonce: 2026-01-01T00:00:00Z\n"
                "tz: UTC\n").encode()
        for words in (("--dry-run",), ()):
            applied = self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", *words, stdin=text), 0)
            self.assertIn("warning: trigger gone: ", applied.complaint)
        again = self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=text), 0)
        self.assertNotIn("warning", again.complaint)

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

    def test_a_trigger_does_not_run_once_its_run_has_ended(self):
        """Also when nothing else happens on the server afterwards."""
        self.trigger("yearly", "cron: 0 0 1 1 *\n")
        run = self.steer("yearly", "fire", {}, 201)["id"]
        self.cluster.wait_end(run)
        wait_until("it is runnable", lambda: self.cluster.get("/triggers/yearly")["state"] == "runnable")

    def test_slots_without_a_host_are_skipped_and_the_trigger_goes_on(self):
        self.trigger("nobody", "every: 1s\ntargets: 'no*'\n")
        wait_until("a slot is skipped", lambda: self.slots("nobody"))
        row = self.slots("nobody")[0]
        self.assertEqual((row["result"], row["why"]), ("skipped", "error"))
        self.assertEqual(self.cluster.get("/triggers/nobody")["state"], "runnable")
        self.assertCode(self.cluster.muster("hosts", "maintenance", "h1", "--reason", "disk"), 0)
        self.trigger("kept", "every: 1s\n")
        wait_until("a slot is skipped", lambda: self.slots("kept"))
        row = self.slots("kept")[0]
        self.assertEqual((row["result"], row["why"]), ("skipped", "limit"))
        self.assertIn("maintenance", row["detail"])

    def test_a_trigger_whose_job_was_deleted_is_in_error_until_it_is_back(self):
        self.trigger("tick", "every: 1s\n")
        self.assertEqual(self.cluster.http("DELETE", "/api/v1/documents/job/tick").status, 200)
        wait_until("it is in error", lambda: self.cluster.get("/triggers/tick")["state"] == "error")
        self.assertIn("no job 'tick'", self.cluster.get("/triggers/tick")["error"])
        self.apply(JOB)
        count = len(self.started("tick"))
        self.assertIn(self.steer("tick", "resume")["state"], ("runnable", "running"))
        wait_until("it starts again", lambda: len(self.started("tick")) > count)
        self.steer("tick", "pause")
        self.assertEqual(self.check("tick")["findings"], [])

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
