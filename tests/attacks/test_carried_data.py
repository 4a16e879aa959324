#!/usr/bin/env python3
"""A host reports values for the next runs of a trigger, and tries to gain by them.

The attacker is root on h2, or writes what a task there reports (`muster.data.NAME=VALUE` in $MUSTER_OUTPUT). They must not name
a secret, not choose parameters for other hosts unless the trigger's author said so (`carry`), and not stop the trigger or choose when it
fires (`muster.status`, `muster.next`).
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

LOW, CROWN = "low-value-123", "crown-jewels-456"
FAR = "once: 2099-01-01T00:00:00Z"  # started by hand only
REPORT = '[ "$MUSTER_HOST" = h2 ] && echo "{}" >> "$MUSTER_OUTPUT"; true'


class CarriedData(ClusterTest):
    hosts = ("h1", "h2")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        for name, value in (("low", LOW), ("crown", CROWN)):
            assert cls.cluster.muster("secrets", "set", name, stdin=value.encode()).code == 0

    def setUp(self):
        self.name = self._testMethodName.removeprefix("test_").replace("_", "-")[:40].strip("-")
        self.mark = self.cluster.folder / f"{self.name}.mark"

    def tearDown(self):
        self.cluster.muster("delete", "trigger", self.name, "--yes")

    def job(self, param, *script, more=""):
        """Each run notes the parameter's value, by host."""
        lines = [f'echo "$MUSTER_HOST=$MUSTER_PARAM_VALUE" >> {self.mark}', *script]
        return (f"apiVersion: muster/v1\nkind: job\nname: {self.name}\ntargets: h1,h2\n"
                f"params:\n  value: {param}\n{more}stages:\n  - name: work\n    script: |\n"
                + "".join(f"      {line}\n" for line in lines))

    def trigger(self, when=FAR, more=""):
        return f"apiVersion: muster/v1\nkind: trigger\nname: {self.name}\njob: {self.name}\n{when}\n{more}"

    def apply(self, *documents):
        file = self.cluster.folder / f"{self.name}.yaml"
        file.write_text("---\n".join(documents))
        return self.cluster.muster("apply", "-f", file)

    def fire(self):
        """The values of one more run, by host."""
        before = len(self.marks())
        outcome = self.assertCode(self.cluster.muster("triggers", "fire", self.name), 0)
        self.last = outcome.text.strip()
        self.cluster.wait_end(self.last)
        return dict(line.split("=", 1) for line in self.marks()[before:])

    def marks(self):
        return self.mark.read_text().splitlines() if self.mark.exists() else []

    def shown(self):
        return self.cluster.get(f"/triggers/{self.name}")

    def wait_carried(self, value):
        wait_until("it is carried", lambda: self.shown()["data"].get("value") == value)

    def wait_slots(self, count):
        """The trigger once so many slots were started, or it stopped."""
        def far_enough():
            trigger = self.shown()
            return trigger if trigger["started"] >= count or trigger["state"] == "error" else None
        return wait_until(f"{count} runs", far_enough)

    def started_without(self, param):
        """Slots whose row says that a carried value was not used."""
        return [slot for slot in self.cluster.get(f"/triggers/{self.name}/slots", limit=100)["slots"]
                if slot["result"] == "started" and slot["detail"].endswith(param)]

    def test_a_host_names_a_secret(self):
        self.assertCode(self.apply(self.job("{type: secret, default: 'secret:low'}",
                                            REPORT.format("muster.data.value=secret:crown")), self.trigger()), 0)
        self.assertEqual(self.fire(), {"h1": LOW, "h2": LOW})
        self.wait_carried("secret:crown")
        self.assertEqual(self.fire(), {"h1": LOW, "h2": LOW})
        starts = [entry for entry in self.cluster.get("/audit", act="run.start", limit=100)["entries"]
                  if entry["run"] == self.last]
        self.assertEqual(len(starts), 1)
        self.assertEqual(starts[0]["facts"]["secrets"], ["param value=secret:low"])

    def test_carry_of_a_secret(self):
        job = self.job("{type: secret, default: 'secret:low'}")
        self.assertCode(self.apply(job), 0)
        self.assertNotEqual(self.apply(self.trigger(more="carry: [value]\n")).code, 0)
        self.assertNotEqual(self.apply(job, self.trigger(more="carry: [value]\n")).code, 0)
        self.assertCode(self.apply(self.trigger()), 0)

    def test_carried_parameter_becomes_a_secret(self):
        report = REPORT.format("muster.data.value=secret:crown")
        self.assertCode(self.apply(self.job("{default: plain}", report), self.trigger(more="carry: [value]\n")), 0)
        self.fire()
        self.wait_carried("secret:crown")
        self.assertEqual(self.fire(), {host: "secret:crown" for host in self.hosts})
        self.assertCode(self.apply(self.job("{type: secret, default: 'secret:low'}", report)), 0)
        self.assertEqual(self.fire(), {"h1": LOW, "h2": LOW})

    def test_retry_with_a_version_where_it_is_a_secret(self):
        """The run has the reported text as a plain parameter; the corrected job has a secret there."""
        report = REPORT.format("muster.data.value=secret:crown")
        self.assertCode(self.apply(self.job("{default: plain}", report, "exit 1"),
                                   self.trigger(more="carry: [value]\n")), 0)
        self.fire()
        self.wait_carried("secret:crown")
        self.assertEqual(self.fire(), {host: "secret:crown" for host in self.hosts})
        self.assertCode(self.apply(self.job("{type: secret, default: 'secret:low'}")), 0)
        before = len(self.marks())
        self.assertCode(self.cluster.muster("retry", self.last, "--version", "latest"), 0)
        wait_until("it ran again", lambda: self.cluster.run_of(self.last)["state"] == "succeeded")
        self.assertEqual(sorted(self.marks()[before:]), [f"h1={LOW}", f"h2={LOW}"])

    def test_one_host_chooses_for_the_others(self):
        self.assertCode(self.apply(self.job("{default: good}", f'echo "data=$MUSTER_DATA_VALUE" >> {self.mark}',
                                            REPORT.format("muster.data.value=evil")), self.trigger()), 0)
        self.fire()
        self.wait_carried("evil")
        # Scripts that ask for it still find it, by its own name.
        self.assertEqual(self.fire(), {"h1": "good", "h2": "good", "data": "evil"})

    def test_author_allows_it(self):
        self.assertCode(self.apply(self.job("{default: '0'}", REPORT.format("muster.data.value=17")),
                                   self.trigger(more="carry: [value]\n")), 0)
        self.assertEqual(self.fire(), {"h1": "0", "h2": "0"})
        self.wait_carried("17")
        self.assertEqual(self.fire(), {"h1": "17", "h2": "17"})

    def test_value_outside_the_rules_stops_the_trigger(self):
        """Reported without and with the author's leave; both go on with the default, and say so."""
        for more in ("", "carry: [value]\n"):
            with self.subTest(more=more):
                self.assertCode(self.apply(self.job("{type: choice, choices: [a, b], default: a}",
                                                    REPORT.format("muster.data.value=zzz")),
                                           self.trigger("every: 1s", more)), 0)
                self.wait_carried("zzz")
                trigger = self.wait_slots(self.shown()["started"] + 3)
                self.assertNotEqual(trigger["state"], "error", trigger)
        self.assertEqual({line.split("=", 1)[1] for line in self.marks()}, {"a"})
        self.assertTrue(self.started_without("value"))
        self.assertIn("were not used: value", self.cluster.muster("triggers", "show", self.name).text)

    def test_values_past_the_bound_of_all_parameters(self):
        """Each value is allowed; all of them together are more than a run may have."""
        large = "x" * (120 << 10)
        more = "".join(f"  p{number}: {{default: {large}}}\n" for number in range(8))
        more += f"  pad: {{default: {'x' * 20000}}}\n  other: {{default: o}}\n"
        reports = [f"(printf muster.data.{name}=; head -c 30000 /dev/zero | tr '\\0' y; echo) >> $MUSTER_OUTPUT"
                   for name in ("value", "other")]
        self.assertCode(self.apply(self.job("{default: v}", *reports, more=more),
                                   self.trigger("every: 1s", "carry: [value, other]\n")), 0)
        wait_until("it is carried", lambda: {len(value) for value in self.shown()["data"].values()} == {30000})
        trigger = self.wait_slots(self.shown()["started"] + 2)
        self.assertNotEqual(trigger["state"], "error", trigger)
        self.assertTrue(self.started_without("other"))

    def test_resume_with_a_bad_value_carried(self):
        """The trigger stops as its job cannot be started any more; what a host reported does not keep it from going on."""
        rules = "{type: choice, choices: [a, b], default: a}"
        report = REPORT.format("muster.data.value=zzz")
        self.assertCode(self.apply(self.job(rules, report), self.trigger("every: 1s", "carry: [value]\n")), 0)
        self.wait_carried("zzz")
        self.assertCode(self.apply(self.job("{type: choice, choices: [a, b, zzz], required: true}", report)), 0)
        wait_until("it is in error", lambda: self.shown()["state"] == "error")
        self.assertCode(self.apply(self.job(rules, report)), 0)
        started = self.shown()["started"]
        self.assertCode(self.cluster.muster("triggers", "resume", self.name), 0)
        trigger = self.wait_slots(started + 2)
        self.assertNotEqual(trigger["state"], "error", trigger)

    def test_words_about_the_trigger(self):
        for word in ("muster.status=complete", "muster.next=9999-01-01T00:00:00Z", "muster.next=1s"):
            self.assertCode(self.apply(self.job("{default: '0'}", REPORT.format(word)), self.trigger()), 0)
            before = self.shown()["started"]
            self.fire()
            trigger = wait_until("it is over", lambda: self.shown() if self.shown()["state"] != "running" else None)
            self.assertEqual((trigger["state"], trigger["started"], trigger["status"]), ("runnable", before + 1, ""), word)
            self.assertTrue(trigger["next"].startswith("2099-"), trigger["next"])

    def test_words_of_the_few_that_enter_a_stage(self):
        """The host chooses to be alone in a stage: it fails in the one before, or in its batch."""
        word = '[ "$MUSTER_HOST" = {} ] && echo "muster.status=complete" >> "$MUSTER_OUTPUT"; '
        work = "  - name: work\n    max_failures: 1\n    script: '[ \"$MUSTER_HOST\" != h2 ]'\n"
        alone = f"    hosts: failed\n    script: |\n      {word.format('h2')}true\n"
        courses = {
            "branch": work + "    switch: {default: repair}\nbranches:\n  - name: repair\n    recovers: true\n" + alone,
            "finally": work + "finally:\n  - name: tidy\n" + alone,
            "batch": "  - name: roll\n    batches: [1, 100%]\n    on_limit: fail\n    stages:\n      - name: upgrade\n        script: |\n"
                     f"          {word.format('h1')}[ \"$MUSTER_HOST\" != h1 ]\n",
        }
        for course, stages in courses.items():
            with self.subTest(course):
                job = f"apiVersion: muster/v1\nkind: job\nname: {self.name}\ntargets: h1,h2\nstages:\n{stages}"
                self.assertCode(self.apply(job, self.trigger()), 0)
                self.fire()
                trigger = wait_until("it is over", lambda: self.shown() if self.shown()["state"] != "running" else None)
                self.assertEqual((trigger["state"], trigger["status"]), ("runnable", ""))


if __name__ == "__main__":
    unittest.main()
