#!/usr/bin/env python3
"""An operator writes templates and parameters that cost the server much for each host, or that it cannot bear.

The attacker holds an operator's token, or writes a job that another person applies, or has root on a host whose outputs go
into the parameters of a job. The thread that decides evaluates templates for each host again: neither their number, nor the
size of values that are only compared, nor what they come to together may hold it up or take the server's memory. A value is
data: it is never evaluated itself, and the rules of a job's parameters hold for it wherever it comes from.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

JOB = """apiVersion: muster/v1
kind: job
name: {name}
targets: {targets}
{params}stages:
{stages}"""
KIB = 1 << 10


class HeavyTemplates(ClusterTest):
    hosts = ("h1", "h2")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.token = cls.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1].removeprefix("test_").replace("_", "-")

    def mallory(self, *words):
        return self.cluster.muster(*words, environment={"MUSTER_TOKEN": self.token, "MUSTER_TOKEN_FILE": ""})

    def apply(self, stages, params="", name=None, targets="all"):
        file = self.cluster.folder / "job.yaml"
        file.write_text(JOB.format(name=name or self.name, targets=targets, stages=stages,
                                   params=f"params:\n{params}" if params else ""))
        return self.mallory("apply", "-f", file)

    def start(self, body):
        """The answer to a start: large parameters do not fit on a command line."""
        return self.cluster.http("POST", f"/api/v1/jobs/{self.name}/start", body, token=self.token)

    def assertOthersGoOn(self):
        self.assertCode(self.cluster.muster("run", "-t", "h2", "--", "true"), 0)

    def test_very_many_names_in_a_text(self):
        names = ", ".join(["params.a"] * 20_000)
        stages = f"  - name: s\n    script: {{run: 'true', args: ['${{{{ host.name in ({names}) }}}}']}}\n"
        self.assertCode(self.apply(stages, params="  a: {}\n"), 1)
        when = " and ".join(["params.a"] * 20_000)
        self.assertCode(self.apply(f"  - name: s\n    script: 'true'\n    when: {when}\n", params="  a: {}\n"), 1)
        self.assertOthersGoOn()

    def test_very_large_parameter(self):
        self.assertCode(self.apply("  - name: s\n    script: 'true'\n", params="  a: {}\n  b: {}\n"), 0)
        self.assertEqual(self.start({"params": {"a": "x" * (2048 * KIB)}}).status, 400)
        self.assertEqual(self.start({"params": {"a": "x" * (100 * KIB)}}).status, 201)
        many = "".join(f"  p{i}: {{}}\n" for i in range(5_000))
        self.assertCode(self.apply("  - name: s\n    script: 'true'\n", params=many, name="many"), 1)

    def test_values_that_are_only_compared(self):
        names = ", ".join(["params.a"] * 900)
        args = ", ".join([f"'${{{{ host.name in ({names}) }}}}'"] * 20)
        self.assertCode(self.apply(f"  - name: s\n    script: {{run: 'true', args: [{args}]}}\n", params="  a: {}\n"), 0)
        started = self.start({"params": {"a": "x" * (100 * KIB)}})
        self.assertEqual(started.status, 201, started)
        self.assertOthersGoOn()
        self.assertEqual(self.cluster.wait_end(started.json()["id"])["state"], "failed")

    def test_texts_that_are_huge_together(self):
        """They once took gigabytes, and a restart began with them again."""
        for more in ("", "${{ host.name }}"):
            args = ", ".join([f"'${{{{ params.a }}}}{more}'"] * 10_000)
            self.assertCode(self.apply("  - name: first\n    script: 'true'\n  - name: s\n"
                                       f"    script: {{run: 'true', args: [{args}]}}\n", params="  a: {}\n"), 0)
            started = self.start({"params": {"a": "x" * (100 * KIB)}})
            self.assertEqual(started.status, 201, started)
            self.assertEqual(self.cluster.wait_end(started.json()["id"])["state"], "failed")
            self.assertOthersGoOn()

    def test_values_are_not_evaluated(self):
        self.assertCode(self.apply("  - name: s\n    script: 'echo \"$MUSTER_PARAM_A\"'\n", params="  a: {}\n", targets="h1"), 0)
        for value in ("${{ run.by }}", "${{ nothing", "${{ params.a }}"):
            run = self.mallory("start", self.name, "-p", f"a={value}").text.strip()
            self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
            shown = self.cluster.muster("logs", run, "--host", "h1")
            self.assertEqual(shown.text.strip(), value)

    def test_rules_of_a_child_hold_for_what_a_host_reports(self):
        params = "  mode: {type: choice, choices: [slow, fast], default: slow}\n  dir: {pattern: '^/srv/[a-z]+$', default: /srv/a}\n"
        child = f"{self.name}-child"
        self.assertCode(self.apply("  - name: s\n    script: 'true'\n", params=params, name=child), 0)
        for given, state in (("mode: fast", "succeeded"), ("mode: '${{ stages.ask.all.v }}'", "failed"),
                             ("dir: '${{ stages.ask.all.v }}'", "failed")):
            self.assertCode(self.apply("  - name: ask\n    script: 'echo \"v=../../etc ; x\" >> $MUSTER_OUTPUT'\n"
                                       f"  - name: sub\n    job: {{name: {child}, params: {{{given}}}}}\n", targets="h1"), 0)
            run = self.mallory("start", self.name).text.strip()
            self.assertEqual(self.cluster.wait_end(run)["state"], state, given)

    def test_frozen_job_is_not_started_by_another(self):
        child = f"{self.name}-child"
        self.assertCode(self.apply("  - name: s\n    script: 'true'\n", name=child), 0)
        self.assertCode(self.apply(f"  - name: sub\n    job: {child}\n"), 0)
        self.assertCode(self.cluster.muster("freeze", "--job", child, "--reason", "look"), 0)
        self.assertEqual(self.start({}).status, 409)
        self.assertCode(self.cluster.muster("thaw"), 0)
        self.assertEqual(self.start({}).status, 201)


if __name__ == "__main__":
    unittest.main()
