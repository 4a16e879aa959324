"""Hosts from a file to their end, with real processes: imported, missing, joined, gone, forgotten."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from terminal import AtTerminal  # noqa: E402

INI = """[web]
web[1:2] rack=r1
[db]
db1 ansible_port=22
[prod:children]
web
db
[prod:vars]
zone=sh1
"""


class Hosts(ClusterTest):
    hosts = ("web1", "gone1")

    def write(self, name, text):
        file = self.cluster.folder / f"{self._testMethodName}-{name}"
        file.write_text(text)
        return file

    def imported(self, *words, code=0, **more):
        return self.assertCode(self.cluster.muster("hosts", "import", *words, **more), code)

    def missing(self):
        answer = self.assertCode(self.cluster.muster("hosts", "--missing", "-o", "json"), 0).json()
        self.assertEqual(answer["total"], len(answer["hosts"]))
        return {host["name"]: host for host in answer["hosts"]}

    def test_inventory_is_imported_and_again_is_unchanged(self):
        file = self.write("hosts.ini", INI)
        plan = self.imported(file, "--dry-run")
        self.assertEqual(plan.text, "group  would be created    3: db,prod,web\nhost   would be created    3: db1,web[1-2]\n")
        self.assertIn(f"{file}:4:5: variable 'ansible_port' was left out", plan.complaint)
        self.assertEqual(self.cluster.muster("get", "host", "web2").code, 4)
        self.assertIn("host   created    3: db1,web[1-2]", self.imported(file).text)
        self.assertEqual(self.imported(file).text, "group  unchanged  3: db,prod,web\nhost   unchanged  3: db1,web[1-2]\n")
        # Of a host that is there already, the labels are there at once.
        self.assertEqual(self.cluster.get("/hosts/web1")["labels"], {"rack": "r1", "zone": "sh1"})
        self.assertRegex(self.assertCode(self.cluster.muster("hosts", "@prod"), 0).text, r"^NAME .*\nweb1 .*\n$")
        file.write_text(INI.replace("sh1", "sh2"))
        changed = self.imported(file, "--force", "-o", "json", "--reason", "moved").json()
        self.assertEqual({one["name"] for one in changed["documents"] if one["result"] == "changed"},
                         {"web1", "web2", "db1"})
        self.assertEqual(len(changed["remarks"]), 1)
        self.assertEqual(self.cluster.get("/hosts/web1")["labels"]["zone"], "sh2")

    def test_bad_files_say_where_and_nothing_is_imported(self):
        file = self.write("bad.csv", "name,zone\nnew1,sh1\nnew2,\"sh1\n")
        self.assertIn(f"{file}:3:6: ", self.imported(file, code=1).complaint)
        self.assertEqual(self.cluster.muster("get", "host", "new1").code, 4)
        self.assertIn("names no hosts", self.imported(self.write("empty", "# none\n"), code=2).complaint)
        self.imported(self.cluster.folder / "no-such-file", code=4)
        self.imported(self.cluster.folder, code=2)
        operator = self.assertCode(self.cluster.muster("tokens", "create", "op", "--role", "operator"), 0).text.split()[-1]
        self.imported("-", "--format", "lines", "--token", operator, stdin=b"new1\n", code=3)

    def test_many_hosts_are_sent_in_parts(self):
        outcome = self.imported("-", stdin=b"many[0001-4500]\n")
        self.assertEqual(outcome.text, "host   created    4,500: many[0001-4500]\n")
        self.assertEqual(self.cluster.get("/missing", limit=5000)["total"], len(self.missing()))
        page = self.cluster.get("/missing", limit=3, cursor=2)
        self.assertEqual((len(page["hosts"]), page["next"]), (3, "5"))
        removed = self.assertCode(self.cluster.muster("hosts", "rm", "many[0001-0003]", "--reason", "never came"), 0)
        self.assertIn("3 hosts no longer known", removed.complaint)
        self.assertNotIn("many0003", self.missing())
        self.assertIn("many0004", self.missing())

    def test_missing_hosts_come_go_and_are_forgotten(self):
        self.imported("-", stdin=b"later\n")
        late = self.missing()["later"]
        self.assertEqual((late["state"], late["declared"], late["last_seen"]), ("never_joined", True, None))
        self.assertIsNotNone(late["since"])
        shown = self.assertCode(self.cluster.muster("hosts", "--missing"), 0)
        self.assertRegex(shown.text, r"later +never joined +\d+s ago +never +yes")
        self.cluster.add_agents("later")
        self.assertNotIn("later", self.missing())
        self.assertIn("online", self.assertCode(self.cluster.muster("hosts", "rm", "later"), 1).complaint)
        run = self.cluster.start_run("-t", "later", "--", "sleep 600")
        self.cluster.wait_task(run, "later", "running")
        self.cluster.agents["later"].end()
        self.cluster.wait_offline("later")
        self.assertEqual(self.missing()["later"]["state"], "offline")
        waiting = self.cluster.start_run("-t", "later", "--wait-offline", "1h", "--", "true")
        self.assertCode(self.cluster.muster("hosts", "rm", "later", "--reason", "scrapped"), 0)
        self.assertEqual(self.cluster.wait_task(run, "later", "lost")["state"], "lost")
        self.assertEqual(self.cluster.wait_task(waiting, "later", "unreachable")["state"], "unreachable")
        self.assertNotIn("later", self.missing())
        self.cluster.restart_server()
        self.assertEqual(self.cluster.muster("hosts", "later").code, 4)
        entry = self.cluster.get("/audit", act="host.remove")["entries"][0]
        self.assertEqual((entry["object"], entry["reason"]), ("host later", "scrapped"))
        self.assertCode(self.cluster.muster("hosts", "rm", "later"), 4)

    def test_expressions_reach_revoked_hosts_and_those_that_never_joined(self):
        self.imported("-", "--format", "csv", stdin=b"name,rack\nold1,r9\nold2,r9\nold3,r9\n")
        self.cluster.add_agents("old1", "old2")
        self.assertCode(self.cluster.muster("agents", "revoke", "old1"), 0)
        self.assertEqual(self.missing()["old1"]["state"], "revoked")
        # One is still connected, and stays; the others go.
        outcome = self.assertCode(self.cluster.muster("hosts", "rm", "rack=r9"), 1)
        self.assertIn("host 'old2' is online", outcome.complaint)
        self.assertIn("2 hosts no longer known", outcome.complaint)
        self.assertEqual({"old1", "old3"} & set(self.missing()), set())
        self.assertEqual(self.cluster.get("/hosts/old2")["labels"]["rack"], "r9")
        self.assertCode(self.cluster.muster("hosts", "rm", "rack=r10"), 4)
        self.assertCode(self.cluster.muster("hosts", "rm", "@web and web1"), 2)

    def test_a_person_is_asked_first(self):
        file = self.write("hosts", "asked[1-3]\n")
        self.imported("-", "--format", "csv", stdin=b"name\nabsent1\n")
        for words, plan, answer in ((["hosts", "import", file], "would be created .*asked\\[1-3\\]", "n\n"),
                                    (["hosts", "rm", "absent1"], "Forget host absent1", "\n")):
            asked = AtTerminal(words, self.cluster.environment())
            self.addCleanup(asked.close)
            asked.wait_for(plan)
            asked.wait_for(r"\[y/N\] ")
            asked.type(answer)
            code, text = asked.finish()
            self.assertEqual(code, 130)
            self.assertIn("nothing was done", text)
        self.assertEqual(self.cluster.muster("get", "host", "asked1").code, 4)
        self.assertIn("absent1", self.missing())

    def test_offline_host_was_last_seen_when_it_spoke_last(self):
        self.cluster.wait_online("gone1")
        before = self.cluster.get("/hosts/gone1")["last_hello"]
        self.assertCode(self.cluster.muster("run", "-t", "gone1", "--", "true"), 0)
        self.cluster.agents["gone1"].end()
        self.cluster.wait_offline("gone1")
        gone = self.missing()["gone1"]
        self.assertEqual((gone["state"], gone["declared"]), ("offline", False))
        self.assertGreater(gone["last_seen"], before)
        self.cluster.restart_server()
        self.assertEqual(self.missing()["gone1"]["last_seen"], gone["last_seen"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
