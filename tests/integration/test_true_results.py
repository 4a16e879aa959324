"""What a run came to, as people and programs are told: results of hosts, batches, hosts that are not there."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from terminal import AtTerminal  # noqa: E402

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

    def test_cleanup_of_a_failed_host_is_no_success_of_it(self):
        self.apply(HEAD + """kind: job
name: tidied
targets: 'host[1-3]'
stages: [{name: upgrade, max_failures: 1, script: 'test $MUSTER_HOST != host2'}]
finally: [{name: tidy, hosts: all, script: echo tidied}]
""")
        told = self.assertCode(self.cluster.muster("start", "tidied", "--wait", "--yes"), 1).complaint
        self.assertIn("host2 failed (exit 1)\n", told)
        self.assertNotIn("succeeded at attempt", told)

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


    def test_cleanup_in_a_retry_hides_no_failed_host(self):
        self.apply(HEAD + """kind: job
name: passes
targets: all
stages:
  - {name: one, max_failures: 100%, script: 'test "$MUSTER_HOST" != host1'}
  - {name: two, script: 'true'}
finally: [{name: tidy, hosts: all, script: 'echo CLEANUP'}]
""")
        run = self.start("passes", code=1)["id"]
        self.assertCode(self.cluster.muster("retry", run, "--from", "two"), 0)
        self.assertCode(self.cluster.muster("wait", run), 1)
        self.assertEqual(self.cluster.run_of(run)["counts"], {"succeeded": 2, "failed": 1})
        self.assertEqual(self.names(f"run:{run}.failed"), ["host1"])

    def test_output_of_a_failed_host_is_that_of_its_failure(self):
        self.apply(HEAD + """kind: job
name: noisy
targets: all
stages:
  - {name: upgrade, max_failures: 100%, script: 'echo upgrading $MUSTER_HOST; test "$MUSTER_HOST" != host2'}
finally: [{name: tidy, hosts: all, script: 'echo CLEANUP'}]
""")
        run = self.start("noisy", code=1)["id"]
        self.assertEqual(self.cluster.muster("logs", run, "--host", "host2").text, "upgrading host2\n")
        self.assertEqual(self.cluster.muster("logs", run, "--host", "host2", "--stage", "tidy").text, "CLEANUP\n")
        shown = self.cluster.muster("show", run).text
        self.assertIn("1 host failed (exit 1): host2\n  upgrading host2\n", shown)

    def test_hosts_that_a_roll_did_not_reach_were_skipped(self):
        self.apply(HEAD + """kind: job
name: rolled
targets: all
stages:
  - {name: look, script: 'true'}
  - {name: roll, batches: [1, 100%], on_limit: fail, between: {check: {script: 'true'}}, script: 'false'}
finally: [{name: tidy, hosts: all, script: 'true'}]
""")
        run = self.start("rolled", code=1)
        self.assertEqual(run["counts"], {"failed": 1, "skipped": 2})
        self.assertEqual(self.names(f"run:{run['id']}.skipped"), ["host2", "host3"])

    def test_no_host_of_an_ended_run_waits(self):
        self.apply(HEAD + """kind: job
name: asks
targets: all
stages: [{name: ask, approve: {message: may it, timeout: 100ms}}, {name: work, script: 'true'}]
""")
        run = self.start("asks", "--wait-paused", code=1)
        self.assertEqual(run["counts"], {"skipped": 3})
        self.assertEqual(self.names(f"run:{run['id']}.waiting"), [])
        groups = self.cluster.get(f"/runs/{run['id']}/groups")["groups"]
        self.assertEqual([(group["state"], group["count"]) for group in groups], [("skipped", 3)])
        rows = self.cluster.get(f"/runs/{run['id']}/tasks", state="skipped")["tasks"]
        self.assertEqual(len(rows), 3)


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
        self.assertIn("roll fails when more than 0 fail in a batch, or none of a batch succeeds and some are not reached", plan.text)
        run = self.start("roll", "--yes", code=6)
        self.assertEqual(run["counts"], {"unreachable": 1, "skipped": 2})
        self.assertEqual(run["stages"][0]["reason"], "no host was reached in batch 1")

        def states(batches):
            outcome = self.cluster.muster("run", "-t", "all", "--batches", batches, "--max-unreachable", "1",
                                          "--wait-offline", "100ms", "--yes", "-o", "json", "--", "true")
            self.assertCode(outcome, 6)
            return sorted(host["state"] for host in json.loads(outcome.out)["hosts"])

        self.assertEqual(states("1,100%"), ["skipped", "skipped", "unreachable"], "no success, no other batch")
        self.assertEqual(states("2,100%"), ["succeeded", "succeeded", "unreachable"], "one may be away")


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
                self.assertIn("muster-agent --server URL --join-file FILE", words)
                self.assertEqual("no such host: db9" in words, unknown, words)
                self.assertNotIn("no such host: db7", words)

    def test_group_of_unknown_hosts_is_warned_of(self):
        group = HEAD + "kind: group\nname: named\nhosts: [host1, web8, web9, db1]\n"
        warned = self.apply(f"{HEAD}kind: host\nname: db1\n---\n" + group)
        self.assertIn("warning: group named: web[8-9] are neither known nor declared", warned.complaint)
        self.assertNotIn("db1", warned.complaint)
        quiet = self.apply(HEAD + "kind: group\nname: named\nhosts: [host1, db1]\n")
        self.assertNotIn("warning", quiet.complaint)

    def test_trigger_of_unknown_hosts_is_warned_of_and_not_fired(self):
        self.apply(HEAD + "kind: job\nname: tick\ntargets: host1\nstages: [{name: only, script: 'true'}]\n")
        trigger = HEAD + "kind: trigger\nname: lost\njob: tick\ntargets: 'host1,web9'\ncron: '30 2 * * *'\ntz: UTC\n"
        warned = self.apply(trigger)
        self.assertIn("warning: trigger lost: web9 is neither known nor declared", warned.complaint)
        fired = self.assertCode(self.cluster.muster("triggers", "fire", "lost", "--yes"), 4)
        self.assertIn("no such host: web9", fired.complaint)
        self.assertNotIn("warning", self.apply(trigger.replace(",web9", "")).complaint)

    def test_declared_host_is_shown_to_have_never_joined(self):
        self.apply(f"{HEAD}kind: host\nname: db7\nlabels: {{env: prod}}\n")
        told = self.assertCode(self.cluster.muster("hosts", "show", "db7"), 4).complaint
        self.assertIn("db7 is declared and never joined", told)
        told = self.assertCode(self.cluster.muster("run", "-t", "env=prod", "--", "true"), 4).complaint
        self.assertIn("1 declared and never joined: db7", told)
        self.assertNotIn("no host has the label", told)

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


class Lists(TrueResults):
    def test_a_run_that_succeeded_but_for_a_host_says_so(self):
        self.apply(HEAD + "kind: job\nname: fin\ntargets: 'host[1-3]'\nstages: [{name: go, max_failures: 1, "
                          "script: 'test $MUSTER_HOST != host2'}]\n")
        self.start("fin", code=1)
        self.assertRegex(self.cluster.muster("jobs", "fin").text, r"fin +succeeded, 1 of 3 hosts failed")
        listed = json.loads(self.cluster.muster("jobs", "fin", "-o", "json").out)["jobs"][0]["last_run"]
        self.assertEqual((listed["hosts"], listed["counts"]), (3, {"succeeded": 2, "failed": 1}))
        terminal = AtTerminal(("runs", "--job", "fin"), self.cluster.environment())
        self.addCleanup(terminal.close)
        code, shown = terminal.finish()
        self.assertEqual(code, 0)
        self.assertRegex(shown, "1 run: 1 succeeded but for some hosts")

    def test_a_dry_run_says_when_a_roll_stops(self):
        outcome = self.assertCode(self.cluster.muster("run", "-t", "all", "--batches", "1,100%", "--dry-run", "-o",
                                                      "json", "--", "true"), 0)
        planned = json.loads(outcome.out)
        self.assertEqual((planned["max_failures"], planned["max_unreachable"], planned["on_limit"]),
                         ("0", None, "fail"))
        shown = self.cluster.muster("run", "-t", "all", "--batches", "1,100%", "--max-failures", "2", "--dry-run", "--",
                                    "true").text
        self.assertIn("more than 2 fail in a batch", shown)
        self.assertNotIn("on_limit", json.loads(self.cluster.muster("run", "-t", "all", "--dry-run", "-o", "json", "--",
                                                                    "true").out))


class Secrets(TrueResults):
    def refused(self, name, stages, secret):
        self.apply(HEAD + f"kind: job\nname: {name}\ntargets: host1\nstages: {stages}\n")
        before = len(self.cluster.get("/runs")["runs"])
        outcome = self.assertCode(self.cluster.muster("start", name), 4)
        self.assertIn(secret, outcome.complaint)
        self.assertEqual(len(self.cluster.get("/runs")["runs"]), before)

    def test_requests_with_unknown_secrets_are_refused_at_the_start(self):
        self.refused("call", "[{name: call, http: {url: 'http://127.0.0.1:1/', headers: {x: 'secret:none1'}}}]", "none1")
        self.refused("look", "[{name: look, condition: {url: 'http://127.0.0.1:1/', headers: {x: 'Bearer secret:none2'}, "
                             "value: /a, above: 1}}]", "none2")
        self.refused("outer", "[{name: sub, job: call}]", "none1")

    def test_a_message_through_a_channel_with_an_unknown_secret_is_refused(self):
        self.apply(HEAD + "kind: channel\nname: hook\ntype: webhook\nurl: 'secret:none3'\n")
        self.refused("tell", "[{name: tell, notify: {to: hook, message: hi}}]", "none3")


class Outputs(TrueResults):
    def test_the_folder_of_the_task_reads_the_same_everywhere(self):
        run = self.cluster.start_run("-t", "all", "--", "echo x > $MUSTER_OUTPUT/y; echo $MUSTER_OUTPUT; exit 1")
        self.cluster.wait_end(run)
        group, = self.cluster.get(f"/runs/{run}/groups")["groups"]
        self.assertEqual(group["count"], 3)
        self.assertNotIn(b"tasks", self.cluster.log_of(run, "host1"))


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
