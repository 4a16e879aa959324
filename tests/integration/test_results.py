"""What became of a run with several stages: its summary, groups, states and windows of rows, while it is open, after
its end, and on a server that has to find it out anew; on real hosts and on emulated ones."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402

COUNT = 200
HEAD = "apiVersion: muster/v1\nkind: job\n"


class ResultsTest(ClusterTest):
    @classmethod
    def start_job(cls, name, body):
        answer = cls.cluster.http("POST", "/api/v1/documents",
                                  {"documents": [{"file": f"{name}.yaml", "text": f"{HEAD}name: {name}\n{body}"}]})
        assert answer.status == 200, answer
        started = cls.cluster.http("POST", f"/api/v1/jobs/{name}/start", {})
        assert started.status == 201, started
        return started.json()["id"]

    def states(self, run, stage=""):
        answer = self.cluster.http("GET", f"/api/v1/runs/{run}/states" + (f"?stage={stage}" if stage else ""))
        self.assertEqual(answer.status, 200, answer)
        return list(answer.body)

    def groups(self, run, **query):
        answer = self.cluster.get(f"/runs/{run}/groups", **query)
        return [(group["count"], group["state"], group["exit_code"], group["hosts"]) for group in answer["groups"]]


class OnHosts(ResultsTest):
    hosts = ("h1", "h2", "h3")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.run_id = cls.start_job("drift", """targets: all
stages:
  - {name: look, script: 'echo "I am $MUSTER_HOST, pid $$"', max_failures: 3}
  - {name: judge, script: 'test $MUSTER_HOST != h2 || { echo odd; exit 3; }', max_failures: 3}
  - {name: rest, script: 'echo same'}
""")
        cls.cluster.wait_end(cls.run_id)

    def test_groups_of_each_stage(self):
        self.assertEqual(self.groups(self.run_id), [(1, "failed", 3, "h2"), (2, "succeeded", 0, "h[1,3]")])
        self.assertEqual(self.groups(self.run_id, stage="judge"),
                         [(1, "failed", 3, "h2"), (2, "succeeded", 0, "h[1,3]")])
        self.assertEqual(self.groups(self.run_id, stage="rest"), [(2, "succeeded", 0, "h[1,3]")])

    def test_masked_groups_join_what_differs_by_host_only(self):
        self.assertEqual(len(self.groups(self.run_id, stage="look")), 3)
        self.assertEqual(self.groups(self.run_id, stage="look", masked="true"), [(3, "succeeded", 0, "h[1-3]")])

    def test_states_have_a_byte_for_each_host_of_the_run(self):
        self.assertEqual(self.states(self.run_id), [4, 5, 4])
        self.assertEqual(self.states(self.run_id, "judge"), [4, 5, 4])
        self.assertEqual(self.states(self.run_id, "rest"), [4, 255, 4])
        self.assertEqual(self.cluster.http("GET", f"/api/v1/runs/{self.run_id}/states?stage=none").status, 404)

    def test_rows_are_those_of_the_stage(self):
        tasks = self.cluster.get(f"/runs/{self.run_id}/tasks")["tasks"]
        self.assertEqual([(task["host"], task["state"]) for task in tasks],
                         [("h1", "succeeded"), ("h2", "failed"), ("h3", "succeeded")])
        tasks = self.cluster.get(f"/runs/{self.run_id}/tasks", stage="rest")["tasks"]
        self.assertEqual([(task["host"], task["log"]["bytes"]) for task in tasks], [("h1", 5), ("h3", 5)])
        failed = self.cluster.get(f"/runs/{self.run_id}/tasks", state="failed")["tasks"]
        self.assertEqual([task["host"] for task in failed], ["h2"])

    def test_summary_counts_hosts_and_tasks(self):
        summary = self.cluster.get(f"/runs/{self.run_id}/summary")
        self.assertEqual(summary["counts"], {"succeeded": 2, "failed": 1})
        self.assertEqual(summary["tasks"], {"succeeded": 7, "failed": 1})
        self.assertEqual([(stage["name"], stage["hosts"]) for stage in summary["stages"]],
                         [("look", 3), ("judge", 3), ("rest", 2)])
        self.assertEqual((summary["stages_total"], summary["stages_left_out"]), (3, {}))

    def test_open_run_shows_what_runs(self):
        hold = self.cluster.folder / "hold"
        hold.touch()
        run = self.start_job("waits", f"""targets: all
stages:
  - {{name: quick, script: 'true'}}
  - {{name: held, script: 'while test -e {hold}; do sleep 0.1; done', concurrency: 1}}
""")
        wait_until("one host runs the second stage", lambda: self.states(run, "held").count(3) == 1)
        self.assertEqual(sorted(self.states(run, "held")), [0, 0, 3])
        self.assertEqual(self.states(run, "quick"), [4, 4, 4])
        self.assertIn((2, "waiting"), [group[:2] for group in self.groups(run, stage="held")])
        self.assertEqual(self.cluster.get(f"/runs/{run}/summary")["tasks"],
                         {"succeeded": 3, "running": 1, "waiting": 2})
        hold.unlink()
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        self.assertEqual(self.groups(run), [(3, "succeeded", 0, "h[1-3]")])


    def show(self, *words):
        return self.assertCode(self.cluster.muster("show", self.run_id, *words), 0).text

    def test_show_prints_stages_then_groups_with_samples(self):
        shown = self.show()
        self.assertRegex(shown, r"(?s)STAGE .*look .*judge .*rest .*\n1 host failed \(exit 3\): h2\n  odd\n\n"
                                r"2 hosts succeeded: h\[1,3\]\n  same\n$")
        self.assertNotIn("STAGE", self.show("--groups"))
        self.assertEqual(len(json.loads(self.show("--groups", "--stage", "look", "-o", "json"))["groups"]), 3)
        self.assertIn("3 hosts succeeded: h[1-3]\n  I am h1, pid ", self.show("--stage", "look", "--masked"))

    def test_show_says_how_odd_hosts_differ(self):
        self.assertIn("1 host failed (exit 3): h2\n  --- h1 (as 2 hosts)\n  +++ h2\n", self.show("--diff"))
        shown = self.show("--diff")
        self.assertIn("\n  -same\n  +odd\n", shown)
        self.assertIn("2 hosts succeeded: h[1,3] (most)\n  same\n", shown)


class OnAFleet(ResultsTest):
    hosts = ("fleet",)  # one emulator, not an agent

    @classmethod
    def set_up_hosts(cls):
        token = cls.cluster.invite(uses=COUNT, replace=True)
        cls.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cls.cluster.url, "--count", COUNT,
                                         "--fail", "0.1", "--output-bytes", "20"], {"MUSTER_JOIN": token})
        wait_until(f"{COUNT} hosts online", lambda: cls.cluster.get("/status")["online"] == COUNT, 120)

    def everything(self, run):
        """All that is said of a run, in one value."""
        told = []
        for stage in ("", "one", "two", "three"):
            query = {"stage": stage} if stage else {}
            told.append(self.states(run, stage))
            told += [self.cluster.get(f"/runs/{run}/groups", **query, masked=masked) for masked in ("true", "false")]
            names, cursor = [], None
            while True:
                page = self.cluster.get(f"/runs/{run}/tasks", limit=64, **query,
                                        **({"cursor": cursor} if cursor else {}))
                self.assertLessEqual(len(page["tasks"]), 64)
                names += [(task["ordinal"], task["state"], task["exit_code"]) for task in page["tasks"]]
                cursor = page["next"]
                if cursor is None:
                    break
            told.append(names)
        return told

    def test_server_that_starts_anew_says_the_same(self):
        run = self.start_job("wide", "targets: all\nstages:\n" + "".join(
            f"  - {{name: {name}, script: pretend, max_failures: 100%}}\n" for name in ("one", "two", "three")))
        # Asked before its end: these tables follow it.
        wait_until("the second stage", lambda: 4 in self.states(run, "two"))
        self.states(run)
        wait_until("every output is known", lambda: (ended := self.cluster.run_of(run))["ended"]
                   and ended["logs_open"] == 0)
        followed = self.everything(run)
        states = self.states(run)
        counts = self.cluster.get(f"/runs/{run}/summary")["counts"]
        self.assertEqual({4: counts["succeeded"], 5: counts["failed"]}, {state: states.count(state) for state in (4, 5)})
        self.assertEqual([len(rows) for rows in followed[3::4]][0], COUNT)
        self.cluster.restart_server()
        self.assertEqual(json.dumps(self.everything(run)), json.dumps(followed))


class EachHostPrintsItsName(ClusterTest):
    """More groups than an answer has: what is counted is every host all the same."""
    hosts = ("fleet",)
    COUNT = 600

    @classmethod
    def set_up_hosts(cls):
        token = cls.cluster.invite(uses=cls.COUNT, replace=True)
        cls.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cls.cluster.url, "--count", str(cls.COUNT),
                                         "--output", "hello from {host}", "--host-exit-code", "fleet[1-7]=2"],
                               {"MUSTER_JOIN": token})
        wait_until(f"{cls.COUNT} hosts online", lambda: cls.cluster.get("/status")["online"] == cls.COUNT, 120)

    def test_summary_counts_every_host(self):
        ended = self.cluster.muster("run", "-t", "all", "--yes", "--", "true")
        self.assertEqual(ended.code, 1)
        run = ended.complaint.split()[1]
        self.assertIn(f"{run} failed: 593 succeeded, 7 failed (exit 2): fleet[1-7] ", ended.complaint)
        self.assertIn("200 more groups of equal outcome", ended.text)
        self.assertIn("593 succeeded, 7 failed", self.cluster.muster("wait", run).complaint)
        groups = self.cluster.get(f"/runs/{run}/groups", by="outcome")
        self.assertEqual([(group["state"], group["count"]) for group in groups["groups"]],
                         [("failed", 7), ("succeeded", 593)])
        self.assertEqual((groups["groups_left_out"], groups["hosts_left_out"], groups["total"]), (0, 0, self.COUNT))
        refused = self.cluster.http("GET", f"/api/v1/runs/{run}/groups?by=outcome&masked=true")
        self.assertEqual(refused.status, 400)


if __name__ == "__main__":
    unittest.main()
