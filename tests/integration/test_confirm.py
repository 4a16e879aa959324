"""When the command line asks before it destroys something or cuts somebody off: one rule for all commands."""

import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from terminal import CONTROL_C, CONTROL_D, AtTerminal  # noqa: E402


def job(name):
    return f"apiVersion: muster/v1\nkind: job\nname: {name}\nstages:\n  - name: one\n    script: echo\n"


class Asks(ClusterTest):
    hosts = ("web1", "web2", "web3")

    def at_terminal(self, *words, **elsewhere):
        terminal = AtTerminal(words, self.cluster.environment(), **elsewhere)
        self.addCleanup(terminal.close)
        return terminal

    def refuses(self, *words, question, answer="n\n", typed=None):
        """Asks with the number and where, and does nothing."""
        terminal = self.at_terminal(*words)
        way = f"Type {typed} to go on: " if typed else "\\[y/N\\] "
        terminal.wait_for(f"{question} in {self.cluster.url}\\? {way}")
        terminal.type(answer)
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)

    def agrees(self, *words, typed=None):
        terminal = self.at_terminal(*words)
        terminal.wait_for(f"Type {typed} to go on: " if typed else r"\[y/N\] ")
        terminal.type(f"{typed or 'y'}\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)

    def quietly(self, *words, **elsewhere):
        """Goes on without a question."""
        code, shown = self.at_terminal(*words, **elsewhere).finish()
        self.assertEqual(code, 0, shown)
        self.assertNotIn("?", shown)

    def quietly_refused(self, *words, code):
        """Refused without a question."""
        ended, shown = self.at_terminal(*words).finish()
        self.assertEqual(ended, code, shown)
        self.assertNotIn("[y/N]", shown)

    def apply(self, *names):
        folder = self.cluster.folder / "jobs"
        folder.mkdir(exist_ok=True)
        for file in folder.iterdir():
            file.unlink()
        for name in names:
            (folder / f"{name}.yaml").write_text(job(name))
        return folder

    def state_of(self, token):
        return next(one["state"] for one in self.cluster.get("/tokens")["tokens"] if one["name"] == token)

    def test_tokens(self):
        for name in ("t1", "t2", "t3"):
            self.assertCode(self.cluster.muster("tokens", "create", name, "--role", "viewer"), 0)
        self.refuses("tokens", "revoke", "t1", question=r"Revoke token t1 \(\w+\)")
        self.assertEqual(self.state_of("t1"), "active")
        self.agrees("tokens", "revoke", "t1")
        self.quietly("tokens", "revoke", "t2", "--yes")
        self.quietly("tokens", "revoke", "t3", stdin=subprocess.DEVNULL)
        self.assertEqual({self.state_of(name) for name in ("t1", "t2", "t3")}, {"revoked"})

    def test_looks_before_it_asks(self):
        for words in (("tokens", "revoke", "nosuch"), ("agents", "revoke", "nosuch"), ("secrets", "rm", "nosuch"),
                      ("delete", "job", "nosuch")):
            with self.subTest(words=words):
                code, shown = self.at_terminal(*words).finish()
                self.assertEqual(code, 4, shown)
                self.assertNotIn("?", shown)
        code, shown = self.at_terminal("tokens", "revoke", "admin", "--yes").finish()
        self.assertEqual(code, 1, shown)
        self.assertIn("admin.token", shown)

    def test_token_that_was_revoked_already(self):
        self.assertCode(self.cluster.muster("tokens", "create", "vera", "--role", "viewer"), 0)
        self.assertIn("is revoked", self.cluster.muster("tokens", "revoke", "vera", "--yes").complaint)
        code, shown = self.at_terminal("tokens", "revoke", "vera").finish()
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, r"vera was revoked already at \d{4}-\S+ \d\d:\d\d:\d\d \S+ by admin")
        entries = self.cluster.get("/audit", act="token.revoke")["entries"]
        self.assertEqual([entry["object"] for entry in entries].count("token vera"), 1)

    def test_approve_shows_what_it_approves(self):
        file = self.cluster.folder / "asking.yaml"
        file.write_text("apiVersion: muster/v1\nkind: job\nname: asking\ntargets: web1\nstages:\n"
                        "  - name: ask\n    approve: {message: 'Go on?'}\n  - name: work\n    script: 'true'\n")
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)
        self.addCleanup(self.cluster.muster, "delete", "job", "asking", "--yes")
        run = self.cluster.muster("start", "asking").text.strip()
        self.assertCode(self.cluster.muster("set", run, "concurrency=1"), 0)
        self.refuses("approve", run, question=f"Approve stage ask of {run}")
        terminal = self.at_terminal("approve", run)
        terminal.wait_for(f"{run}: asking \\(version 1\\) on 1 host, by admin; changed: concurrency=1; ask asks: Go on")
        terminal.wait_for(r"\[y/N\] ")
        # What was shown is not what waits any more.
        self.assertCode(self.cluster.muster("set", run, "concurrency=2"), 0)
        terminal.type("y\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 1, shown)
        self.assertIn("changed since it was shown", " ".join(shown.split()))
        self.assertEqual(self.cluster.run_of(run)["stages"][0]["state"], "awaiting_approval")
        self.quietly("approve", run, "--yes")
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")

    def test_every_other_answer_is_no(self):
        self.assertCode(self.cluster.muster("tokens", "create", "kept", "--role", "viewer"), 0)
        self.quietly_refused("tokens", "revoke", "admin", code=1)
        for answer in ("\n", "no\n", "yess\n", CONTROL_C, CONTROL_D):
            with self.subTest(answer=answer):
                self.refuses("tokens", "revoke", "kept", question=r"Revoke token kept \(viewer\)", answer=answer)
        self.assertEqual(self.state_of("kept"), "active")

    def test_keys_typed_before_the_question_are_no_answer(self):
        self.assertCode(self.cluster.muster("tokens", "create", "early", "--role", "viewer"), 0)
        self.cluster.server.process.send_signal(signal.SIGSTOP)  # so that the question comes later than the keys
        try:
            terminal = self.at_terminal("tokens", "revoke", "early")
            terminal.type("y\n")
            terminal.wait_for("y")  # the terminal shows what is typed
        finally:
            self.cluster.server.process.send_signal(signal.SIGCONT)
        terminal.wait_for(r"\[y/N\] ")
        terminal.type("\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertEqual(self.state_of("early"), "active")

    def test_last_run_is_what_the_person_started(self):
        file = self.cluster.folder / "inside.yaml"
        file.write_text("apiVersion: muster/v1\nkind: job\nname: inner\ntargets: web1\nstages: [{name: w, script: sleep 600}]\n"
                        "---\napiVersion: muster/v1\nkind: job\nname: outer\ntargets: web1\nstages: [{name: j, job: inner}]\n")
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)
        outer = self.assertCode(self.cluster.muster("start", "outer"), 0).text.strip()
        wait_until("it has a run inside", lambda: any(run["parent"] == outer for run in self.cluster.get("/runs")["runs"]))
        self.refuses("stop", question=rf"Stop {outer} \(outer, 1 host, running\)")
        self.agrees("stop")
        self.assertEqual(self.cluster.wait_end(outer)["state"], "cancelled")
        for job in ("outer", "inner"):
            self.assertCode(self.cluster.muster("delete", "job", job), 0)

    def test_secrets_and_documents(self):
        self.assertCode(self.cluster.muster("secrets", "set", "s", stdin=b"value"), 0)
        self.refuses("secrets", "rm", "s", question="Forget secret s")
        self.agrees("secrets", "rm", "s")
        self.assertCode(self.cluster.muster("apply", "-f", self.apply("j1")), 0)
        self.refuses("delete", "job", "j1", question="Delete job j1")
        self.agrees("delete", "job", "j1")
        self.assertCode(self.cluster.muster("get", "job", "j1"), 4)

    def test_prune_tells_what_would_go(self):
        self.assertCode(self.cluster.muster("apply", "-f", self.apply("a", "b", "c")), 0)
        folder = self.apply("a")
        self.refuses("apply", "-f", folder, "--prune", question="job b, job c\nDelete 2 documents")
        self.assertCode(self.cluster.muster("get", "job", "b"), 0)
        self.quietly("apply", "-f", folder, "--prune", "--dry-run")
        self.agrees("apply", "-f", folder, "--prune")
        self.assertCode(self.cluster.muster("get", "job", "b"), 4)
        self.quietly("apply", "-f", folder, "--prune")  # nothing would be deleted

    def test_maintenance_by_the_number_of_hosts(self):
        words = ("hosts", "maintenance", "web[1-2]", "--reason", "disks")
        self.refuses(*words, question=r"web\[1-2\]\nPut 2 hosts into maintenance")
        self.assertIsNone(self.cluster.get("/hosts/web1").get("maintenance"))
        self.agrees(*words)
        replaced = r"web1 is in maintenance \(admin: disks\)\n(.*\n)+This replaces it.*\n"
        self.refuses("hosts", "maintenance", "web[1-2]", "--for", "5m", "--reason", "short",
                     question=replaced + "Put 2 hosts into maintenance")
        self.refuses("hosts", "maintenance", "web[1-2]", "--end", question="End the maintenance of 2 hosts")
        self.agrees("hosts", "maintenance", "web[1-2]", "--end")
        self.assertCode(self.cluster.muster("hosts", "maintenance", "web1", "--reason", "disks"), 0)
        self.quietly("hosts", "maintenance", "web[1-2]", "--end")
        terminal = self.at_terminal("hosts", "maintenance", "all", "--reason", "disks")
        terminal.wait_for("Type 3 to go on: ")
        terminal.type("y\n")
        self.assertEqual(terminal.finish()[0], 130)

    def test_freezes(self):
        self.refuses("freeze", "--reason", "r", question="Refuse every new run")
        self.refuses("freeze", "triggers", "--reason", "r", question="Refuse new runs that triggers start")
        self.assertEqual(self.cluster.get("/freezes")["freezes"], [])
        self.agrees("freeze", "triggers", "--reason", "r")
        self.quietly("freeze", "events", "--reason", "r", "-y")
        self.refuses("thaw", "--all", question="End 2 freezes", typed="2")
        self.quietly("thaw", self.cluster.get("/freezes")["freezes"][0]["id"])
        self.agrees("thaw", "--all", typed="1")
        self.assertEqual(self.cluster.get("/freezes")["freezes"], [])

    def test_many_runs(self):
        runs = [self.cluster.start_run("-t", "web1", "--", "sleep 100") for _ in range(2)]
        self.refuses("stop", "--all", question=f"{runs[0]}, {runs[1]}\nStop 2 open runs", typed="2")
        self.refuses("stop", "--all", "--host", "web1", question="Stop 2 open runs, only on host web1,", typed="2")
        self.quietly("stop", "--all", "--host", "web2")  # which none of them has
        self.agrees("stop", "--all", "--grace", "0", typed="2")
        for run in runs:
            self.assertEqual(self.cluster.wait_end(run)["state"], "cancelled")

    def test_runs_of_one_job(self):
        folder = self.apply("slow")
        (folder / "slow.yaml").write_text(job("slow").replace("script: echo", "script: sleep 100"))
        self.assertCode(self.cluster.muster("apply", "-f", folder), 0)
        other = self.cluster.start_run("-t", "web1", "--", "sleep 100")
        self.addCleanup(self.cluster.muster, "kill", other)
        mine = self.cluster.muster("start", "slow", "-t", "web1").text.strip()
        self.assertCode(self.cluster.muster("stop", "--all", "--job", "slow"), 2)
        self.refuses("stop", "--job", "slow", question=f"{mine}\nStop 1 open run of slow")
        self.agrees("stop", "--job", "slow", "--grace", "0")
        self.assertEqual(self.cluster.wait_end(mine)["state"], "cancelled")
        self.assertEqual(self.cluster.run_of(other)["state"], "running")

    def test_work_on_all_hosts_is_asked_for_however_it_starts(self):
        folder = self.apply("wide")
        (folder / "wide.yaml").write_text(job("wide").replace("stages:", "targets: all\nstages:") +
                                          "---\napiVersion: muster/v1\nkind: trigger\nname: wide\njob: wide\n"
                                          "cron: '0 0 * * *'\n")
        self.assertCode(self.cluster.muster("apply", "-f", folder), 0)
        run = self.cluster.muster("start", "wide", "--yes").text.strip()
        self.cluster.wait_end(run)

        def passes():
            runs = self.cluster.get("/runs", limit=100)["runs"]
            return sum(one["pass"] for one in runs if one["job"] == "wide")
        self.assertEqual(passes(), 1)
        backfill = ("triggers", "backfill", "wide", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z")
        for words, question in ((("start", "wide"), "Start wide"),
                                (("triggers", "fire", "wide"), "Fire wide"),
                                (backfill, "Start 2 slots of wide one after the other, each"),
                                (("retry", run, "--from-start"), f"Retry {run}"),
                                (("retry", run, "--from", "one", "--all-hosts"), f"Retry {run}")):
            with self.subTest(words=words):
                self.refuses(*words, question=rf"web\[1-3\]\n{question} on 3 hosts", typed="3")
                self.assertEqual(passes(), 1)
        self.agrees("triggers", "fire", "wide", typed="3")
        self.quietly("triggers", "fire", "wide", "--yes", "--despite-overlap")
        self.quietly("retry", run, "--from-start", stdin=subprocess.DEVNULL)
        self.assertEqual(passes(), 4)
        self.quietly(*backfill, "--yes")
        wait_until("both slots have run", lambda: passes() == 6)
        # A part of them is nothing to ask about.
        self.assertCode(self.cluster.muster("start", "wide", "-t", "web1,web2", "--yes"), 0)
        self.quietly("start", "wide", "-t", "web1,web2")

    def test_retry_of_the_few_hosts_that_failed(self):
        folder = self.apply("some")
        (folder / "some.yaml").write_text(job("some").replace("stages:", "targets: all\nstages:").replace(
            "script: echo", "script: '[ $MUSTER_HOST != web2 ]'"))
        self.assertCode(self.cluster.muster("apply", "-f", folder), 0)
        run = self.cluster.muster("start", "some", "--yes").text.strip()
        self.cluster.wait_end(run)
        self.quietly("retry", run)
        self.assertEqual(self.cluster.wait_end(run)["pass"], 2)

    def refused(self, *words, code, environment=None):
        """Without a question."""
        terminal = AtTerminal(words, {**self.cluster.environment(), **(environment or {})})
        self.addCleanup(terminal.close)
        got, shown = terminal.finish()
        self.assertEqual(got, code, shown)
        for question in ("[y/N]", "to go on", "Value of"):
            self.assertNotIn(question, shown)
        return shown

    def test_looks_before_it_asks_about_hosts_and_servers(self):
        self.refused("hosts", "rm", "nohost", code=4)
        self.refused("hosts", "rm", "web1", code=1)
        self.refused("hosts", "rm", "web[1-2]", code=1)
        self.refused("servers", "drain", "nope", code=4)

    def test_role_is_looked_at_before_the_question(self):
        token = self.cluster.muster("tokens", "create", "vic", "--role", "viewer").text.strip()
        viewer = {"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""}
        file = self.cluster.folder / "gate.yaml"
        file.write_text("apiVersion: muster/v1\nkind: job\nname: gate\ntargets: web1\nstages:\n"
                        "  - name: ask\n    approve: {message: 'Go on?', by: [vic, bea], not: starter}\n")
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)
        self.addCleanup(self.cluster.muster, "delete", "job", "gate", "--yes")
        run = self.cluster.muster("start", "gate").text.strip()
        wait_until("it waits", lambda: self.cluster.run_of(run)["stages"][0]["state"] == "awaiting_approval")
        self.refused("approve", run, code=3, environment=viewer)
        self.refused("approve", run, code=3)  # it started the run
        self.refused("servers", "finalize", code=3, environment=viewer)
        self.refused("agents", "revoke", "web1", code=3, environment=viewer)
        self.refused("stop", "--all", code=3, environment=viewer)
        # Who may answer, and who did.
        self.assertIn("by       vic, bea, not admin\n", self.cluster.muster("show", run).text)
        self.assertIn("by vic, bea, not admin;", self.cluster.muster("why", run).text)
        token = self.cluster.muster("tokens", "create", "bea", "--role", "operator").text.strip()
        bea = {"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""}
        self.assertCode(self.cluster.muster("approve", run, "--comment", "fine", environment=bea), 0)
        self.cluster.wait_end(run)
        for words in (("show", run), ("why", run)):
            self.assertRegex(self.cluster.muster(*words).text, r"ask was approved by bea at \S+: fine\n")

    def test_role_is_looked_at_by_every_command_that_asks(self):
        folder = self.apply("kept")
        (folder / "absent.yaml").write_text("apiVersion: muster/v1\nkind: host\nname: absent\n")
        self.assertCode(self.cluster.muster("apply", "-f", folder), 0)
        self.assertCode(self.cluster.muster("secrets", "set", "kept", stdin=b"value"), 0)
        self.assertCode(self.cluster.muster("freeze", "triggers", "--reason", "r", "--yes"), 0)
        for words in (("delete", "job", "kept"), ("delete", "host", "absent"), ("secrets", "rm", "kept"), ("thaw", "--all")):
            self.addCleanup(self.cluster.muster, *words, "--yes")
        run = self.cluster.start_run("-t", "web1", "--", "sleep 100")
        self.addCleanup(self.cluster.muster, "kill", run)
        inventory = self.cluster.folder / "inventory.txt"
        inventory.write_text("declared\n")
        server = self.cluster.get("/servers")["servers"][0]["name"]
        of_operators = (("delete", "job", "kept"), ("hosts", "maintenance", "web1", "--reason", "r"), ("freeze", "--reason", "r"),
                        ("thaw", "--all"), ("stop", "--all"), ("run", "-t", "all", "--", "true"))
        of_admins = (("delete", "host", "absent"), ("secrets", "rm", "kept"), ("secrets", "set", "kept", "--prompt"),
                     ("secrets", "set", "new", "--prompt"), ("hosts", "label", "all", "a=b"), ("hosts", "rm", "absent"),
                     ("hosts", "import", inventory), ("agents", "revoke", "web1"), ("tokens", "revoke", "viewer1"),
                     ("servers", "drain", server), ("servers", "finalize"))
        for role, refused in (("viewer", of_operators + of_admins), ("operator", of_admins)):
            token = self.cluster.muster("tokens", "create", f"{role}1", "--role", role).text.strip()
            for words in refused:
                with self.subTest(role=role, words=words):
                    shown = self.refused(*words, code=3, environment={"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""})
                    self.assertNotIn("nothing was", shown)
        self.assertCode(self.cluster.muster("get", "job", "kept"), 0)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")

    def test_import_of_many_hosts_by_their_number(self):
        inventory = self.cluster.folder / "many.txt"
        inventory.write_text("".join(f"many{i}\n" for i in range(60)))
        self.refuses("hosts", "import", inventory, question="Import 60 documents", answer="y\n", typed="60")
        self.assertEqual(self.cluster.get("/missing")["hosts"], [])
        inventory.write_text("few1\nfew2\n")
        self.refuses("hosts", "import", inventory, question="Import 2 documents")

    def test_secret_that_is_replaced(self):
        self.assertIn("created, version 1", self.cluster.muster("secrets", "set", "pw", stdin=b"value-1").complaint)
        self.assertIn("replaced, version 2", self.cluster.muster("secrets", "set", "pw", stdin=b"value-2").complaint)
        self.refuses("secrets", "set", "pw", "--prompt", question="Replace secret pw, version 2,")
        terminal = self.at_terminal("secrets", "set", "pw", "--prompt", "--yes")
        for question in ("Value of pw: ", "Once more: "):
            terminal.wait_for(question)
            terminal.wait_for_secret_mode()
            terminal.type("value-3\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertIn("replaced, version 3", shown)

    def test_hosts_that_are_cut_off(self):
        self.cluster.add_agents("gone")
        self.refuses("agents", "revoke", "gone", question="Refuse the key of host gone and lose what it runs")
        self.assertIn("gone", self.cluster.online())
        self.agrees("agents", "revoke", "gone")
        self.assertIn("was revoked already", self.refused("agents", "revoke", "gone", code=0))
        wait_until("gone is offline", lambda: "gone" not in self.cluster.online())
        self.refuses("hosts", "rm", "gone", question="Forget host gone and what is known of it")
        self.agrees("hosts", "rm", "gone")

    def test_servers(self):
        self.refuses("servers", "finalize", question="End the upgrade and lock out servers of an older version")


if __name__ == "__main__":
    unittest.main()
