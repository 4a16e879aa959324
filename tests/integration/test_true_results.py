"""What a run came to, as people and programs are told: results of hosts, batches, hosts that are not there."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

HEAD = "apiVersion: muster/v1\n"


class TrueResults(ClusterTest):
    hosts = ("host1", "host2", "host3")

    def apply(self, text, code=0):
        return self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=text.encode()), code)

    def start(self, *words, code=0):
        outcome = self.assertCode(self.cluster.muster("start", *words, "--wait", "-o", "json"), code)
        return json.loads(outcome.out)

    def names(self, expression):
        outcome = self.cluster.muster("hosts", expression, "-o", "json")
        return sorted(host["name"] for host in json.loads(outcome.out)["hosts"]) if outcome.code == 0 else []


class Results(TrueResults):
    def test_cleanup_hides_no_failed_host(self):
        self.apply(HEAD + """kind: job
name: fin
targets: 'host[1-3]'
stages:
  - {name: upgrade, max_failures: 1, script: 'test $MUSTER_HOST != host2'}
  - {name: verify, script: echo verified}
finally: [{name: tidy, hosts: all, script: echo tidied}]
""")
        run = self.start("fin", code=1)
        self.assertEqual(run["counts"], {"succeeded": 2, "failed": 1})
        self.assertEqual(run["exit_code"], 1)
        self.assertEqual(self.names(f"run:{run['id']}.failed"), ["host2"])
        self.assertEqual(self.names(f"run:{run['id']}.succeeded"), ["host1", "host3"])
        states = {task["host"]: task["state"] for task in self.cluster.get(f"/runs/{run['id']}/tasks")["tasks"]}
        self.assertEqual(states, {"host1": "succeeded", "host2": "failed", "host3": "succeeded"})
        groups = self.cluster.get(f"/runs/{run['id']}/groups")["groups"]
        self.assertEqual([(group["state"], group["count"]) for group in groups], [("failed", 1), ("succeeded", 2)])
        self.assertIn("hosts    1 failed, 2 succeeded", self.cluster.muster("show", run["id"]).text)
        self.assertIn("1 of 3 failed", self.cluster.muster("runs").text)
        self.assertCode(self.cluster.muster("check", "history"), 0)

    def test_stages_side_by_side_are_in_order(self):
        self.apply(HEAD + """kind: job
name: graph
targets: all
stages:
  - {name: a, needs: [], script: sleep 0.3}
  - {name: b, needs: [], script: sleep 0.6}
  - {name: c, needs: [a, b], script: 'true'}
""")
        self.start("graph")
        self.assertCode(self.cluster.muster("check", "history"), 0)

    def test_hosts_wait_between_stages(self):
        gate = self.cluster.folder / "gate"
        self.apply(HEAD + f"""kind: job
name: two
targets: all
stages:
  - {{name: precheck, script: 'true'}}
  - {{name: upgrade, concurrency: 1, script: 'while ! test -e {gate}; do sleep 0.05; done'}}
""")
        run = self.assertCode(self.cluster.muster("start", "two", "--yes"), 0).text.strip()
        wait_until("the second stage runs", lambda: self.cluster.run_of(run)["stages"][1]["counts"].get("running"))
        self.assertEqual(self.cluster.run_of(run)["counts"], {"waiting": 2, "running": 1})
        self.assertEqual(self.names(f"run:{run}.succeeded"), [])
        gate.touch()
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"succeeded": 3})

    def test_stages_that_were_not_reached_do_not_wait(self):
        self.apply(HEAD + """kind: job
name: short
targets: host1
stages: [{name: first, script: 'false'}, {name: second, script: 'true'}]
""")
        run = self.start("short", code=1)
        second = run["stages"][1]
        self.assertEqual((second["state"], second["reason"]), ("skipped", "the run did not come to it"))


class Batches(TrueResults):
    def test_unreachable_canary_stops_the_roll(self):
        self.cluster.agents["host1"].end()
        self.cluster.wait_offline("host1")
        self.addCleanup(lambda: (self.cluster.agents["host1"].start(), self.cluster.wait_online("host1")))
        self.apply(HEAD + """kind: job
name: roll
targets: all
stages: [{name: roll, batches: [1, 100%], on_limit: fail, wait_offline: 100ms, script: 'true'}]
""")
        plan = self.assertCode(self.cluster.muster("start", "roll", "--dry-run"), 0)
        self.assertIn("roll fails when more than 0 fail in a batch, or none of a batch succeeds", plan.text)
        run = self.start("roll", "--yes", code=6)
        self.assertEqual(run["counts"], {"unreachable": 1, "skipped": 2})
        self.assertEqual(run["stages"][0]["reason"], "no host was reached in batch 1")
        # Said otherwise, it goes on.
        outcome = self.cluster.muster("run", "-t", "all", "--batches", "1,100%", "--max-unreachable", "1", "--wait-offline",
                                      "100ms", "--yes", "-o", "json", "--", "true")
        self.assertCode(outcome, 6)
        states = sorted(host["state"] for host in json.loads(outcome.out)["hosts"])
        self.assertEqual(states, ["succeeded", "succeeded", "unreachable"])


class NotThere(TrueResults):
    def test_declared_hosts_that_never_joined_are_announced(self):
        self.apply("---\n".join(f"{HEAD}kind: host\nname: {name}\nlabels: {{app: db}}\n" for name in ("host1", "db7", "db8")))
        plan = self.assertCode(self.cluster.muster("run", "-t", "app=db", "--dry-run", "--", "true"), 0)
        self.assertIn("left out: 2 declared and never joined: db[7-8]", plan.text + plan.complaint)
        ran = self.assertCode(self.cluster.muster("run", "-t", "app=db", "--", "true"), 0)
        self.assertIn("left out 2 declared and never joined: db[7-8]", ran.complaint)
        refused = self.assertCode(self.cluster.muster("run", "-t", "app=db", "--require-all", "--", "true"), 1)
        self.assertIn("2 declared and never joined: db[7-8]", refused.complaint)
        self.assertCode(self.cluster.muster("run", "-t", "host1", "--require-all", "--", "true"), 0)
        nobody = self.assertCode(self.cluster.muster("run", "-t", "app=db and not host1", "--", "true"), 4)
        self.assertIn("db[7-8]", nobody.complaint)
        for names, unknown in (("db7", False), ("host1,db7", False), ("db7,db9", True)):
            with self.subTest(names=names):
                words = self.assertCode(self.cluster.muster("run", "-t", names, "--", "true"), 4).complaint
                self.assertIn("declared and never joined", words)
                self.assertIn("muster agents invite", words)
                self.assertEqual("no such host: db9" in words, unknown, words)
                self.assertNotIn("no such host: db7", words)

    def test_group_of_unknown_hosts_is_warned_of(self):
        group = HEAD + "kind: group\nname: named\nhosts: [host1, web8, web9, db1]\n"
        warned = self.apply(f"{HEAD}kind: host\nname: db1\n---\n" + group)
        self.assertIn("warning: group named: web[8-9] are neither known nor declared", warned.complaint)
        self.assertNotIn("db1", warned.complaint)
        quiet = self.apply(HEAD + "kind: group\nname: named\nhosts: [host1, db1]\n")
        self.assertNotIn("warning", quiet.complaint)

    def test_unknown_secret_is_refused_at_the_start(self):
        refused = self.assertCode(self.cluster.muster("run", "-t", "host1", "--secret", "T=nosuch", "--", "true"), 4)
        self.assertIn("there is no secret 'nosuch'", refused.complaint)
        self.apply(HEAD + """kind: job
name: needs
targets: host1
params: {token: {type: secret}}
stages: [{name: use, script: 'true'}]
""")
        self.assertCode(self.cluster.muster("start", "needs", "-p", "token=secret:nosuch"), 4)


class Words(TrueResults):
    def test_equal_errors_of_the_shell_are_one_group(self):
        outcome = self.cluster.muster("run", "-t", "all", "--yes", "--grouped", "--script", "-",
                                      stdin=b"apt-gte update\necho $0 >&2\n")
        self.assertCode(outcome, 0)
        run = self.cluster.get("/runs", limit=1)["runs"][0]["id"]
        groups = self.cluster.get(f"/runs/{run}/groups")["groups"]
        self.assertEqual([group["count"] for group in groups], [3])
        self.assertIn(b"script: 1: apt-gte: not found\nscript\n", self.cluster.log_of(run, "host1"))

    def test_h_for_another_program_is_no_call_for_help(self):
        outcome = self.assertCode(self.cluster.muster("run", "-t", "host1", "df", "-h"), 2)
        self.assertIn("the command behind --", outcome.complaint)
        self.assertEqual(outcome.out, b"")
        self.assertCode(self.cluster.muster("run", "--help"), 0)

    def test_wait_without_a_terminal_ends_where_a_person_is_needed(self):
        self.apply(HEAD + """kind: job
name: asks
targets: host1
stages: [{name: ask, approve: {message: go on}}, {name: go, script: 'true'}]
""")
        outcome = self.assertCode(self.cluster.muster("start", "asks", "--wait"), 7)
        self.assertIn("asks: go on", outcome.complaint)
        run = self.cluster.get("/runs", limit=1)["runs"][0]["id"]
        self.assertCode(self.cluster.muster("approve", run, "--yes"), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        stays = self.cluster.begin("start", "asks", "--wait-paused")
        wait_until("it asks again", lambda: "asks: go on" in stays.said()[1])
        run = self.cluster.get("/runs", limit=1)["runs"][0]["id"]
        self.assertCode(self.cluster.muster("approve", run, "--yes"), 0)
        self.assertCode(stays.finish(), 0)

    def test_documents_that_were_got_change_nothing(self):
        texts = [f"{HEAD}kind: job\nname: {name}\ntargets: all\nstages:\n  - name: a\n    script: 'true'\n"
                 for name in ("first", "second", "third")]
        self.apply("---\n".join(texts))
        got = self.assertCode(self.cluster.muster("get", "jobs", "-o", "yaml"), 0).text
        again = self.apply(got)
        self.assertNotIn("changed (version", again.text.replace("unchanged (version", ""))
        backwards = self.apply("---\n".join(reversed(texts)))
        self.assertEqual(backwards.text.count("unchanged (version 1)"), 3, backwards)


if __name__ == "__main__":
    unittest.main(verbosity=2)
