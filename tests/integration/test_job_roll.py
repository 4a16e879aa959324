#!/usr/bin/env -S /usr/bin/python3 -B
"""A job that rolls over a fleet: batches in order, a person between, restarts, a rollback of what was touched."""
import json
import os
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from pretend_machine import add_machines  # noqa: E402

JOB = """\
apiVersion: muster/v1
kind: job
name: kernel-upgrade
params:
  version: {{type: string, required: true, pattern: '^[0-9.]+$'}}
targets: all
timeout: 2h
stages:
  - name: precheck
    script: |
      echo "precheck $MUSTER_HOST" >> {marks}
      echo "kernel=6.0" >> "$MUSTER_OUTPUT"
    timeout: 30s
    retries: {{max: 2, backoff: 1s}}
  - name: package
    push: {{content: 'kernel ${{{{ params.version }}}} for ${{{{ host.name }}}}', to: '{folder}/kernel.${{{{ host.name }}}}', mode: '0600'}}
  - name: go
    approve: {{message: 'Upgrade to ${{{{ params.version }}}} on ${{{{ targets.count }}}} hosts?', by: [operator], not: starter, timeout: 1h}}
  - name: roll
    batches: [1, 10%, 100%]
    between: {{wait: 1s, check: {{script: 'echo "check $MUSTER_HOST" >> {marks}'}}}}
    max_failures: 2%
    on_limit: {on_limit}
    switch: {{failed: rollback}}
    stages:
      - name: upgrade
        script: {{run: 'echo "upgrade $MUSTER_HOST $1 from $2" >> {marks}; test ! -e {folder}/bad.$MUSTER_HOST', args: ['${{{{ params.version }}}}', '${{{{ stages.precheck.outputs.kernel }}}}']}}
      - name: restart
        reboot: {{timeout: 2m, command: 'touch {folder}/$MUSTER_HOST.restart'}}
      - name: verify
        script: 'echo "verify $MUSTER_HOST $MUSTER_PARAM_VERSION" >> {marks}'
branches:
  - name: rollback
    hosts: touched
    script: 'echo "rollback $MUSTER_HOST" >> {marks}'
"""
HOSTS = 20


class Roll(ClusterTest):
    def setUp(self):
        super().setUp()
        self.cluster = self.new_cluster()
        self.folder = self.cluster.folder
        self.marks = self.folder / "marks"
        self.names = [f"h{number:02}" for number in range(1, HOSTS + 1)]
        self.machines = add_machines(self.cluster, *self.names)
        for machine in self.machines:
            self.addCleanup(machine.close)
        self.write_job("fail")
        self.second = self.cluster.muster("tokens", "create", "bea", "--role", "operator").text.strip().splitlines()[-1]

    def write_job(self, on_limit, change=lambda text: text):
        text = JOB.format(marks=self.marks, folder=self.folder, on_limit=on_limit)
        (self.folder / "job.yaml").write_text(change(text))
        self.assertCode(self.cluster.muster("apply", "-f", self.folder / "job.yaml"), 0)

    def start(self):
        done = self.cluster.muster("start", "kernel-upgrade", "-p", "version=6.1", "-o", "json")
        self.assertCode(done, 0)
        return json.loads(done.text)["id"]

    def run_of(self, run):
        return self.cluster.get(f"/runs/{run}")

    def stage(self, run, name):
        return next(stage for stage in self.run_of(run)["stages"] if stage["name"] == name)

    def approve(self, run):
        wait_until("the question", lambda: self.stage(run, "go")["state"] == "awaiting_approval")
        self.assertCode(self.cluster.muster("approve", run), 3)  # who started it may not
        self.assertCode(self.cluster.muster("approve", run, environment={"MUSTER_TOKEN": self.second,
                                                                         "MUSTER_TOKEN_FILE": ""}), 0)

    def ends_as(self, run, state):
        try:
            self.cluster.wait_end(run, 240)
        except AssertionError as late:
            self.fail(f"{late}: {self.story(run)}")
        self.assertEqual(self.run_of(run)["state"], state, self.story(run))

    def story(self, run):
        now = self.run_of(run)
        visits = [(visit["visit"], visit["stage"], visit["state"], visit["reason"])
                  for visit in self.cluster.get(f"/runs/{run}/visits")["visits"]]
        odd = [(task["host"], task["state"], task.get("reason"), task.get("end"), task.get("log"))
               for task in self.cluster.tasks_of(run).values() if task["state"] != "succeeded"]
        return "\n".join(map(str, [now["state"], now["reason"], now["logs_open"], now["pause"], *visits, *odd,
                                   self.cluster.muster("why", run).text]))

    def lines(self, *first):
        return [line for line in self.marks.read_text().splitlines() if line.split()[0] in first]

    def hosts_of(self, word):
        return [line.split()[1] for line in self.lines(word)]

    def check_whole(self):
        """What a run that went well has done, each once and in order."""
        for word in ("precheck", "upgrade", "verify", "check"):
            self.assertEqual(sorted(self.hosts_of(word)), self.names, word)
        order = self.lines("upgrade", "verify", "check")
        batches = [self.names[:1], self.names[1:3], self.names[3:]]
        at = 0
        for batch in batches:
            for word in ("upgrade", "verify", "check"):
                part = order[at:at + len(batch)]
                self.assertEqual(sorted(line.split()[1] for line in part), batch, (word, order))
                self.assertEqual({line.split()[0] for line in part}, {word})
                at += len(batch)
        self.assertEqual({line for line in self.lines("upgrade") if "h07" in line}, {"upgrade h07 6.1 from 6.0"})
        self.assertEqual((self.folder / "kernel.h07").read_text(), "kernel 6.1 for h07")
        self.assertEqual([machine.restarts for machine in self.machines], [1] * HOSTS)

    def agree(self, run):
        """Whether `muster show` was compared with the API: not when the run moved on between the two reads."""
        def told(view):
            return view["state"], view["counts"], [(stage["name"], stage["state"], stage["counts"], stage["batch"])
                                                   for stage in view["stages"]]
        before = told(self.run_of(run))
        shown = told(json.loads(self.cluster.muster("show", run, "-o", "json").text))
        if told(self.run_of(run)) != before:
            return False
        self.assertEqual(shown, before)
        return True

    def test_batches_restarts_and_a_second_person(self):
        run = self.start()
        self.approve(run)
        compared = 0
        while self.run_of(run)["state"] == "running":
            compared += self.agree(run)
        self.ends_as(run, "succeeded")
        self.assertTrue(self.agree(run))
        self.assertGreater(compared, 5)
        self.check_whole()

    def test_failure_in_the_second_batch_rolls_back_what_was_touched(self):
        (self.folder / "bad.h03").touch()
        run = self.start()
        self.approve(run)
        self.ends_as(run, "failed")
        self.assertEqual(sorted(self.hosts_of("rollback")), ["h01", "h02", "h03"])
        self.assertEqual(sorted(self.hosts_of("upgrade")), ["h01", "h02", "h03"])

    def test_paused_corrected_and_gone_on_with(self):
        self.write_job("pause")
        (self.folder / "bad.h03").touch()
        run = self.start()
        self.approve(run)
        wait_until("the pause", lambda: self.run_of(run)["state"] == "paused", 120)
        self.assertIn("batch 2", self.run_of(run)["pause"]["reason"])
        self.write_job("pause", lambda text: text.replace('from $2"', 'from $2, fixed"').replace("test ! -e", "true"))
        self.cluster.restart_server()
        # What was approved was another version, so who approves brings this one.
        self.assertCode(self.cluster.muster("retry", run, "--version", "latest"), 3)
        self.assertCode(self.cluster.muster("retry", run, "--version", "latest",
                                            environment={"MUSTER_TOKEN": self.second, "MUSTER_TOKEN_FILE": ""}), 0)
        self.ends_as(run, "succeeded")
        self.assertEqual(self.hosts_of("upgrade").count("h01"), 1)
        self.assertEqual(sorted(set(self.hosts_of("verify"))), self.names)
        self.assertTrue([line for line in self.lines("upgrade") if line.startswith("upgrade h03") and "fixed" in line])

    def test_server_killed_at_random_moments(self):
        kills = int(os.environ.get("MUSTER_KILLS", "5"))  # by hand, more
        moments = random.Random(kills)
        run = self.start()
        self.approve(run)
        for _ in range(kills):
            before = self.marks.read_text().count("\n") + moments.randrange(1, max(2, 50 // kills))
            wait_until("some progress", lambda: self.marks.read_text().count("\n") >= before
                       or self.run_of(run)["state"] != "running", 120)
            self.cluster.restart_server()
        self.ends_as(run, "succeeded")
        self.check_whole()


if __name__ == "__main__":
    unittest.main()
