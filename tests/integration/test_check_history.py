"""`muster check history`: over kills it finds nothing; what is taken away or added it finds."""

import json
import signal
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402

HOSTS = ("web1", "web2", "web3")
FLEET = 20


def lines_of(journal):
    return [json.loads(line) for line in journal.read_text().splitlines()]


class CheckHistory(ClusterTest):
    hosts = HOSTS

    @classmethod
    def set_up_hosts(cls):
        cls.journals = [cls.cluster.folder / f"{name}.jsonl" for name in HOSTS]
        for name, journal in zip(HOSTS, cls.journals):
            cls.cluster.add_agent(name, options=("--history", journal))
        cls.cluster.wait_online(*HOSTS)

    def check(self, *words, journals=(), **more):
        words = [*words, *(word for journal in journals for word in ("--journal", journal))]
        return self.cluster.muster("check", "history", "-o", "json", *words, **more)

    def found(self, outcome):
        self.assertCode(outcome, 1)
        return [(finding["kind"], finding["text"]) for finding in json.loads(outcome.text)["findings"]]

    def copy_of(self, journal, *more):
        """The journal with more lines, elsewhere."""
        copy = self.cluster.folder / f"copy-of-{journal.name}"
        copy.write_text(journal.read_text() + "".join(json.dumps(line) + "\n" for line in more))
        return copy

    def start_in(self, journal, run):
        number = int(run.removeprefix("r"))
        return next(line for line in lines_of(journal) if line["what"] == "started" and line["run"] == number)

    def test_kills_lose_and_double_nothing(self):
        cluster = self.cluster
        runs = []
        for victim in (cluster.server, cluster.agents["web2"], cluster.server):
            runs += [cluster.start_run("-t", "all", "--", "sh", "-c", "sleep 0.3; exit 3") for _ in range(5)]
            cluster.wait_task(runs[-5], "web1", "running", "failed")
            victim.end(signal.SIGKILL)
            victim.start()
            cluster.wait_server()
            cluster.wait_online(*HOSTS)
        for run in runs:
            cluster.wait_end(run)
        outcome = self.check(journals=self.journals)
        self.assertCode(outcome, 0)
        report = json.loads(outcome.text)
        self.assertEqual(report["findings"], [])
        self.assertGreaterEqual(report["runs"], len(runs))
        self.assertGreaterEqual(report["attempts"], len(runs) * len(HOSTS))
        self.assertGreaterEqual(report["terms"], 3)
        self.assertGreater(report["audit_entries"], 0)
        self.assertEqual(report["journals"]["hosts"], len(HOSTS))
        self.assertGreaterEqual(report["journals"]["starts"], (len(runs) - 5) * len(HOSTS))

    def test_says_what_it_looked_at(self):
        run = self.cluster.start_run("-t", "web1", "--", "true")
        self.cluster.wait_end(run)
        outcome = self.cluster.muster("check", "history", "--journal", *self.journals)
        self.assertCode(outcome, 0)
        for word in ("tasks", "attempts", "terms", "audit", "journals", "3 hosts"):
            self.assertIn(word, outcome.text)
        self.assertIn("nothing is lost, nothing doubled", outcome.complaint)

    def test_second_start_is_found(self):
        run = self.cluster.start_run("-t", "web1", "--", "true")
        self.cluster.wait_end(run)
        copy = self.copy_of(self.journals[0], self.start_in(self.journals[0], run))
        [(kind, text)] = self.found(self.check(journals=[copy]))
        self.assertEqual(kind, "doubled")
        self.assertIn(f"attempt 1 of {run} on web1", text)

    def test_start_on_another_host_is_found(self):
        run = self.cluster.start_run("-t", "web1", "--", "true")
        self.cluster.wait_end(run)
        start = {**self.start_in(self.journals[0], run), "host": "web2"}
        lines = [line for line in lines_of(self.journals[1])]
        start["store"] = lines[0]["store"]
        found = self.found(self.check(journals=[self.copy_of(self.journals[1], start)]))
        self.assertEqual([kind for kind, _ in found], ["stray"])

    def test_start_of_a_run_that_is_not_there_is_found(self):
        run = self.cluster.start_run("-t", "web1", "--", "true")
        self.cluster.wait_end(run)
        start = {**self.start_in(self.journals[0], run), "run": 99999}
        [(kind, text)] = self.found(self.check(journals=[self.copy_of(self.journals[0], start)]))
        self.assertEqual(kind, "stray")
        self.assertIn("r99999", text)

    def test_broken_journal_is_a_usage_error(self):
        broken = self.cluster.folder / "broken.jsonl"
        broken.write_text("{\n{}\n")
        self.assertCode(self.check(journals=[broken]), 2)
        self.assertCode(self.check(journals=[self.cluster.folder / "none.jsonl"]), 4)

    def test_line_cut_by_a_crash_is_left_out(self):
        cut = self.cluster.folder / "cut.jsonl"
        cut.write_text(self.journals[0].read_text() + '{"what":"sta')
        self.assertCode(self.check(journals=[cut]), 0)

    def test_viewer_sees_it_without_the_audit_trail(self):
        token = self.cluster.muster("tokens", "create", "onlooker", "--role", "viewer").text.split()[-1]
        outcome = self.check(environment={"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""})
        self.assertCode(outcome, 0)
        self.assertIsNone(json.loads(outcome.text)["audit_entries"])

    def test_period_must_make_sense(self):
        self.assertEqual(self.cluster.http("GET", "/api/v1/checks/history?since=soon").status, 400)
        self.assertEqual(self.cluster.http("GET", "/api/v1/checks/history?cursor=soon").status, 400)

    def test_answers_come_in_slices(self):
        for _ in range(3):
            self.cluster.wait_end(self.cluster.start_run("-t", "web1", "--", "true"))
        newest = self.cluster.get("/runs", limit=1)["runs"][0]["id"]
        everything = self.cluster.get("/checks/history", rows="true")
        older = self.cluster.get("/checks/history", rows="true", cursor=newest)
        self.assertEqual(older["runs"], everything["runs"] - 1)
        self.assertNotIn(newest, {row["run"] for row in older["rows"]})
        self.assertIn(newest, {row["run"] for row in everything["rows"]})

    def test_fleet_keeps_one_journal_for_all(self):
        journal = self.cluster.folder / "fleet.jsonl"
        token = self.cluster.invite(uses=FLEET, replace=True)
        fleet = self.cluster.add_daemon(
            "fleet", [BIN / "muster-fleet", "--server", self.cluster.url, "--count", FLEET, "--label", "kind=emulated",
                      "--history", journal], {"MUSTER_JOIN": token})
        names = [f"fleet{number + 1}" for number in range(FLEET)]
        self.cluster.wait_online(*names)
        self.cluster.wait_end(self.cluster.start_run("-t", "kind=emulated", "--", "true"))
        outcome = self.check(journals=[*self.journals, journal])
        self.assertCode(outcome, 0)
        self.assertEqual(json.loads(outcome.text)["journals"]["hosts"], len(HOSTS) + FLEET)
        fleet.end(signal.SIGTERM)


class TakenAway(ClusterTest):
    """What somebody, or a broken disk, took out of the store."""

    def lose(self, statement):
        """A cluster with one ended run, out of whose store something was taken."""
        cluster = self.new_cluster("web1", "web2")
        run = cluster.start_run("-t", "all", "--", "sh", "-c", "exit 1")
        cluster.wait_end(run)
        self.assertCode(cluster.muster("check", "history"), 0)
        cluster.server.end(signal.SIGTERM)
        with sqlite3.connect(cluster.data / "muster.db") as store:
            self.assertGreater(store.execute(statement).rowcount, 0)
        store.close()
        cluster.start_server()
        outcome = cluster.muster("check", "history", "-o", "json")
        self.assertCode(outcome, 1)
        return run, json.loads(outcome.text)["findings"]

    def test_row_that_is_gone_is_found(self):
        run, findings = self.lose("DELETE FROM task WHERE ordinal = 1")
        self.assertEqual({(finding["kind"], finding["run"]) for finding in findings}, {("lost", run)})

    def test_older_term_that_wrote_after_a_newer_is_found(self):
        _, findings = self.lose("UPDATE task SET sent_term = sent_term + 1 WHERE ordinal = 1")
        self.assertEqual([finding["kind"] for finding in findings], ["terms"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
