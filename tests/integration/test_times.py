"""Times as they are shown: local at a terminal, RFC 3339 in UTC everywhere else."""

import datetime
import re
import sys
import unittest
import zoneinfo
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from terminal import AtTerminal  # noqa: E402

ZONE = "Asia/Kathmandu"  # +05:45: no other zone passes for it
API_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def local(time, zone=ZONE):
    """A time of the API as a terminal shows it."""
    moment = datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(zoneinfo.ZoneInfo(zone))
    return moment.strftime("%Y-%m-%d %H:%M:%S %Z")


class Times(ClusterTest):
    hosts = ("web1",)

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.run_id = cls.cluster.start_run("-t", "web1", "--", "echo hello")
        cls.cluster.wait_end(cls.run_id)
        cls.created = cls.cluster.get(f"/runs/{cls.run_id}")["created"]

    def at_terminal(self, *words, **environment):
        terminal = AtTerminal(words, {**self.cluster.environment(), "TZ": ZONE, **environment}, columns=200)
        self.addCleanup(terminal.close)
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        return shown

    def test_a_terminal_shows_the_local_zone(self):
        self.assertIn(f"started  {local(self.created)} by admin", self.at_terminal("show", self.run_id))
        self.assertIn(f"started  {local(self.created, 'America/New_York')} by admin",
                      self.at_terminal("show", self.run_id, TZ="America/New_York"))

    def test_utc_is_an_option_and_a_variable(self):
        utc = f"started  {local(self.created, 'UTC')} by admin"
        self.assertIn(utc, self.at_terminal("show", self.run_id, "--utc"))
        self.assertIn(utc, self.at_terminal("show", self.run_id, MUSTER_UTC="1"))
        for value in ("0", ""):
            self.assertIn(local(self.created), self.at_terminal("show", self.run_id, MUSTER_UTC=value))

    def test_pipes_and_documents_have_the_api_s_own(self):
        environment = {"TZ": ZONE}
        for words in (["show", self.run_id], ["--utc", "show", self.run_id]):
            shown = self.assertCode(self.cluster.muster(*words, environment=environment), 0)
            self.assertIn(f"started  {self.created} by admin", shown.text)
        self.assertIn(f'"{self.created}"', self.at_terminal("show", self.run_id, "-o", "json"))

    def test_no_command_shows_another_kind(self):
        self.assertCode(self.cluster.muster("tokens", "create", "guest", "--role", "viewer", "--expires", "90d"), 0)
        self.assertCode(self.cluster.muster("agents", "invite"), 0)
        self.assertCode(self.cluster.muster("freeze", "triggers", "--reason", "x", "--for", "2h"), 0)
        self.assertCode(self.cluster.muster("hosts", "maintenance", "web1", "--reason", "x", "--for", "2h"), 0)
        guest = next(token for token in self.cluster.get("/tokens")["tokens"] if token["name"] == "guest")
        expected = {("tokens", "list"): guest["expires"], ("audit",): self.cluster.get("/audit")["entries"][-1]["at"],
                    ("invites",): self.cluster.get("/invites")["invites"][0]["expires"],
                    ("freeze", "--list"): self.cluster.get("/freezes")["freezes"][0]["until"],
                    ("hosts",): self.cluster.get("/hosts")["hosts"][0]["maintenance"]["until"], ("status",): None,
                    ("check", "slots"): None, ("check", "history"): None, ("debug", "log"): None}
        for words, time in expected.items():
            with self.subTest(command=words):
                shown = self.at_terminal(*words)
                self.assertNotRegex(shown, API_TIME)
                if time:
                    self.assertIn(local(time), shown)

    def test_lines_of_output_keep_their_milliseconds(self):
        for zone, offset in ((ZONE, r"\+05:45"), ("UTC", r"\+00:00")):
            shown = self.at_terminal("logs", self.run_id, "--timestamps", TZ=zone)
            self.assertRegex(shown, rf"\d\d:\d\d:\d\d\.\d{{3}}{offset} hello\n")
        self.assertRegex(self.cluster.muster("logs", self.run_id, "--timestamps").text, rf"^{API_TIME.pattern} hello\n$")

    def test_what_is_shown_can_be_given_back(self):
        shown = local(self.created)
        for since, found in ((shown, True), (shown.rpartition(" ")[0], True), ("2999-01-01", False)):
            with self.subTest(since=since):
                listed = self.cluster.muster("runs", "--since", since, "-o", "json", environment={"TZ": ZONE})
                self.assertEqual(self.run_id in [run["id"] for run in self.assertCode(listed, 0).json()["runs"]], found)
        reading = local(self.created, "UTC").rpartition(" ")[0]
        for words, environment in ((["--utc"], {"TZ": ZONE}), ([], {"TZ": ZONE, "MUSTER_UTC": "1"})):
            listed = self.cluster.muster("runs", "--until", reading, *words, "-o", "json", environment=environment)
            self.assertNotIn(self.run_id, [run["id"] for run in self.assertCode(listed, 0).json()["runs"]])


if __name__ == "__main__":
    unittest.main()
