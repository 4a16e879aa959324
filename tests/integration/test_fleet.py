"""Many hosts: two hundred emulated ones over real links."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402

COUNT = 200
OUTPUT_BYTES = 1000


def unfolded(names):
    """Hosts of folded names such as `fleet[1-3,7],web1`."""
    hosts = []
    for part in names.replace("],", "]\n").splitlines():
        head, bracket, ranges = part.partition("[")
        if not bracket:
            hosts += part.split(",")
            continue
        *plain, prefix = head.split(",")
        hosts += plain
        for piece in ranges.rstrip("]").split(","):
            first, _, last = piece.partition("-")
            hosts += [f"{prefix}{number}" for number in range(int(first), int(last or first) + 1)]
    return hosts


class FleetTest(ClusterTest):
    hosts = ("fleet",)  # one emulator, not an agent
    settings = {"reconnect_bound": "1s"}
    pretence = ()

    @classmethod
    def set_up_hosts(cls):
        cls.fleet = cls.start_fleet()

    @classmethod
    def start_fleet(cls):
        token = cls.cluster.invite(uses=COUNT, replace=True)
        fleet = cls.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cls.cluster.url, "--count", COUNT,
                                                 "--label", "kind=emulated", *cls.pretence], {"MUSTER_JOIN": token})
        wait_until(f"{COUNT} hosts online", lambda: cls.cluster.get("/status")["online"] == COUNT, 120)
        return fleet


class Groups(FleetTest):
    pretence = ("--fail", "0.1", "--output-bytes", str(OUTPUT_BYTES))

    def test_counts_add_up_and_equal_outcomes_are_folded(self):
        outcome = self.cluster.muster("run", "-t", "kind=emulated", "-o", "json", "--", "pretend")
        document = self.assertCode(outcome, 1).json()
        run = document["id"]
        by_state = {}
        for host in document["hosts"]:
            by_state.setdefault(host["state"], set()).add(host["host"])
            self.assertEqual((host["log"]["state"], host["log"]["bytes"]), ("complete", OUTPUT_BYTES))
        self.assertEqual(set(by_state), {"succeeded", "failed"})
        self.assertEqual(sum(map(len, by_state.values())), COUNT)

        ended = self.cluster.wait_end(run)
        self.assertEqual(ended["counts"], {state: len(hosts) for state, hosts in by_state.items()})
        states = self.cluster.http("GET", f"/api/v1/runs/{run}/states").body
        self.assertEqual((states.count(4), states.count(5)), (len(by_state["succeeded"]), len(by_state["failed"])))

        groups = self.cluster.get(f"/runs/{run}/groups")
        self.assertEqual(groups["total"], COUNT)
        self.assertEqual([group["state"] for group in groups["groups"]], ["failed", "succeeded"])
        for group in groups["groups"]:
            self.assertEqual(group["count"], len(by_state[group["state"]]))
            self.assertEqual(set(unfolded(group["hosts"])), by_state[group["state"]])
            self.assertIn(group["sample_host"], by_state[group["state"]])
            self.assertEqual(group["bytes"], OUTPUT_BYTES)
        self.assertEqual(len(self.cluster.log_of(run, groups["groups"][0]["sample_host"])), OUTPUT_BYTES)

        shown = self.assertCode(self.cluster.muster("show", run), 0).text
        self.assertIn(f"{len(by_state['failed'])} hosts failed (exit 1): {groups['groups'][0]['hosts']}", shown)
        self.assertIn(f"{len(by_state['succeeded'])} hosts succeeded", shown)

        again = self.cluster.muster("run", "-t", f"run:{run}.failed", "-o", "json", "--", "pretend").json()
        self.assertEqual({host["host"] for host in again["hosts"]}, by_state["failed"])

    def test_emulated_hosts_keep_to_the_quota(self):
        document = self.cluster.muster("run", "-t", "fleet[1-3]", "--max-output", "16B", "-o", "json", "--",
                                       "pretend").json()
        self.assertEqual([(host["log"]["state"], host["log"]["bytes"]) for host in document["hosts"]], [("cut", 16)] * 3)

    def test_many_hosts_are_shown_grouped(self):
        outcome = self.assertCode(self.cluster.muster("run", "-t", "all", "--", "pretend"), 1)
        self.assertIn("hosts succeeded: fleet[", outcome.text)
        # One sample of the output per group, not one per host.
        self.assertLess(len(outcome.text), 4 * OUTPUT_BYTES + 2 * 8 * COUNT)

    def test_tasks_are_read_by_cursor(self):
        run = self.cluster.muster("run", "-t", "all", "-o", "json", "--", "pretend").json()["id"]
        names, cursor = [], None
        for _ in range(10):
            page = self.cluster.get(f"/runs/{run}/tasks", limit=64, **({"cursor": cursor} if cursor else {}))
            names += [task["host"] for task in page["tasks"]]
            cursor = page["next"]
            if cursor is None:
                break
        self.assertEqual(names, [f"fleet{number}" for number in range(1, COUNT + 1)])

    def test_batches_over_many_hosts(self):
        outcome = self.cluster.muster("run", "-t", "all", "--batches", "1,10%", "--max-failures", "100%", "--concurrency",
                                      "7", "-o", "json", "--", "pretend")
        self.assertCode(outcome, 1)
        states = {host["state"] for host in outcome.json()["hosts"]}
        self.assertEqual(states, {"succeeded", "failed"})


class Conduct(FleetTest):
    pretence = ("--duration", "10ms", "--output", "hello from {host}", "--exit-code", "3", "--host-exit-code",
                f"fleet[11-{COUNT}]=0", "--host-output", "fleet5,fleet7*=disk full on {host}", "--host-duration", "fleet9=1h")

    def outcome(self, *words):
        return self.cluster.muster("run", "-t", "all", "-o", "json", *words, "--", "pretend")

    def test_hosts_differ_as_they_were_told(self):
        document = self.assertCode(self.outcome("--timeout", "2s"), 1).json()
        ends = {host["host"]: (host["state"], host["exit_code"]) for host in document["hosts"]}
        self.assertEqual(ends["fleet1"], ("failed", 3))
        self.assertEqual(ends["fleet11"], ("succeeded", 0))
        self.assertEqual(ends["fleet9"][0], "timed_out", "it would run for an hour")
        self.assertEqual(sum(end == ("succeeded", 0) for end in ends.values()), COUNT - 10)
        run = document["id"]
        self.assertEqual(self.cluster.log_of(run, "fleet1"), b"hello from fleet1\n")
        self.assertEqual(self.cluster.log_of(run, "fleet5"), b"disk full on fleet5\n")
        self.assertEqual(self.cluster.log_of(run, "fleet72"), b"disk full on fleet72\n")
        # Outputs that differ by the host's name alone are one group when that is masked.
        masked = self.cluster.get(f"/runs/{run}/groups", masked="true")["groups"]
        said = {group["sample_host"]: group["count"] for group in masked if group["state"] == "succeeded"}
        self.assertEqual(sorted(said.values()), [10, COUNT - 20])
        # All of it in one answer.
        text = self.assertCode(self.cluster.muster("logs", run), 0).text
        self.assertIn("fleet200 | hello from fleet200\n", text)
        self.assertEqual(text.count("\n"), COUNT)


class Losses(FleetTest):
    pretence = ("--duration", "1h")

    def begin_run(self):
        run = self.cluster.start_run("-t", "all", "--", "pretend")
        wait_until("all hosts run it", lambda: self.cluster.run_of(run)["counts"] == {"running": COUNT})
        return run

    def end_fleet(self):
        self.fleet.end()
        wait_until("all hosts offline", lambda: self.cluster.get("/status")["online"] == 0)

    def test_fleet_killed_while_it_works(self):
        run = self.begin_run()
        self.end_fleet()
        with self.subTest("what was not sent is unreachable"):
            outcome = self.cluster.muster("run", "-t", "all", "--wait-offline", "1s", "-o", "json", "--", "pretend")
            self.assertEqual({host["state"] for host in self.assertCode(outcome, 6).json()["hosts"]}, {"unreachable"})
        with self.subTest("what was sent stays open until it is stopped, and is lost then"):
            self.assertEqual(self.cluster.run_of(run)["state"], "running")
            self.assertCode(self.cluster.muster("kill", run), 0)
            ended = self.cluster.wait_end(run)
            self.assertEqual((ended["state"], ended["counts"], ended["exit_code"]), ("cancelled", {"lost": COUNT}, 6))
        type(self).fleet = self.start_fleet()
        with self.subTest("what a host held before it joined anew is lost"):
            run = self.begin_run()
            self.end_fleet()
            type(self).fleet = self.start_fleet()
            ended = self.cluster.wait_end(run)
            self.assertEqual((ended["state"], ended["counts"]), ("failed", {"lost": COUNT}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
