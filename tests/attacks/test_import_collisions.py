"""Imports that replace what others wrote.

The attacker writes a crontab on one host (or an export, or a list of hosts), which an operator imports and applies. It may
decide about that host only: it must not take the place of a job that other hosts use, take hosts out of a trigger, remove an
approval that somebody added, or pass for paused when it runs. It must not use up the operator's memory either.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, ClusterTest, Outcome  # noqa: E402
from process_cost import assert_cost  # noqa: E402

APPROVE = "  - name: allowed\n    approve: Really\n"


class Imports(ClusterTest):
    hosts = ("host1", "host2", "host3")

    def write(self, name, text):
        path = self.cluster.folder / name
        path.write_text(text)
        return path

    def measured(self, words, kilobytes):
        """What `muster` with these words says; it takes no more memory than that."""
        child = subprocess.Popen([str(BIN / "muster"), *map(str, words)], env=self.cluster.environment(),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, complaint = child.stdout.read(), child.stderr.read()
        child.stdout.close()
        child.stderr.close()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert_cost(self, used.ru_maxrss, kilobytes, "kilobytes")
        return Outcome(words, child.returncode, out, complaint)

    def crontab(self, text, *words, code=0):
        file = self.write("one.cron", text)
        return self.assertCode(self.cluster.muster("import", "crontab", file, "--user", "nobody", *words), code)

    def imported(self, text, *words):
        """The trigger that the one line becomes."""
        triggers = json.loads(self.crontab(text, *words, "-o", "json").out)["triggers"]
        self.assertEqual(len(triggers), 1, triggers)
        return triggers[0]["name"]

    def text_of(self, kind, name):
        return self.cluster.get(f"/documents/{kind}/{name}")["text"]

    def targets_of(self, name):
        line = [line for line in self.text_of("trigger", name).splitlines() if line.startswith("targets:")][0]
        return self.cluster.http("POST", "/api/v1/hosts/resolve", {"targets": line[8:].strip(" '\"")}).json()["names"]


class Crontabs(Imports):
    def test_no_line_takes_the_name_of_another(self):
        names = []
        for count, text in ((300, "/opt/backup.sh --all # {}"), (5000, "/opt/backup.sh --all; id # {}")):
            lines = "".join(f"0 3 * * * {text.format(number)}\n" for number in range(count))
            found = json.loads(self.crontab(lines, "--host", "host1", "-o", "json").out)["triggers"]
            names.append({trigger["name"] for trigger in found})
            self.assertEqual(len(names[-1]), count)
        self.assertEqual(names[0] & names[1], set())

    def test_further_hosts_are_added(self):
        line = "0 3 * * * /opt/added.sh\n"
        name = self.imported(line, "-t", "host1,host2", "--apply")
        self.assertEqual(self.cluster.http("POST", f"/api/v1/triggers/{name}/resume", {}).status, 200)
        done = self.crontab("# another comment\n0  3 * * *\t/opt/added.sh\n", "--host", "host3", "--apply")
        self.assertEqual(self.targets_of(name), "host[1-3]")
        self.assertEqual(self.cluster.get(f"/triggers/{name}")["state"], "runnable")
        self.assertNotIn("all paused", done.complaint)
        self.assertIn("not paused", done.complaint)
        # Once more is no change, also of one of them.
        for host in ("host1", "host3"):
            again = self.crontab(line, "--host", host, "--apply")
            self.assertIn(f"trigger {name}  unchanged", again.text)
        self.assertEqual(self.targets_of(name), "host[1-3]")

    def test_an_approval_that_was_added_stays(self):
        line = "0 3 * * * /opt/approved.sh\n"
        name = self.imported(line, "--host", "host1", "--apply")
        job = self.text_of("job", name).replace("stages:\n", "stages:\n" + APPROVE)
        self.assertCode(self.cluster.muster("apply", "-f", self.write("job.yaml", job)), 0)
        kept = (self.text_of("job", name), self.text_of("trigger", name))
        self.assertIn("approve:", kept[0])
        for words in ((), ("--dry-run",)):
            refused = self.crontab(line, "--host", "host2", "--apply", *words, code=1)
            self.assertIn(f"job {name}", refused.complaint)
            self.assertIn("--force", refused.complaint)
            self.assertEqual((self.text_of("job", name), self.text_of("trigger", name)), kept)
        self.crontab(line, "--host", "host2", "--apply", "--force")
        self.assertNotIn("approve:", self.text_of("job", name))
        self.assertEqual(self.targets_of(name), "host[1-2]")

    def test_a_trigger_that_was_changed_stays(self):
        line = "0 3 * * * /opt/changed.sh\n"
        name = self.imported(line, "--host", "host1", "--apply")
        trigger = self.text_of("trigger", name).replace("overlap: skip", "overlap: queue")
        self.assertCode(self.cluster.muster("apply", "-f", self.write("trigger.yaml", trigger)), 0)
        refused = self.crontab(line, "--host", "host2", "--apply", code=1)
        self.assertIn(f"trigger {name}", refused.complaint)
        self.assertIn("overlap: queue", self.text_of("trigger", name))
        self.crontab(line, "--host", "host2", "--apply", "--force")
        self.assertIn("overlap: skip", self.text_of("trigger", name))
        self.assertEqual(self.targets_of(name), "host[1-2]")

    def test_many_variables_cost_their_own_file_only(self):
        bomb = self.write("bomb.cron", "BIG=" + "x" * 130_000 + "\n" + "".join(f"0 1 * * * c{n}\n" for n in range(7000)))
        wide = self.write("wide.cron", "BIG=" + "x" * 60_000 + "\n" + "".join(f"0 1 * * * d{n}\n" for n in range(7000)))
        good = self.write("good.cron", "0 1 * * * fine\n")
        words = ["import", "crontab", bomb, wide, good, "--user", "nobody", "--host", "host1", "-o", "json"]
        answer = json.loads(self.assertCode(self.measured(words, 500_000), 0).out)
        self.assertEqual([trigger["places"][0]["text"] for trigger in answer["triggers"]], ["0 1 * * * fine"])
        lost = [note["file"] for note in answer["notes"] if note["carried"] == "lost"]
        self.assertEqual(lost, [str(bomb), str(wide)])


class OtherImports(Imports):
    def test_a_variable_of_many_groups_is_kept_once(self):
        groups = "".join(f"[g{n}]\nh{n}\n" for n in range(4900))
        file = self.write("wide.ini", f"[all:vars]\nnote={'x' * 200_000}\nrack=r1\n{groups}")
        self.assertCode(self.measured(["hosts", "import", file, "--dry-run"], 300_000), 0)
        many = "".join(f"v{n}={n}\n" for n in range(1000))
        file = self.write("deep.ini", f"[all:vars]\n{many}{groups}")
        self.assertCode(self.measured(["hosts", "import", file, "--dry-run"], 500_000), 1)

    def test_a_job_of_rundeck_is_not_replaced(self):
        def export(command):
            return self.write("jobs.json", json.dumps([{"name": "deploy", "sequence": {"commands": [{"exec": command}]},
                                                        "nodefilters": {"filter": ".*"}}]))

        self.assertCode(self.cluster.muster("import", "rundeck", export("id"), "--apply"), 0)
        kept = self.text_of("job", "deploy")
        for words in ((), ("--dry-run",)):
            refused = self.cluster.muster("import", "rundeck", export("id; reboot"), "--apply", *words)
            self.assertIn("job deploy", self.assertCode(refused, 1).complaint)
            self.assertEqual(self.text_of("job", "deploy"), kept)
        self.assertCode(self.cluster.muster("import", "rundeck", export("id"), "--apply"), 0)
        self.assertCode(self.cluster.muster("import", "rundeck", export("id; reboot"), "--apply", "--force"), 0)
        self.assertNotEqual(self.text_of("job", "deploy"), kept)

    def test_labels_of_hosts_are_not_replaced(self):
        def inventory(zone):
            return self.write("hosts.csv", f"name,zone\nhost1,{zone}\n")

        self.assertCode(self.cluster.muster("hosts", "import", inventory("a")), 0)
        for words in ((), ("--yes",)):
            refused = self.cluster.muster("hosts", "import", inventory("b"), *words)
            self.assertIn("host host1", self.assertCode(refused, 1).complaint)
            self.assertEqual(self.cluster.get("/hosts/host1")["labels"]["zone"], "a")
        self.assertCode(self.cluster.muster("hosts", "import", inventory("b"), "--force"), 0)
        self.assertEqual(self.cluster.get("/hosts/host1")["labels"]["zone"], "b")


if __name__ == "__main__":
    unittest.main()
