"""What is shown is what there is: when a host was last heard, whose line was found, why output is missing."""

import datetime
import json
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import BIN, Agent, ClusterTest, wait_until  # noqa: E402

HEAD = "apiVersion: muster/v1\n"


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def lines_of(answer):
    return [json.loads(line) for line in answer.body.splitlines() if line]


class Hosts(ClusterTest):
    hosts = ("h1", "h2", "h3")
    settings = {"heartbeat": "1s", "reconnect_bound": "1s"}

    def test_frozen_agent_was_last_seen_when_it_spoke_last(self):
        seen = self.cluster.get("/hosts/h3")["last_seen"]
        wait_until("its heartbeats count", lambda: self.cluster.get("/hosts/h3")["last_seen"] > seen)
        frozen = self.cluster.agents["h3"].process
        frozen.send_signal(signal.SIGSTOP)
        try:
            def silent():
                table = self.cluster.muster("hosts", "h3").text.splitlines()
                words = next(line for line in table if line.startswith("h3")).split()
                return words if "ago" in words and int(words[words.index("ago") - 1].rstrip("s")) >= 3 else None

            words = wait_until("its silence shows", silent)
            self.assertEqual(words[1], "online", "its link is given up after three heartbeats and 5 s")
            before = self.cluster.get("/hosts/h3")["last_seen"]
            self.cluster.wait_offline("h3")
            # The link's end knows the moment exactly, what is shown before is known twice a second.
            self.assertLess(abs(moment(self.cluster.get("/hosts/h3")["last_seen"]) - moment(before)), 1.0)
        finally:
            frozen.send_signal(signal.SIGCONT)
        self.cluster.wait_online("h3")

    def test_copy_in_a_named_range_is_refused_alone(self):
        place = self.cluster.folder / "h2-copy"
        run = GatedRun(self.cluster, "h2")
        self.cluster.agents["h2"].copy_to(place)
        copy = Agent(self.cluster, "h2", place)
        self.cluster.daemons.append(copy)
        copy.start()
        wait_until("h2 is a copy", lambda: self.cluster.get("/hosts/h2")["state"] == "copy")
        copy.end()
        run.open_gate()
        plan = self.assertCode(self.cluster.muster("run", "-t", "h[1-2]", "--dry-run", "--", "true"), 0)
        self.assertIn("1 copy, which takes no work: h2", plan.text + plan.complaint)
        ran = self.assertCode(self.cluster.muster("run", "-t", "h[1-2]", "-o", "json", "--", "true"), 6)
        self.assertIn("1 copy, which takes no work: h2", ran.complaint)
        self.assertEqual({host["host"]: host["state"] for host in ran.json()["hosts"]},
                         {"h1": "succeeded", "h2": "refused"})
        known = self.cluster.get("/hosts/h2")["note"]
        reason, = (host["reason"] for host in ran.json()["hosts"] if host["host"] == "h2")
        self.assertTrue(known)
        self.assertIn(known, reason, "what is known of the host, and no more")
        refused = self.assertCode(self.cluster.muster("run", "-t", "h[1-2]", "--require-all", "--", "true"), 1)
        self.assertIn("h2", refused.complaint)
        for expression in ("all", "h*"):
            with self.subTest(expression=expression):
                self.assert_left_out(expression, "1 copy, which takes no work: h2", hosts=2)

    def assert_left_out(self, expression, words, hosts):
        """The start names them, a dry run counts them, and --require-all starts nothing."""
        plan = self.cluster.http("POST", "/api/v1/runs?dry_run=true",
                                 {"targets": expression, "command": {"argv": ["true"]}}).json()
        self.assertEqual((plan["hosts"], plan["left_out"]), (hosts, words))
        shown = self.assertCode(self.cluster.muster("run", "-t", expression, "--dry-run", "--", "true"), 0)
        self.assertIn(f"left out: {words}", shown.text)
        ran = self.assertCode(self.cluster.muster("run", "-t", expression, "--yes", "--", "true"), 0)
        self.assertIn(f"left out {words}", ran.complaint)
        refused = self.assertCode(self.cluster.muster("run", "-t", expression, "--require-all", "--yes", "--", "true"), 1)
        self.assertIn(words, refused.complaint)

    def test_revoked_host_is_left_out_with_a_word_and_was_seen_when_its_link_ended(self):
        name = "lost1"
        self.cluster.add_agents(name)
        hello = self.cluster.get(f"/hosts/{name}")["last_hello"]
        wait_until("its heartbeats count", lambda: self.cluster.get(f"/hosts/{name}")["last_seen"] > hello)
        seen = self.cluster.get(f"/hosts/{name}")["last_seen"]
        self.assertCode(self.cluster.muster("agents", "revoke", name, "--yes"), 0)
        self.assertGreaterEqual(self.cluster.get(f"/hosts/{name}")["last_seen"], seen)
        refused = self.assertCode(self.cluster.muster("run", "-t", f"h1,{name}", "-x", name, "--", "true"), 1).complaint
        self.assertIn("write the targets without its name", refused)
        self.assertEqual(refused.count("revoked by"), 1, refused)
        self.assertNotIn("revoked: revoked", refused)
        self.assert_left_out(f"h1 or {name[:-1]}*", f"1 revoked: {name}", hosts=1)
        self.assertCode(self.cluster.muster("hosts", "rm", name, "--yes"), 0)
        self.assertCode(self.cluster.muster("run", "-t", f"h1 or {name[:-1]}*", "--require-all", "--", "true"), 0)


class Output(ClusterTest):
    hosts = ("h1", "h2")

    def apply(self, text):
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=(HEAD + text).encode()), 0)

    def test_found_lines_name_pass_and_attempt_where_there_are_several(self):
        marks = self.cluster.folder / "marks"
        marks.mkdir()
        self.apply(f"""kind: job
name: again
targets: all
stages:
  - name: work
    retries: {{max: 1, backoff: 1ms}}
    script: |
      echo "found on $MUSTER_HOST"
      cd {marks}
      test $MUSTER_HOST = h1 || mkdir $MUSTER_HOST
""")
        (marks / "h2").mkdir()
        run = self.cluster.muster("start", "again", "--yes").text.strip()
        self.cluster.wait_end(run)

        def found():
            return self.assertCode(self.cluster.muster("logs", run, "--grep", "found"), 0).text.splitlines()

        self.assertEqual(found(), ["h1:1: found on h1", "h2 attempt 1:1: found on h2", "h2 attempt 2:1: found on h2"])
        (marks / "h2").rmdir()
        self.assertCode(self.cluster.muster("retry", run, "--yes"), 0)
        wait_until("the second pass has ended", lambda: self.cluster.run_of(run)["state"] == "succeeded")
        self.assertEqual(found(), ["h1 pass 1:1: found on h1", "h2 pass 1 attempt 1:1: found on h2",
                                   "h2 pass 1 attempt 2:1: found on h2", "h2 pass 2:1: found on h2"])

    def test_summary_begins_a_line_of_its_own_where_it_meets_output(self):
        words = [BIN / "muster", "run", "-t", "h1", "--", "printf no-newline"]
        both = subprocess.run(words, env=self.cluster.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, check=True).stdout.decode()
        self.assertRegex(both, r"no-newline\nr\d+ succeeded")
        apart = subprocess.run(words, env=self.cluster.environment(), capture_output=True, stdin=subprocess.DEVNULL,
                               check=True)
        self.assertEqual(apart.stdout, b"no-newline")

    def test_output_of_all_hosts_comes_in_one_answer(self):
        ran = self.assertCode(self.cluster.muster("run", "-t", "all", "-o", "json", "--",
                                                  "echo out; echo err >&2; printf '\\377'"), 0)
        run = ran.json()["id"]
        lines = lines_of(self.cluster.http("GET", f"/api/v1/runs/{run}/outputs"))
        self.assertEqual({key: lines[-1][key] for key in ("done", "hosts", "bytes", "more", "timed_out")},
                         {"done": True, "hosts": 2, "bytes": 18, "more": False, "timed_out": False})
        ends = [line for line in lines if line.get("end")]
        self.assertEqual([(end["host"], end["state"], end["missing"], end["bytes"]) for end in ends],
                         [("h1", "complete", None, 9), ("h2", "complete", None, 9)])
        self.assertTrue(any("text_base64" in line for line in lines))
        only = lines_of(self.cluster.http("GET", f"/api/v1/runs/{run}/outputs?stream=stderr"))
        self.assertEqual("".join(line["text"] for line in only if "stream" in line), "err\nerr\n")
        self.assertEqual(self.cluster.http("GET", "/api/v1/runs/r999/outputs").status, 404)
        shown = self.assertCode(self.cluster.muster("logs", run), 0).out
        for host in (b"h1", b"h2"):
            self.assertIn(host + b" | out\n", shown)
            self.assertIn(host + b" | err\n", shown)
            self.assertIn(host + b" | \xff\n", shown)
        stamped = self.assertCode(self.cluster.muster("logs", run, "--timestamps", "--stderr"), 0).text
        self.assertRegex(stamped, r"(?m)^h1 \| \d{4}-\d\d-\d\dT[0-9:.]+Z err$")
        self.assertNotIn("out", stamped)


class Triggers(ClusterTest):
    hosts = ("h1",)

    def test_trigger_is_running_while_a_run_of_it_is_open_and_no_longer(self):
        gates = self.cluster.folder
        document = f"""{HEAD}kind: job
name: gated
targets: h1
stages: [{{name: wait, script: 'until test -e {gates}/$MUSTER_RUN; do sleep 0.05; done; echo over'}}]
---
{HEAD}kind: trigger
name: hourly
job: gated
every: 1h
overlap: {{rule: allow, most: 2}}
"""
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=document.encode()), 0)

        def state():
            listed = {trigger["name"]: trigger["state"] for trigger in self.cluster.get("/triggers")["triggers"]}
            self.assertEqual(self.cluster.get("/triggers/hourly")["state"], listed["hourly"])
            return listed["hourly"]

        def fire():
            answer = self.cluster.http("POST", "/api/v1/triggers/hourly/fire", {"despite_overlap": True})
            self.assertEqual(answer.status, 201, answer)
            return answer.json()["id"]

        self.assertEqual(state(), "runnable")
        older, newer = fire(), fire()
        for run in (newer, older):
            self.assertEqual(state(), "running", "also while only the older run is open")
            (gates / run).touch()
            wait_until(f"{run} has ended", lambda run=run: self.cluster.run_of(run)["state"] == "succeeded")
        self.assertEqual(state(), "runnable")
        self.assertEqual(self.cluster.get("/status")["triggers"]["running"], 0)
        self.cluster.restart_server()
        self.assertEqual(state(), "runnable")


class AfterARestore(ClusterTest):
    def test_output_that_no_backup_had_is_not_said_to_be_dropped_by_retention(self):
        cluster = self.new_cluster("h1")
        run = cluster.start_run("-t", "h1", "--", "echo", "words")
        cluster.wait_end(run)
        backup = cluster.folder / "backup"
        cluster.server.end(signal.SIGTERM)
        for words in (["backup", backup, "--data", cluster.data], ["restore", backup, "--data", cluster.data, "--force"]):
            done = subprocess.run([BIN / "musterd", *words], capture_output=True, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, 0, done)
        cluster.start_server()
        answer = cluster.http("GET", f"/api/v1/runs/{run}/log?host=h1")
        self.assertEqual((answer.headers["Muster-Log-State"], answer.headers["Muster-Log-Missing"]), ("expired", "restore"))
        self.assertEqual(cluster.task_of(run, "h1")["log"]["missing"], "restore")
        for words in (("--host", "h1"), ()):
            said = cluster.muster("logs", run, *words).complaint
            self.assertIn("restored from a backup without output", said)
            self.assertNotIn("retention", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
