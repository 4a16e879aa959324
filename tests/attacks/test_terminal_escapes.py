"""Text of others on a terminal and in a log.

The attacker chooses texts that somebody else reads: the reason of a freeze, a run's title, what a host prints, what a
remote server answers, the error of a server that was taken over. An escape sequence in it can repaint the screen, set
the clipboard, answer for the reader, or hide what stands beside it; a newline can forge a line, a question, or an entry
of the server's log. The attacker must not have a control character (C0, C1), a change of the reading order, or a line
of their own reach the reader's terminal or the log.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, clean_environment, wait_until  # noqa: E402
from terminal import AtTerminal  # noqa: E402

FORGED = "FORGED-LINE all hosts are well"
# A title for the window, the clipboard, CSI in one character, a carriage return, the reading order, a line of its own.
HOSTILE = f"x\x1b]0;owned\x07\x1b[2J\x1b[8m\x9b31m\x85\r\x7f\u202edlrow\u2066\u2028\n{FORGED}"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Screens(ClusterTest):
    def at_terminal(self, *words, environment=None, **elsewhere):
        terminal = AtTerminal(words, environment or self.cluster.environment(), **elsewhere)
        self.addCleanup(terminal.close)
        return terminal

    def assertHarmless(self, text, about=""):
        self.assertIsNone(CONTROLS.search(text), f"{about}: {text!r}")
        forged = [line for line in text.splitlines() if line.lstrip().startswith(FORGED)]
        self.assertEqual(forged, [], f"{about}: {text!r}")

    def see(self, *words, code=None, environment=None):
        """What a person sees of a command that asks nothing; it must be harmless."""
        got, text = self.at_terminal(*words, environment=environment, stdin=subprocess.DEVNULL).finish()
        self.assertHarmless(text, words)
        if code is not None:
            self.assertEqual(got, code, text)
        return text


class TextsOfOthers(Screens):
    hosts = ("h1", "h2")

    def post(self, path, body):
        answer = self.cluster.http("POST", "/api/v1" + path, body)
        self.assertIn(answer.status, (200, 201, 202), answer)
        return answer.json()

    def test_reason_of_a_freeze(self):
        frozen = self.post("/freezes", {"scope": "all", "job": "", "reason": HOSTILE})["freezes"][0]["id"]
        try:
            for words, code in ((("freeze", "--list"), 0), (("status",), 0), (("audit",), 0),
                                (("run", "-t", "h1", "--dry-run", "--", "true"), 0),
                                (("run", "-t", "h1", "--", "true"), None)):
                with self.subTest(words=words):
                    self.assertIn("owned", self.see(*words, code=code))
        finally:
            self.assertIn("owned", self.see("thaw", frozen, code=0))
        self.assertEqual(self.cluster.get("/freezes")["freezes"], [])

    def test_reason_of_maintenance(self):
        self.post("/hosts/maintenance", {"targets": "h2", "reason": HOSTILE})
        try:
            for words in (("hosts",), ("run", "-t", "h1,h2", "--dry-run", "--", "true"), ("run", "-t", "h1,h2", "--", "true"),
                          ("show",), ("runs",)):
                with self.subTest(words=words):
                    self.see(*words, code=0)
        finally:
            self.cluster.muster("hosts", "maintenance", "h2", "--end")

    def test_title_and_reason_of_a_run(self):
        run = self.post("/runs", {"targets": "h1", "command": {"script": "sleep 100"}, "title": HOSTILE[:180],
                                  "reason": HOSTILE})["id"]
        self.cluster.wait_task(run, "h1", "running")
        for words in (("runs",), ("show", run), ("why", run), ("why",), ("audit",), ("trace", run)):
            with self.subTest(words=words):
                self.see(*words)
        # The question is one line, whatever the title holds, and it is the last one.
        terminal = self.at_terminal("stop", "--grace", "0")
        asked = terminal.wait_for(r"(?s)^(.*)\[y/N\] $").group(1)
        self.assertHarmless(asked)
        self.assertEqual(asked.count("\n"), 0, asked)
        terminal.type("y\n")
        self.assertEqual(terminal.finish()[0], 0)
        self.cluster.wait_end(run)
        self.post(f"/runs/{run}/retry", {"reason": HOSTILE})
        self.post(f"/runs/{run}/stop", {"grace_ms": 0, "reason": HOSTILE})
        self.cluster.wait_end(run)
        self.see("show", run)

    def test_rows_in_a_pipe_stay_rows(self):
        frozen = self.post("/freezes", {"scope": "all", "reason": HOSTILE})["freezes"][0]["id"]
        try:
            outcome = self.assertCode(self.cluster.muster("freeze", "--list"), 0)
            self.assertEqual(len(outcome.text.splitlines()), 2, outcome.text)
            self.assertHarmless(outcome.text)
            refused = self.cluster.muster("run", "-t", "h1", "--", "true")
            self.assertHarmless(refused.complaint)
            # Programs get the value itself.
            listed = self.assertCode(self.cluster.muster("freeze", "--list", "-o", "json"), 0)
            self.assertEqual(listed.json()["freezes"][0]["reason"], HOSTILE)
            self.assertHarmless(listed.text)
        finally:
            self.cluster.muster("thaw", frozen)

    def test_output_of_a_host(self):
        octal = "".join(f"\\{byte:03o}" for byte in HOSTILE.encode())
        script = f"printf '{octal}'; printf '\\033[8mhidden'"
        for words in (("run", "-t", "h1", "--", script), ("run", "-t", "h1", "--grouped", "--", script),
                      ("run", "-t", "h1,h2", "--", script), ("logs",), ("logs", "--grep", "owned"), ("show",)):
            with self.subTest(words=words):
                _, text = self.at_terminal(*words).finish()
                # Colours pass, and end before anything that Muster says; the progress line redraws itself.
                harmless = re.sub("\x1b\\[[0-9;]*m|\r\x1b\\[K", "", text)
                self.assertIsNone(CONTROLS.search(harmless), repr(text))
                concealed = re.search("\x1b\\[8m(?!hidden\x1b\\[0m)[^\x1b]*\n[^\x1b]*succeeded", text)
                self.assertIsNone(concealed, repr(text))


class TakenOver(StubHandler):
    """A server that answers each call with a hostile text."""

    def do_GET(self):
        host = {"name": HOSTILE, "online": True, "labels": {HOSTILE: HOSTILE}, "facts": {"os": HOSTILE}, "state": HOSTILE,
                "joined": HOSTILE, "last_seen": HOSTILE}
        if self.path.startswith("/api/v1/hosts/h"):
            return self.answer(200, {**host, "runs": []})
        if self.path.startswith(("/api/v1/hosts", "/api/v1/missing")):
            return self.answer(200, {"hosts": [{**host, "name": name, "online": False} for name in ("old1", "old2")] + [host],
                                     "total": 3, "online": 3})
        if self.path.startswith("/api/v1/status"):
            return self.answer(200, {"version": HOSTILE, "cluster": HOSTILE})
        if self.path.startswith("/api/v1/whoami"):
            return self.answer(200, {"name": HOSTILE, "role": HOSTILE})
        if self.path.startswith("/api/v1/tokens"):
            return self.answer(200, {"tokens": [{"name": HOSTILE, "role": HOSTILE, "state": HOSTILE, "created_by": HOSTILE}]})
        if self.path.startswith("/api/v1/servers"):
            return self.answer(200, {"servers": [{"name": HOSTILE, "state": "leader", "trouble": HOSTILE, "labels": {}}]})
        if self.path.startswith("/api/v1/triggers/t"):
            return self.answer(200, {"name": HOSTILE, "state": HOSTILE, "job": HOSTILE, "error": HOSTILE, "slots": []})
        if self.path.startswith("/api/v1/debug/log"):
            return self.answer(200, {"lines": [{"time": "now", "level": "info", "message": HOSTILE}]})
        return self.answer(409, {"error": {"code": "conflict", "message": HOSTILE}})

    def do_POST(self):
        self.content()
        if self.path.startswith("/api/v1/freezes"):
            # Away for a moment, and then back.
            self.server.away += 1
            if self.server.away == 1:
                return self.answer(503, {"error": {"code": "unavailable", "message": HOSTILE}})
            return self.answer(200, {"freezes": [{"id": HOSTILE, "until": HOSTILE}]})
        if self.path.startswith("/api/v1/channels"):
            return self.answer(200, {"channel": HOSTILE, "delivered": False, "state": HOSTILE, "status": 3, "reason": HOSTILE})
        if self.path.startswith("/api/v1/jobs"):
            stage = {"name": HOSTILE, "action": HOSTILE, "batches": [1], "on_limit": "pause", "max_failures": HOSTILE,
                     "max_unreachable": HOSTILE}
            return self.answer(200, {"job": HOSTILE, "version": 1, "hosts": 1, "names": HOSTILE, "stages": [stage]})
        if self.path.startswith("/api/v1/hosts/resolve"):
            return self.answer(200, {"count": 3, "names": HOSTILE, "says_all": True})
        return self.answer(409, {"error": {"code": "conflict", "message": HOSTILE}})


class AnswersOfAServer(Screens):
    def setUp(self):
        self.world = serve_stub(self, TakenOver, away=0)
        self.environment = {**clean_environment(), "NO_COLOR": "1", "MUSTER_TOKEN": "t",
                            "MUSTER_SERVER": self.world.url,
                            "XDG_CONFIG_HOME": "/nonexistent"}

    def test_lists_and_errors(self):
        for words in (("hosts",), ("hosts", "--missing"), ("hosts", "show", "h"),
                      ("channels", "test", "c"), ("start", "j", "--dry-run"), ("status",), ("whoami",), ("tokens", "list"), ("servers",),
                      ("triggers", "show", "t"), ("debug", "log"), ("show", "r1"), ("secrets", "list"), ("runs",),
                      ("tokens", "list", "-o", "json"), ("hosts", "-o", "yaml"), ("-v", "status"),
                      ("__complete", "--line", "muster run -t ")):
            with self.subTest(words=words):
                self.see(*words, environment=self.environment)

    def test_what_is_told_while_it_is_tried_again(self):
        text = self.see("freeze", "--reason", "r", environment=self.environment)
        self.assertIn("owned", text)
        self.assertEqual(self.world.away, 2)

    def test_each_host_that_is_not_removed(self):
        text = self.see("hosts", "rm", "old1,old2", environment=self.environment)
        self.assertIn("owned", text)

    def test_names_above_a_question(self):
        terminal = self.at_terminal("hosts", "label", "all", "a=b", environment=self.environment)
        asked = terminal.wait_for(r"(?s)^(.*)Type 3 to go on: ").group(1)
        self.assertHarmless(asked)
        self.assertEqual(asked.count("\n"), 1, asked)
        terminal.type("no\n")
        self.assertHarmless(terminal.finish()[1])


class Children(StubHandler):
    """A server whose runs start others without end, which wait for a person; what it says has lines of its own."""

    def do_GET(self):
        forged = "x\nFORGED" + HOSTILE
        counts = {"lost": 2}
        run = {"id": "r1", "state": "running", "job": "j", "hosts": 2, "stages": [], "counts": counts, "title": "t", "by": "x",
               "created": "2026-11-01T00:00:00Z"}
        if self.path.startswith("/api/v1/runs/r1/visits"):
            visits = [{"stage": forged, "state": "running", "child": child, "visit": 1} for child in ("r2", "r3")]
            return self.answer(200, {"visits": visits, "next": ""})
        if "/visits" in self.path:
            asks = {"stage": forged, "state": "awaiting_approval", "message": forged, "approval": forged, "until": forged, "visit": 1}
            return self.answer(200, {"visits": [asks] + [
                {"stage": forged, "state": "running", "child": f"r{self.server.asked * 100 + i}", "visit": i} for i in range(100)], "next": ""})
        if "/tasks" in self.path:
            late = {"state": forged, "exit_code": 3, "signal": 0}
            return self.answer(200, {"tasks": [{"host": forged, "state": "lost", "late": late}], "next": ""})
        if "/groups" in self.path:
            return self.answer(200, {"groups": [], "groups_total": 0})
        if "/runs/r1" in self.path:
            return self.answer(200, run)
        self.server.asked += 1
        if "/runs/r2" in self.path:
            return self.answer(200, {**run, "id": forged, "state": "paused", "pause": {"by": forged, "reason": forged}})
        return self.answer(200, {**run, "id": forged})


class RunsBelowARun(Screens):
    def test_what_they_wait_for(self):
        world = serve_stub(self, Children, asked=0)
        text = self.see("show", "r1", environment={**clean_environment(), "NO_COLOR": "1", "MUSTER_TOKEN": "t",
                                                   "MUSTER_SERVER": world.url, "XDG_CONFIG_HOME": "/nonexistent",
                                                   "MUSTER_PAGER": ""})
        self.assertIn("FORGED", text)
        self.assertIsNone(re.search("(?m)^FORGED", text), text)
        self.assertLessEqual(world.asked, 100, "questions to the server")


class Remote(StubHandler):
    """What a job calls; it refuses, and says why."""

    def do_GET(self):
        self.answer(500, HOSTILE.encode())


class ServerLog(Screens):
    def test_answer_of_a_remote_server(self):
        world = serve_stub(self, Remote)
        cluster = self.new_cluster("h1", settings={"outside": "{allow: [127.0.0.1]}"})
        file = cluster.folder / "job.yaml"
        file.write_text("apiVersion: muster/v1\nkind: job\nname: call\nstages:\n  - name: out\n    http: "
                        f"{{method: GET, url: '{world.url}/'}}\n")
        self.assertCode(cluster.muster("apply", "-f", file), 0)
        run = self.assertCode(cluster.muster("start", "call", "-t", "h1"), 0).text.strip()
        cluster.wait_end(run)
        log = wait_until("the answer is in the log", lambda: (
            text if "outside task=" in (text := cluster.server.log.read_bytes().decode(errors="replace")) else None))
        self.assertIn("owned", log)
        self.assertHarmless(log, "the server's log")
        for words in (("show", run), ("debug", "log", "-n", "200"), ("why", run)):
            terminal = AtTerminal(words, cluster.environment())
            self.addCleanup(terminal.close)
            self.assertHarmless(terminal.finish()[1], words)


if __name__ == "__main__":
    unittest.main()
