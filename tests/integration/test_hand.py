"""The command line in a person's hand: logging in, questions, keys, and lines as they come."""

import http.server
import json
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from terminal import CONTROL_C, CONTROL_D, AtTerminal  # noqa: E402


class HandTest(ClusterTest):
    def at_terminal(self, *words, environment=None, columns=100, **elsewhere):
        terminal = AtTerminal(words, environment or self.cluster.environment(), columns, **elsewhere)
        self.addCleanup(terminal.close)
        return terminal

    @staticmethod
    def last_run_of(cluster):
        runs = cluster.get("/runs", limit=1)["runs"]
        return runs[0]["id"] if runs else None

    def last_run(self):
        return self.last_run_of(self.cluster)

    def stop(self, run):
        self.cluster.muster("stop", run, "--grace", "0")
        return self.cluster.wait_end(run)


class Questions(HandTest):
    hosts = ("web1", "web2", "web3")

    def test_all_asks_for_the_number(self):
        terminal = self.at_terminal("run", "-t", "all", "--", "echo hello")
        terminal.wait_for(r"web\[1-3\]\n")
        terminal.wait_for(f"Run on 3 hosts in {self.cluster.url}\\? Type 3 to go on: ")
        terminal.type("3\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertIn("web2 | hello", shown)

    def test_another_answer_starts_nothing(self):
        before = self.last_run()
        for answer in ("yes\n", "\n", "33\n", CONTROL_D, CONTROL_C):
            with self.subTest(answer=answer):
                terminal = self.at_terminal("run", "-t", "all", "--", "true")
                terminal.wait_for("Type 3 to go on: ")
                terminal.type(answer)
                code, shown = terminal.finish()
                self.assertEqual(code, 130, shown)
                self.assertIn("nothing was started", shown)
        self.assertEqual(self.last_run(), before)

    def test_the_question_is_on_the_terminal_wherever_output_leads(self):
        with tempfile.TemporaryFile() as errors:
            terminal = self.at_terminal("run", "-t", "all", "--", "true", stdout=errors, stderr=errors)
            terminal.wait_for(r"web\[1-3\]\n.*Type 3 to go on: ")
            terminal.type("no\n")
            self.assertEqual(terminal.finish()[0], 130)
            errors.seek(0)
            self.assertEqual(errors.read(), b"nothing was started\n")

    def test_a_pipe_at_a_terminal_is_not_asked(self):
        code, shown = self.at_terminal("run", "-t", "all", "--", "true", stdin=subprocess.DEVNULL).finish()
        self.assertEqual(code, 0, shown)
        self.assertNotIn("to go on", shown)

    def test_few_hosts_yes_and_pipes_are_not_asked(self):
        for words in (("-t", "web*"), ("-t", "all", "--yes"), ("-t", "all", "-y", "-o", "json")):
            with self.subTest(words=words):
                code, shown = self.at_terminal("run", *words, "--", "true").finish()
                self.assertEqual(code, 0, shown)
                self.assertNotIn("to go on", shown)
        outcome = self.assertCode(self.cluster.muster("run", "-t", "all", "--", "true"), 0)
        self.assertNotIn("to go on", outcome.complaint)

    def test_labels_of_all_hosts_ask_for_the_number(self):
        terminal = self.at_terminal("hosts", "label", "all", "asked=no")
        terminal.wait_for("Change labels on 3 hosts in .* Type 3 to go on: ")
        terminal.type("\n")
        self.assertEqual(terminal.finish()[0], 130)
        self.assertCode(self.cluster.muster("hosts", "asked=no"), 4)
        self.assertEqual(self.at_terminal("hosts", "label", "all", "asked=no", "--yes").finish()[0], 0)
        self.assertEqual(self.at_terminal("hosts", "label", "web[1-2]", "asked=yes").finish()[0], 0)
        self.assertCode(self.cluster.muster("hosts", "label", "all", "asked-"), 0)

    def test_labels_that_contradict_each_other_are_refused(self):
        for words in (("a=b", "a-"), ("a=b", "a=c"), ("a-", "a=b")):
            with self.subTest(words=words):
                self.assertCode(self.cluster.muster("hosts", "label", "web1", *words), 2)
        self.assertCode(self.cluster.muster("hosts", "a=b"), 4)
        self.assertCode(self.cluster.muster("hosts", "label", "web1", "a=b", "a=b"), 0)

    def test_stop_without_a_run_asks_or_refuses(self):
        run = self.cluster.start_run("-t", "web1", "--", "sleep 100")
        outcome = self.assertCode(self.cluster.muster("stop"), 2)
        self.assertIn(run, outcome.complaint)
        terminal = self.at_terminal("stop")
        terminal.wait_for(f"Stop {run} \\(sleep 100, 1 host, running\\) in https.*\\? \\[y/N\\] ")
        terminal.type("n\n")
        self.assertEqual(terminal.finish()[0], 130)
        self.assertEqual(self.cluster.run_of(run)["stop"], None)
        terminal = self.at_terminal("stop", "--grace", "0")
        terminal.wait_for(r"\[y/N\] ")
        terminal.type("y\n")
        self.assertEqual(terminal.finish()[0], 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "cancelled")
        self.assertCode(self.cluster.muster("stop"), 1)  # it has ended, nothing is left to stop

    def test_forgetting_a_host_that_is_online_asks_nothing(self):
        code, shown = self.at_terminal("hosts", "rm", "web3").finish()
        self.assertEqual(code, 1, shown)
        self.assertNotIn("[y/N]", shown)
        self.assertIn("web3", self.cluster.online())


class ManyHosts(HandTest):
    hosts = ("fleet",)  # one emulator, not an agent

    @classmethod
    def set_up_hosts(cls):
        token = cls.cluster.invite(uses=51, replace=True)
        cls.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cls.cluster.url, "--count", 51],
                               {"MUSTER_JOIN": token})
        wait_until("51 hosts online", lambda: cls.cluster.get("/status")["online"] == 51)

    def test_more_than_fifty_hosts_ask(self):
        terminal = self.at_terminal("run", "-t", "fleet*", "--", "true")
        terminal.wait_for("Run on 51 hosts .* Type 51 to go on: ")
        terminal.type("51\n")
        self.assertEqual(terminal.finish()[0], 0)

    def test_fifty_do_not(self):
        code, shown = self.at_terminal("run", "-t", "fleet*", "-x", "fleet51", "--", "true").finish()
        self.assertEqual(code, 0, shown)
        self.assertNotIn("to go on", shown)


class Interrupted(HandTest):
    hosts = ("web1",)

    def running(self, script="echo ready; sleep 100"):
        """A run at a terminal whose command is under way."""
        terminal = self.at_terminal("run", "-t", "web1", "--", script)
        run = terminal.wait_for(r"run (r\d+) on 1 host\n")[1]
        terminal.wait_for("ready\n")
        return terminal, run

    def interrupt(self, terminal, run):
        terminal.type(CONTROL_C)
        self.wait_for_question(terminal, run)

    def wait_for_question(self, terminal, run):
        terminal.wait_for(f"{run} in .*: \\[s\\]top, \\[d\\]etach or \\[c\\]ontinue, then Enter: ")

    def assertLeftAlone(self, terminal):
        self.assertEqual(terminal.mode(), terminal.mode_before)

    def test_stop_is_a_line(self):
        terminal, run = self.running()
        self.interrupt(terminal, run)
        terminal.type("stop\n")
        terminal.wait_for(f"stopping {run}\n")
        self.assertLeftAlone(terminal)
        code, shown = terminal.finish()
        self.assertEqual(code, 1, shown)
        self.assertEqual(self.cluster.run_of(run)["state"], "cancelled")

    def test_d_detaches_and_tells_the_way_back(self):
        terminal, run = self.running()
        self.interrupt(terminal, run)
        terminal.type("d\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertIn(f"muster attach {run}", shown)
        self.assertLeftAlone(terminal)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")
        self.stop(run)

    def test_a_second_interrupt_detaches(self):
        terminal, run = self.running()
        self.interrupt(terminal, run)
        terminal.type(CONTROL_C)
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertLeftAlone(terminal)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")
        self.stop(run)

    def test_a_command_for_the_shell_stops_nothing(self):
        terminal, run = self.running()
        self.interrupt(terminal, run)
        terminal.type("muster hosts\n")
        self.wait_for_question(terminal, run)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")
        terminal.type(CONTROL_D)
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")
        self.stop(run)

    def test_followed_output_is_left_at_once(self):
        run = self.cluster.muster("run", "-t", "web1", "--detach", "--", "echo ready; sleep 100").text.strip()
        terminal = self.at_terminal("logs", run, "-f")
        terminal.wait_for("ready\n")
        terminal.type(CONTROL_C)
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertNotIn("[s]top", shown)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")
        self.stop(run)

    def test_c_goes_on_and_other_lines_mean_nothing(self):
        go = self.cluster.folder / "go"
        terminal, run = self.running(f"echo ready; until test -e {go}; do sleep 0.05; done; echo went on")
        self.interrupt(terminal, run)
        terminal.type("x\nq c\n\nc\n")
        go.touch()
        terminal.wait_for("went on\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertLeftAlone(terminal)

    def test_without_a_terminal_an_interrupt_detaches(self):
        command = self.cluster.begin("run", "-t", "web1", "--", "echo ready; sleep 100")
        wait_until("it runs", lambda: "ready" in command.said()[0])
        command.process.send_signal(signal.SIGINT)
        self.assertCode(command.finish(), 130)
        self.assertEqual(self.stop(self.last_run())["state"], "cancelled")

    def test_a_lost_server_is_said_and_waited_for(self):
        cluster = self.new_cluster("web1")
        go = cluster.folder / "go"
        command = cluster.begin("run", "-t", "web1", "--",
                                f"echo before; until test -e {go}; do sleep 0.05; done; echo after; exit 3")
        wait_until("it runs", lambda: "before" in command.said()[0])
        cluster.server.end()
        wait_until("it says so", lambda: "connection lost" in command.said()[1])
        cluster.start_server()
        wait_until("it says so", lambda: "connected again" in command.said()[1])
        go.touch()
        outcome = self.assertCode(command.finish(), 1)
        self.assertEqual(outcome.text, "before\nafter\n")


class Login(HandTest):
    hosts = ("web1",)

    def setUp(self):
        self.config = self.cluster.folder / self.id().rpartition(".")[2]
        self.file = self.config / "muster" / "contexts.yaml"
        ask = subprocess.run(["openssl", "x509", "-in", self.cluster.data / "ca.pem", "-noout", "-sha256", "-fingerprint"],
                             capture_output=True, text=True, check=True)
        self.fingerprint = ask.stdout.strip().partition("=")[2]

    def environment(self, **more):
        """Without a word about the server."""
        clean = {key: value for key, value in self.cluster.environment().items() if not key.startswith("MUSTER_")}
        return {**clean, "XDG_CONFIG_HOME": str(self.config), **more}

    def muster(self, *words, stdin=b"", **more):
        done = subprocess.run([str(BIN / "muster"), *map(str, words)], input=stdin, env=self.environment(**more),
                              capture_output=True, check=False, timeout=60)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def log_in(self, *words, **more):
        return self.muster("login", self.cluster.url, "--fingerprint", self.fingerprint, *words,
                           stdin=self.cluster.token.encode() + b"\n", **more)

    def test_by_pipe_and_fingerprint(self):
        code, _, said = self.log_in("--name", "prod")
        self.assertEqual(code, 0, said)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.file.parent.stat().st_mode), 0o700)
        self.assertEqual((self.file.parent / "prod.ca.pem").read_text(), (self.cluster.data / "ca.pem").read_text())
        code, out, said = self.muster("run", "-t", "web1", "--", "echo hello")
        self.assertEqual((code, out), (0, "hello\n"), said)
        code, out, _ = self.muster("contexts", "-o", "json")
        listed = json.loads(out)["contexts"]
        self.assertEqual([(c["name"], c["server"], c["in_use"]) for c in listed], [("prod", self.cluster.url, True)])
        self.assertNotIn(self.cluster.token, out)

    def test_by_ca_and_token_file(self):
        code, _, said = self.muster("login", self.cluster.url, "--ca", self.cluster.data / "ca.pem", "--token-file",
                                    self.cluster.data / "admin.token")
        self.assertEqual(code, 0, said)
        # Logging in once more trusts what was trusted before.
        code, _, said = self.muster("login", self.cluster.url, stdin=self.cluster.token.encode())
        self.assertEqual(code, 0, said)
        self.assertEqual(self.muster("status")[0], 0)

    def test_a_wrong_token_is_not_kept(self):
        code, _, said = self.muster("login", self.cluster.url, "--fingerprint", self.fingerprint, stdin=b"mst_wrong\n")
        self.assertEqual(code, 3, said)
        self.assertFalse(self.file.exists())
        code, _, said = self.muster("login", self.cluster.url, "--fingerprint", self.fingerprint, stdin=b"")
        self.assertEqual(code, 2, said)

    def test_an_unknown_ca_is_not_trusted_in_a_pipe(self):
        code, _, said = self.muster("login", self.cluster.url, stdin=self.cluster.token.encode())
        self.assertEqual(code, 3, said)
        self.assertIn(self.fingerprint, said)
        other = "AA" + self.fingerprint[2:] if not self.fingerprint.startswith("AA") else "BB" + self.fingerprint[2:]
        code, _, said = self.muster("login", self.cluster.url, "--fingerprint", other, stdin=self.cluster.token.encode())
        self.assertEqual(code, 3, said)
        self.assertFalse(self.file.exists())

    def test_a_ca_that_was_changed_is_asked_about_again(self):
        self.assertEqual(self.log_in("--name", "prod")[0], 0)
        kept = self.file.parent / "prod.ca.pem"
        kept.write_bytes((self.new_cluster().data / "ca.pem").read_bytes())
        code, _, said = self.muster("status")
        self.assertEqual(code, 3, said)
        self.assertIn(f"muster login {self.cluster.url} --name prod", said)
        code, _, said = self.muster("login", self.cluster.url, "--name", "prod", stdin=self.cluster.token.encode())
        self.assertEqual(code, 3, said)
        self.assertIn(self.fingerprint, said)
        terminal = self.at_terminal("login", self.cluster.url, "--name", "prod", environment=self.environment())
        terminal.wait_for("not the one of the earlier login")
        terminal.wait_for("Type yes if both are the same: ")
        terminal.type("yes\n")
        terminal.wait_for("Token for ")
        terminal.wait_for_secret_mode()
        terminal.type(self.cluster.token + "\n")
        self.assertEqual(terminal.finish()[0], 0)
        self.assertEqual(self.muster("status")[0], 0)
        self.assertEqual(kept.read_text(), (self.cluster.data / "ca.pem").read_text())

    def test_a_server_that_is_not_muster_is_called_that(self):
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        other.RequestHandlerClass.log_message = lambda *_: None
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        url = f"http://127.0.0.1:{other.server_port}"
        for words in (("runs",), ("stop", "r1")):
            code, _, said = self.muster(*words, MUSTER_SERVER=url)
            self.assertEqual(code, 2, said)
            self.assertIn(url, said)
            self.assertIn("does not look like a Muster server", said)

    def test_at_a_terminal_it_shows_the_fingerprint_and_hides_the_token(self):
        terminal = self.at_terminal("login", self.cluster.url, "--name", "prod", environment=self.environment())
        terminal.wait_for(self.fingerprint)
        terminal.wait_for("Type yes if both are the same: ")
        terminal.type("yes\n")
        terminal.wait_for(f"Token for {self.cluster.url}: ")
        terminal.wait_for_secret_mode()
        terminal.type(self.cluster.token + "\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertNotIn(self.cluster.token, shown)
        self.assertEqual(terminal.mode(), terminal.mode_before)
        terminal = self.at_terminal("run", "-t", "all", "--", "true", environment=self.environment())
        terminal.wait_for("Run on 1 host in context prod\\? Type 1 to go on: ")

    def test_an_interrupt_at_the_token_leaves_the_terminal_as_it_was(self):
        terminal = self.at_terminal("login", self.cluster.url, "--fingerprint", self.fingerprint,
                                    environment=self.environment())
        terminal.wait_for("Token for ")
        terminal.wait_for_secret_mode()
        terminal.type(CONTROL_C)
        self.assertEqual(terminal.finish()[0], 130)
        self.assertEqual(terminal.mode(), terminal.mode_before)
        self.assertFalse(self.file.exists())

    def test_a_doubtful_person_sends_nothing(self):
        terminal = self.at_terminal("login", self.cluster.url, environment=self.environment())
        terminal.wait_for("Type yes if both are the same: ")
        terminal.type("no\n")
        self.assertEqual(terminal.finish()[0], 3)
        self.assertFalse(self.file.exists())

    def test_which_context_counts(self):
        other = self.new_cluster()
        self.assertEqual(self.log_in("--name", "one")[0], 0)
        code, _, said = self.muster("login", other.url, "--name", "two", "--ca", other.data / "ca.pem",
                                    stdin=other.token.encode())
        self.assertEqual(code, 0, said)

        def server_of(*words, **more):
            code, out, said = self.muster(*words, "status", **more)
            return next(line.split()[1] for line in out.splitlines() if line.startswith("server")) if code == 0 else said
        self.assertEqual(server_of(), other.url)
        self.assertEqual(server_of("--context", "one"), self.cluster.url)
        self.assertEqual(server_of(MUSTER_CONTEXT="one"), self.cluster.url)
        self.assertEqual(server_of("--context", "two", MUSTER_CONTEXT="one"), other.url)
        self.assertEqual(server_of("--context", "one", MUSTER_SERVER=other.url), self.cluster.url)
        self.assertIn("no context 'three'", server_of("--context", "three"))
        self.assertEqual(self.muster("context", "use", "one")[0], 0)
        self.assertEqual(server_of(), self.cluster.url)
        # A context's token is for its own address only: under another, even the same server does not see it.
        elsewhere = self.cluster.url.replace("127.0.0.1", "localhost")
        code, _, said = self.muster("status", "--server", elsewhere, "--ca", self.cluster.data / "ca.pem")
        self.assertEqual(code, 3, said)
        code, _, said = self.muster("status", "--server", elsewhere, "--ca", self.cluster.data / "ca.pem",
                                    MUSTER_TOKEN=self.cluster.token)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.muster("login", other.url, "--name", "one", "--ca", other.data / "ca.pem",
                                     stdin=other.token.encode())[0], 1)

    def test_logout_forgets(self):
        self.assertEqual(self.log_in("--name", "prod")[0], 0)
        self.assertEqual(self.muster("logout")[0], 0)
        self.assertNotIn(self.cluster.token, self.file.read_text())
        self.assertFalse((self.file.parent / "prod.ca.pem").exists())
        self.assertEqual(self.muster("logout")[0], 4)

    def test_a_file_others_may_read_is_refused(self):
        self.assertEqual(self.log_in("--name", "prod")[0], 0)
        self.file.chmod(0o644)
        code, _, said = self.muster("status")
        self.assertEqual(code, 2, said)
        self.assertIn("chmod 600", said)


class Lines(HandTest):
    hosts = ("web1", "web2")

    def test_jsonl_prints_each_host_as_it_ends(self):
        go = self.cluster.folder / "go"
        script = (f"test $MUSTER_HOST = web1 || until test -e {go}; do sleep 0.05; done; "
                  "echo out; echo err >&2; test $MUSTER_HOST = web1 || kill -9 $$")
        command = self.cluster.begin("run", "-t", "web*", "-o", "jsonl", "--", script)
        wait_until("the first line", lambda: command.said()[0].endswith("\n"))
        first = [json.loads(line) for line in command.said()[0].splitlines()]
        self.assertEqual([(line["host"], line["state"], line["exit_code"]) for line in first], [("web1", "succeeded", 0)])
        self.assertEqual((first[0]["stdout"], first[0]["stderr"], first[0]["cut"]), ("out\n", "err\n", False))
        self.assertIsNone(command.process.poll())
        go.touch()
        outcome = self.assertCode(command.finish(), 1)
        second = [json.loads(line) for line in outcome.text.splitlines()][1:]
        self.assertEqual([(line["host"], line["signal"]) for line in second], [("web2", 9)])
        for line in first + second:
            self.assertLessEqual({"started", "ended", "reason", "attempt", "log"}, set(line))

    def test_jsonl_prints_what_ended_while_the_server_was_away(self):
        cluster = self.new_cluster("web1", "web2")
        first, second = cluster.folder / "first", cluster.folder / "second"
        command = cluster.begin("run", "-t", "web*", "-o", "jsonl", "--",
                                f"test $MUSTER_HOST = web1 && go={first} || go={second}; "
                                "until test -e $go; do sleep 0.05; done; echo went")
        wait_until("it runs", lambda: cluster.get("/runs", limit=1)["runs"])
        run = self.last_run_of(cluster)
        for host in ("web1", "web2"):
            cluster.wait_task(run, host, "running")
        # It sees nothing of what happens until the server that is back no longer tells it.
        command.process.send_signal(signal.SIGSTOP)
        cluster.server.end()
        first.touch()
        cluster.start_server()
        cluster.wait_task(run, "web1", "succeeded")
        cluster.restart_server()
        command.process.send_signal(signal.SIGCONT)
        wait_until("the first line", lambda: command.said()[0].endswith("\n"))
        self.assertEqual([json.loads(line)["host"] for line in command.said()[0].splitlines()], ["web1"])
        second.touch()
        outcome = self.assertCode(command.finish(), 0)
        self.assertEqual([json.loads(line)["host"] for line in outcome.text.splitlines()], ["web1", "web2"])

    def test_jsonl_cuts_what_is_long(self):
        outcome = self.assertCode(self.cluster.muster("run", "-t", "web1", "-o", "jsonl", "--",
                                                      "head -c 70000 /dev/zero | tr '\\0' x; echo short >&2"), 0)
        line = json.loads(outcome.text)
        self.assertEqual((len(line["stdout"]), line["stderr"], line["cut"]), (65536, "short\n", True))

    def test_largest_code(self):
        self.assertCode(self.cluster.muster("run", "-S", "-t", "web*", "--", "exit ${MUSTER_HOST#web}"), 2)
        self.assertCode(self.cluster.muster("run", "-S", "-t", "web1", "--", "kill -9 $$"), 137)
        self.assertCode(self.cluster.muster("run", "-S", "-t", "web1", "--", "true"), 0)

    def test_targets_from_a_file(self):
        file = self.cluster.folder / "targets"
        file.write_text("# both\nweb1\nweb2  # the second\n")
        outcome = self.assertCode(self.cluster.muster("run", "-T", file, "--dry-run", "-o", "json", "--", "true"), 0)
        self.assertEqual(outcome.json()["names"], "web[1-2]")
        outcome = self.assertCode(self.cluster.muster("run", "-T", "-", "-t", "web1", "--dry-run", "-o", "json", "--",
                                                      "true", stdin=b"web2\n"), 0)
        self.assertEqual(outcome.json()["hosts"], 2)
        self.assertCode(self.cluster.muster("run", "-T", file, "--", "true", stdin=b""), 0)
        self.assertCode(self.cluster.muster("run", "--", "true"), 2)
        self.assertCode(self.cluster.muster("run", "-T", "-", "--script", "-", stdin=b"web1\n"), 2)

    def test_become_is_user_root(self):
        outcome = self.assertCode(self.cluster.muster("run", "-b", "-d", "-t", "web1", "--", "true"), 0)
        self.assertEqual(self.cluster.run_of(outcome.text.strip())["spec"]["user"], "root")
        self.assertCode(self.cluster.muster("run", "-b", "-u", "nobody", "-t", "web1", "--", "true"), 2)

    def test_the_last_run_is_meant_and_the_letter_may_be_left_out(self):
        run = self.cluster.start_run("-t", "web1", "--", "echo the last one")
        self.cluster.wait_end(run)
        for words in ((), (run,), (run[1:],), (run.upper(),)):
            with self.subTest(words=words):
                self.assertEqual(self.assertCode(self.cluster.muster("logs", *words), 0).text, "the last one\n")
                self.assertTrue(self.assertCode(self.cluster.muster("show", *words), 0).text.startswith(run + "  "))
                self.assertIn("ended", self.assertCode(self.cluster.muster("why", *words), 0).text)

    def test_an_unknown_run_is_told_in_the_same_words(self):
        sayings = set()
        for words in (("show", "999"), ("logs", "999"), ("logs", "999", "--host", "web1"), ("why", "999"),
                      ("stop", "999"), ("run", "-t", "run:r999", "--", "true")):
            outcome = self.assertCode(self.cluster.muster(*words), 4)
            sayings.add(outcome.complaint)
        self.assertEqual(sayings, {"muster: there is no run r999; see 'muster runs'\n"})

    def test_colour_is_for_terminals_unless_told(self):
        plain = {"NO_COLOR": ""}
        escape = b"\x1b["
        self.assertNotIn(escape, self.cluster.muster("hosts", environment=plain).out)
        self.assertIn(escape, self.cluster.muster("hosts", "--color", "always", environment=plain).out)
        self.assertIn(escape, self.cluster.muster("hosts", "--color", "always").out)
        coloured = {**self.cluster.environment(), "NO_COLOR": ""}
        self.assertIn("\x1b[", self.at_terminal("hosts", environment=coloured).finish()[1])
        self.assertNotIn("\x1b[", self.at_terminal("hosts", "--color", "never", environment=coloured).finish()[1])
        self.assertNotIn("\x1b[", self.at_terminal("hosts").finish()[1])

    def test_tables_fit_the_terminal(self):
        run = self.cluster.start_run("-t", "web*", "--", "echo " + "many words " * 20)
        self.cluster.wait_end(run)
        for columns in (80, 60):
            code, shown = self.at_terminal("runs", columns=columns).finish()
            self.assertEqual(code, 0, shown)
            for line in shown.splitlines():
                self.assertLessEqual(len(line), columns, line)

    def test_quiet_says_only_what_was_asked_for(self):
        outcome = self.assertCode(self.cluster.muster("run", "-q", "-t", "web1", "--", "echo hello"), 0)
        self.assertEqual((outcome.text, outcome.complaint), ("hello\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
