"""Scripts that behave badly: they leave, stay, refuse to end, flood, stammer or fall silent. The task ends as
it should, and what is told of it is true."""

import hashlib
import os
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, alive, processes_of, wait_until  # noqa: E402

DAEMON = """#!/usr/bin/python3
import os, sys, time
print("parent", flush=True)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
null = os.open("/dev/null", os.O_RDWR)
for stream in (0, 1, 2):
    os.dup2(null, stream)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(300)
"""

# Pieces that end in the middle of a character, each written by itself; and bytes that are none.
STAMMER = """#!/usr/bin/python3
import os, time
for piece in (b"caf\\xc3", b"\\xa9 \\xe2\\x82", b"\\xac \\xf0\\x9f", b"\\x90\\xa6\\n", b"\\x00\\xff\\xfe\\x80\\n", b"\\xc3"):
    os.write(1, piece)
    time.sleep(0.05)
"""
STAMMERED = "café € 🐦\n".encode() + b"\x00\xff\xfe\x80\n\xc3"

HOPS = """
import os, time
while True:
    if os.fork():
        time.sleep(0.01)
        os._exit(0)
    os.setsid()
"""

MEGABYTE = 1 << 20


class ScriptsTest(ClusterTest):
    hosts = ("h1",)

    def file(self, text=""):
        file = self.cluster.folder / f"file-{uuid.uuid4()}"
        if text:
            file.write_text(text)
        return file

    def host_of(self, *words, code=0):
        """What is told of the one host, with the run's id."""
        document = self.assertCode(self.cluster.muster("run", "-t", "h1", "-o", "json", *words), code).json()
        return {"run": document["id"], **document["hosts"][0]}


class Leaving(ScriptsTest):
    def daemonize(self, *options):
        pid_file = self.file()
        told = self.host_of(*options, "--script", self.file(DAEMON), "--", pid_file)
        self.assertEqual((told["state"], told["exit_code"], told["log"]["state"]), ("succeeded", 0, "complete"))
        self.assertEqual(self.cluster.log_of(told["run"], "h1"), b"parent\n")
        wait_until("the daemon has told its number", pid_file.exists)
        return told["run"], int(pid_file.read_text())

    def test_daemon_lives_on_and_is_told(self):
        run, pid = self.daemonize()
        self.assertTrue(alive(pid))
        self.assertTrue(self.cluster.task_of(run, "h1")["leftovers"])

    def test_daemon_is_ended_when_so_wished(self):
        # It ignores nothing, so TERM is enough.
        _, pid = self.daemonize("--leftovers", "kill", "--grace", "30s")
        wait_until("the daemon is gone", lambda: not alive(pid))

    def test_child_that_keeps_the_pipe_does_not_keep_the_task(self):
        """It goes on talking after its parent has ended; the log ends, whole, with what was said until then."""
        told = self.host_of("--", "echo first; (while echo more; do sleep 0.2; done) & exit 0")
        self.assertEqual((told["state"], told["log"]["state"]), ("succeeded", "complete"))
        log = self.cluster.log_of(told["run"], "h1")
        self.assertEqual(hashlib.sha256(log).hexdigest(), told["log"]["stdout_sha256"])
        self.assertTrue(log.startswith(b"first\nmore\n"), log)
        self.assertEqual(set(log.split(b"\n")[1:-1]), {b"more"})
        self.assertTrue(self.cluster.task_of(told["run"], "h1")["leftovers"])

    def test_closed_streams_do_not_end_the_task(self):
        told = self.host_of("--", "echo said; exec >&- 2>&- <&-; sleep 0.5; exit 7", code=1)
        self.assertEqual((told["state"], told["exit_code"], told["log"]["state"]), ("failed", 7, "complete"))
        self.assertEqual(self.cluster.log_of(told["run"], "h1"), b"said\n")


class Staying(ScriptsTest):
    def begin(self, line):
        """A run whose script has told its process number."""
        pid_file = self.file()
        run = self.cluster.start_run("-t", "h1", "--", f"{line.format(pid=pid_file)}")
        wait_until("the script has told its number", lambda: pid_file.exists() and pid_file.read_text().endswith("\n"))
        return run, int(pid_file.read_text())

    def test_stop_of_one_that_ignores_term(self):
        run, pid = self.begin("trap '' TERM HUP INT; echo $$ > {pid}; while :; do sleep 0.1; done")
        self.assertCode(self.cluster.muster("stop", run, "--grace", "500ms"), 0)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"killed": 1})
        self.assertEqual(self.cluster.task_of(run, "h1")["signal"], 9)
        self.assertFalse(alive(pid))

    def test_stop_of_one_that_has_stopped_itself(self):
        run, pid = self.begin("echo $$ > {pid}; kill -STOP $$; sleep 300")
        self.assertCode(self.cluster.muster("stop", run, "--grace", "60s"), 0)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"killed": 1})
        self.assertFalse(alive(pid))

    def test_stop_of_one_that_forks_away_again_and_again(self):
        """Each process leaves its session and group, starts the next and ends; only its ancestry tells."""
        hops = self.file(HOPS)
        run, _ = self.begin(f"/usr/bin/python3 {hops} & echo $! > {{pid}}; wait; sleep 300")
        self.assertCode(self.cluster.muster("kill", run), 0)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"killed": 1})
        wait_until("nothing of it is left", lambda: not [pid for pid in processes_of(hops) if alive(pid)])


class Flooding(ScriptsTest):
    def test_past_the_quota_it_is_cut_and_says_so(self):
        told = self.host_of("--", f"head -c {100 * MEGABYTE} /dev/zero; echo end >&2; exit 4", code=1)
        self.assertEqual((told["state"], told["exit_code"], told["log"]["state"]), ("failed", 4, "cut"))
        self.assertEqual(told["log"]["bytes"], 16 * MEGABYTE)
        self.assertEqual(told["log"]["stdout_sha256"], hashlib.sha256(bytes(16 * MEGABYTE)).hexdigest())
        shown = self.assertCode(self.cluster.muster("logs", told["run"], "--host", "h1"), 0)
        self.assertEqual(shown.out, bytes(16 * MEGABYTE))
        self.assertIn("cut", shown.complaint)

    def test_with_a_higher_quota_all_of_it_arrives(self):
        data = os.urandom(MEGABYTE)
        block = self.file()
        block.write_bytes(data)
        told = self.host_of("--max-output", "200M", "--", f"for i in $(seq 100); do cat {block}; done")
        whole = hashlib.sha256()
        for _ in range(100):
            whole.update(data)
        self.assertEqual((told["log"]["state"], told["log"]["bytes"]), ("complete", 100 * MEGABYTE))
        self.assertEqual(told["log"]["stdout_sha256"], whole.hexdigest())
        shown = self.assertCode(self.cluster.muster("logs", told["run"], "--host", "h1", deadline=300), 0)
        self.assertEqual(hashlib.sha256(shown.out).hexdigest(), whole.hexdigest())


class Stammering(ScriptsTest):
    def test_halves_of_characters_and_bytes_that_are_none_arrive_as_they_are(self):
        script = self.file(STAMMER)
        live = self.assertCode(self.cluster.muster("run", "-t", "h1", "--script", script), 0)
        self.assertEqual(live.out, STAMMERED)
        run = live.complaint.split()[1]
        self.assertEqual(self.cluster.log_of(run, "h1"), STAMMERED)
        self.assertEqual(self.cluster.task_of(run, "h1")["log"]["stdout_sha256"], hashlib.sha256(STAMMERED).hexdigest())


class Refused(ScriptsTest):
    """What cannot start says why; test_runs has the unknown user, folder, interpreter and program."""

    def assertRefused(self, words, *named):
        told = self.host_of(*words, code=6)
        self.assertEqual((told["state"], told["exit_code"]), ("refused", None))
        for name in named:
            self.assertIn(name, told["reason"])
        self.assertEqual((told["log"]["state"], told["log"]["bytes"]), ("complete", 0))

    def test_interpreter_of_the_first_line_is_missing(self):
        self.assertRefused(["--script", self.file("#!/no/such/interpreter -x\necho hi\n")], "/no/such/interpreter")

    def test_program_is_not_executable(self):
        self.assertRefused(["--", self.file("echo hi\n"), "x"], "file-")

    def test_folder_is_a_file(self):
        self.assertRefused(["--folder", "/etc/passwd", "--", "id"], "/etc/passwd")

    def test_user_without_a_shell_still_runs_what_needs_none(self):
        told = self.host_of("-u", "nobody", "--", "id", "-un")
        self.assertEqual(self.cluster.log_of(told["run"], "h1"), b"nobody\n")

    def test_script_needs_no_way_to_its_folder(self):
        """A data folder below one that lets nobody through: scripts of other users start all the same."""
        (self.cluster.folder / "closed").mkdir(mode=0o700)
        self.cluster.add_agent("h2", data="closed/h2")
        self.cluster.wait_online("h2")
        script = self.file("#!/usr/bin/python3\nimport getpass\nprint(getpass.getuser())\n")
        outcome = self.cluster.muster("run", "-t", "h2", "-u", "nobody", "--script", script)
        self.assertEqual(self.assertCode(outcome, 0).text, "nobody\n")

    def test_local_script_that_cannot_be_read_starts_nothing(self):
        before = self.cluster.get("/runs")["runs"]
        for script in (self.cluster.folder, self.cluster.folder / "no-such-script"):
            outcome = self.assertCode(self.cluster.muster("run", "-t", "h1", "--script", script), 2)
            self.assertIn(str(script), outcome.complaint)
        self.assertEqual(self.cluster.get("/runs")["runs"], before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
