#!/usr/bin/env python3
"""An operator takes hosts away from everybody with words that are too long.

The attacker holds an operator's token. A host with a `run_as` policy refuses a user that is not allowed, and its reason
names the user. However long the name is, the host must stay online: its reason must not close its link, and not again
with every Hello.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

# More than a server takes of a reason, in the places where a command or a job has words.
LONG = "A" * 5000


class LongWords(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("h1", options=("--run-as", "nobody"))
        cls.cluster.wait_online("h1")

    def start(self, **more):
        body = {"targets": "h1", "command": {"argv": ["true"]}, **more}
        return self.cluster.http("POST", "/api/v1/runs", body=body)

    def assertWorks(self):
        """The host is there, and runs what it is asked for."""
        outcome = self.cluster.muster("run", "-t", "h1", "--yes", "--wait-offline", "30s", "--", "true")
        self.assertCode(outcome, 0)

    def test_user_of_a_command(self):
        for name in (LONG, "A" * 250):
            answer = self.start(user=name)
            if answer.status == 201:
                run = answer.json()["id"]
                self.cluster.wait_end(run)
                self.assertEqual(self.cluster.task_of(run, "h1")["state"], "refused")
            else:
                self.assertEqual(answer.status, 400, answer)
            self.assertWorks()

    def test_folder_and_interpreter(self):
        for more in ({"folder": "/" + LONG}, {"command": {"script": "true", "interpreter": "/" + LONG}},
                     {"folder": "/" + "b" * 4000}, {"command": {"script": "true", "interpreter": "/" + "b" * 4000}}):
            answer = self.start(**more)
            if answer.status == 201:
                self.cluster.wait_end(answer.json()["id"])
            else:
                self.assertEqual(answer.status, 400, answer)
            self.assertWorks()

    def test_words_of_a_job(self):
        file = self.cluster.folder / "long.yaml"
        for owner in (LONG, "a" * 100):
            file.write_text("apiVersion: muster/v1\nkind: job\nname: long\ntargets: h1\nstages:\n  - name: work\n"
                            f"    push: {{content: x, to: /tmp/x, owner: {owner}}}\n")
            if self.cluster.muster("apply", "-f", file).code == 0:
                run = self.cluster.muster("start", "long").text.strip()
                self.cluster.wait_end(run)
            self.assertWorks()


if __name__ == "__main__":
    unittest.main()
