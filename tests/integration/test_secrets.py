"""Secrets: kept sealed, given to tasks by name, masked in what they say, and nowhere else."""

import base64
import hashlib
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, ClusterTest, wait_until  # noqa: E402

VALUE = b"correct-horse-battery"
SHOW = 'printf %s "$DB" | sha256sum; echo "it is $DB."'


def musterd(*words):
    return subprocess.run([str(BIN / "musterd"), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE,
                          check=False)


def files_with(folder, needle):
    """Files below a folder that hold these bytes."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        try:
            if path.is_file() and needle in path.read_bytes():
                found.append(path.name)
        except OSError:
            continue  # gone meanwhile
    return found


class Secrets(ClusterTest):
    hosts = ("h1", "h2")

    def set(self, name, value=VALUE, cluster=None):
        done = (cluster or self.cluster).muster("secrets", "set", name, stdin=value)
        self.assertEqual(done.code, 0, done)
        self.assertNotIn(value, done.out + done.err)
        return done

    def show(self, name, target="h1", code=0, cluster=None):
        done = (cluster or self.cluster).muster("run", "-t", target, "--secret", f"DB={name}", "--", SHOW)
        self.assertEqual(done.code, code, done)
        return done

    def test_task_gets_the_value_and_cannot_show_it(self):
        self.set("web.db")
        done = self.show("web.db", "h1,h2")
        self.assertIn(hashlib.sha256(VALUE).hexdigest(), done.text)
        self.assertIn("it is ***.", done.text)
        self.assertNotIn(VALUE, done.out + done.err)

    def test_value_is_in_no_file_of_the_server(self):
        value = b"only-in-the-order-of-a-task"
        self.set("nowhere", value)
        self.show("nowhere")
        self.assertNotIn(value, self.cluster.muster("audit").out)
        self.assertEqual(files_with(self.cluster.data, value), [])
        self.assertEqual(files_with(self.cluster.data, base64.b64encode(value)), [])
        self.assertNotIn(value, (self.cluster.folder / "musterd.log").read_bytes())

    def test_host_keeps_it_for_the_agent_alone_and_not_for_long(self):
        value = b"while-the-task-runs"
        self.set("briefly", value)
        gate = self.cluster.folder / "gate"
        run = self.cluster.start_run("-t", "h1", "--secret", "DB=briefly", "--",
                                     f"while ! test -e {gate}; do sleep 0.1; done")
        self.cluster.wait_task(run, "h1", "running")
        tasks = self.cluster.agents["h1"].data / "tasks"
        holders = [path for path in tasks.rglob("*") if path.is_file() and value in path.read_bytes()]
        self.assertEqual([path.name for path in holders], ["order"])
        self.assertEqual(holders[0].stat().st_mode & 0o777, 0o600)
        gate.touch()
        self.cluster.wait_end(run)
        wait_until("the host forgets it", lambda: not files_with(self.cluster.agents["h1"].data, value))

    def test_missing_secret_is_refused_with_a_sentence(self):
        refused = self.show("no.such", code=4)
        self.assertIn("muster secrets set no.such", refused.complaint)
        # One that is removed before its task is sent.
        self.set("gone", b"value")
        agent = self.cluster.agents["h1"]
        agent.end()
        self.cluster.wait_offline("h1")
        run = self.cluster.start_run("-t", "h1", "--wait-offline", "5m", "--secret", "DB=gone", "--", SHOW)
        self.assertCode(self.cluster.muster("secrets", "rm", "gone", "--yes"), 0)
        agent.start()
        self.cluster.wait_end(run)
        task = self.cluster.task_of(run, "h1")
        self.assertEqual(task["state"], "refused", task)
        self.assertIn("gone", task["reason"])
        self.assertIn("muster secrets set", task["reason"])

    def test_new_value_is_used_at_once_and_a_removed_one_no_more(self):
        self.set("turns", b"first-value")
        self.assertIn("version 2", self.set("turns", b"second-value").complaint)
        self.assertIn(hashlib.sha256(b"second-value").hexdigest(), self.show("turns").text)
        self.assertIn("turns", self.cluster.muster("secrets", "list").text)
        self.assertEqual(self.cluster.muster("secrets", "rm", "turns").code, 0)
        self.assertNotIn("turns", self.cluster.muster("secrets", "list").text)
        self.show("turns", code=4)
        self.assertEqual(self.cluster.muster("secrets", "rm", "turns").code, 4)

    def test_audit_names_the_act_and_the_version(self):
        self.set("audited")
        acts = self.cluster.get("/audit", act="secret.set")["entries"]
        entry = next(one for one in acts if one["object"] == "secret audited")
        self.assertEqual((entry["actor"], entry["detail"]), ("admin", "version 1"))

    def test_bad_requests_are_refused_without_repeating_the_value(self):
        for body in ({"value_base64": base64.b64encode(b"abc").decode()}, {"value_base64": "hunter2!"},
                     {"value": "hunter2-hunter2"}, {}):
            answer = self.cluster.http("PUT", "/api/v1/secrets/bad", body)
            self.assertEqual(answer.status, 400, answer)
            self.assertNotIn(b"hunter2", answer.body)
        answer = self.cluster.http("PUT", "/api/v1/secrets/-bad", {"value_base64": base64.b64encode(VALUE).decode()})
        self.assertEqual(answer.status, 400, answer)
        self.assertNotIn("bad", self.cluster.muster("secrets", "list").text)

    def test_survives_a_crash_and_a_restore(self):
        cluster = self.new_cluster("h3")
        self.set("kept", cluster=cluster)
        cluster.restart_server(signal.SIGKILL)
        cluster.wait_online("h3")
        self.assertIn("***", self.show("kept", "h3", cluster=cluster).text)
        backup = cluster.folder / "backup"
        self.assertEqual(musterd("backup", backup, "--data", cluster.data).returncode, 0)
        cluster.server.end(signal.SIGKILL)
        restored = musterd("restore", backup, "--data", cluster.data, "--force")
        self.assertEqual(restored.returncode, 0, restored)
        cluster.start_server()
        cluster.wait_online("h3")
        self.assertIn(hashlib.sha256(VALUE).hexdigest(), self.show("kept", "h3", cluster=cluster).text)

    def test_server_does_not_start_with_a_key_that_others_may_read(self):
        cluster = self.new_cluster()
        self.set("kept", cluster=cluster)
        cluster.server.end(signal.SIGTERM)
        (cluster.data / "seal.key").chmod(0o644)
        started = musterd("--data", cluster.data, "--listen", "127.0.0.1:0")
        self.assertNotEqual(started.returncode, 0)
        self.assertIn("seal.key", started.stderr)

    def test_sealing_key_is_replaced_by_setting_every_secret_again(self):
        """As docs/secrets.md says, after the key may have been read."""
        cluster = self.new_cluster("h4")
        self.set("known", cluster=cluster)
        cluster.server.end(signal.SIGTERM)
        before = (cluster.data / "seal.key").read_bytes()
        (cluster.data / "seal.key").unlink()
        cluster.start_server()
        cluster.wait_online("h4")
        self.assertNotEqual((cluster.data / "seal.key").read_bytes(), before)
        self.assertIn("known", str(self.show("known", "h4", code=6, cluster=cluster)))
        self.set("known", cluster=cluster)
        self.assertIn(hashlib.sha256(VALUE).hexdigest(), self.show("known", "h4", cluster=cluster).text)


if __name__ == "__main__":
    unittest.main()
