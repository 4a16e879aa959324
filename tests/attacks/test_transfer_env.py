"""An operator, or a compromised server, sends variables with an order and wants root.

The agent runs as root; the host's owner allows tasks only as `nobody`. Pushes, pulls and restarts are carried out by
the agent itself, with its own rights. The attacker must not get code of theirs to run there: not by variables of the
dynamic linker or the C library, and not by a PATH in which a program of theirs has the name of the system's.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import DEADLINE, ClusterTest, wait_until  # noqa: E402
from muster_processes import processes_of  # noqa: E402
import task_orders  # noqa: E402

NOBODY = 65534

# Writes the effective user of each process that loads it. la_version makes it a library for LD_AUDIT too.
SPY = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
unsigned la_version(unsigned version) { return version; }
__attribute__((constructor)) static void begin(void) {
  char line[32];
  int size = snprintf(line, sizeof line, "%d\n", (int)geteuid());
  int file = open(MARKS, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file >= 0 && write(file, line, size) != size) _exit(99);
}
"""


class Spy:
    """A library and a file where it leaves marks."""

    def __init__(self, folder):
        self.folder = folder
        self.marks_file = folder / "marks"
        self.library = folder / "spy.so"
        folder.chmod(0o777)
        self.forget()
        self.marks_file.chmod(0o666)
        source = folder / "spy.c"
        source.write_text(SPY)
        subprocess.run(["cc", "-shared", "-fPIC", f'-DMARKS="{self.marks_file}"', "-o", self.library, source], check=True)

    def forget(self):
        self.marks_file.write_text("")

    def marks(self):
        """Users whose processes loaded the library."""
        return {int(line) for line in self.marks_file.read_text().split()}

    def environments(self):
        yield {"LD_PRELOAD": str(self.library)}
        yield {"LD_AUDIT": str(self.library)}
        yield {"LD_LIBRARY_PATH": str(self.folder), "GCONV_PATH": str(self.folder), "LOCPATH": str(self.folder),
               "GLIBC_TUNABLES": "glibc.malloc.check=3", "OPENSSL_CONF": str(self.folder / "openssl.cnf"),
               "PATH": str(self.folder), "BASH_ENV": str(self.folder / "spy.c"), "LD_PRELOAD": str(self.library)}


class Temporary(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="muster-test-")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.folder.chmod(0o755)
        (self.folder / "spy").mkdir()
        self.spy = Spy(self.folder / "spy")


class AnOperator(ClusterTest):
    """Through the API, on a host whose tasks are `nobody`."""

    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("h1", options=["--run-as", "nobody"])
        cls.cluster.wait_online("h1")
        (cls.cluster.folder / "spy").mkdir()
        cls.spy = Spy(cls.cluster.folder / "spy")

    def setUp(self):
        self.spy.forget()

    def attempt(self, body):
        """Starts the run, if the server takes it, and waits for its end."""
        answer = self.cluster.http("POST", "/api/v1/runs", {"targets": "h1", **body})
        if answer.status < 300:
            self.cluster.wait_end(answer.json()["id"])
        return answer

    def test_the_library_works(self):
        """Else the other tests would show nothing."""
        for env in self.spy.environments():
            self.spy.forget()
            self.attempt({"command": {"argv": ["/bin/true"]}, "env": env})
            self.assertEqual(self.spy.marks(), {NOBODY}, env)

    def test_a_push_with_variables(self):
        for env in self.spy.environments():
            answer = self.attempt({"push": {"content": "x", "to": str(self.spy.folder / "pushed")}, "env": env})
            self.assertNotIn(0, self.spy.marks(), env)
            self.assertEqual(answer.status, 400, answer)
        answer = self.attempt({"push": {"content": "x", "to": str(self.spy.folder / "pushed")}})
        self.assertEqual((self.spy.folder / "pushed").stat().st_uid, NOBODY, answer)

    def test_a_pull_with_variables(self):
        for env in self.spy.environments():
            answer = self.attempt({"pull": {"paths": ["/etc/hostname"]}, "env": env})
            self.assertNotIn(0, self.spy.marks(), env)
            self.assertEqual(answer.status, 400, answer)


class ACompromisedServer(Temporary):
    """Orders that no server sends, carried out by a real shim."""

    def transfer_of(self, folder):
        """The process that moves files for the task."""
        for pid in processes_of(folder):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "muster-transfer":
                return pid
        return None

    def test_a_push_with_variables(self):
        for number, env in enumerate(self.spy.environments()):
            place = self.spy.folder / f"pushed-{number}"
            data = self.folder / f"data-{number}"
            shim = task_orders.start_shim(task_orders.make_task(data, task_orders.push(place, "x"), env, "nobody"))
            self.assertEqual(shim.wait(DEADLINE), 0)
            self.assertEqual(self.spy.marks(), set(), env)
            self.assertEqual((place.read_text(), place.stat().st_uid), ("x", NOBODY))

    def test_no_variable_reaches_a_transfer(self):
        data = self.folder / "data"
        data.mkdir()
        # No server is there, so the transfer tries again and can be looked at.
        (data / "agent.conf").write_text("server = https://127.0.0.1:1\nstore = 01\n")
        for name in ("agent.key", "agent.crt", "ca.pem"):
            (data / name).write_text("")
        env = {name: "x" for name in ("GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_ARENA_MAX",
                                      "RES_OPTIONS", "HOSTALIASES", "TMPDIR", "OPENSSL_CONF", "SSL_CERT_FILE",
                                      "BASH_ENV", "ENV", "IFS", "HOME", "PATH", "MUSTER_RUN")}
        action = task_orders.push(self.spy.folder / "pushed", files=[(hashlib.sha256(b"x").digest(), 1)])
        folder = task_orders.make_task(data, action, env, "nobody")
        shim = task_orders.start_shim(folder)
        try:
            pid = wait_until("the transfer runs", lambda: self.transfer_of(folder))
            words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            self.assertEqual([word for word in words if word.endswith(b"=x")], [])
        finally:
            shim.send_signal(signal.SIGTERM)
            shim.wait(DEADLINE)

    def test_a_restart_with_a_path(self):
        """In namespaces of its own, where the system's `reboot` only leaves a mark."""
        evil = self.folder / "evil"
        evil.mkdir()
        system = self.folder / "system"
        system.mkdir()
        for folder, exit_code in ((evil, 1), (system, 1)):
            for name in ("reboot", "systemctl"):
                program = folder / name
                program.write_text(f"#!/bin/sh\n/usr/bin/env > {folder}/ran\nexit {exit_code}\n")
                program.chmod(0o755)
        enter = ("mount -t tmpfs none /run && mount -t tmpfs none /usr/sbin && "
                 "{ test -L /sbin || mount --bind /usr/sbin /sbin; } && cp \"$0/reboot\" /usr/sbin/ && exec \"$@\"")
        env = {"PATH": str(evil), "LD_PRELOAD": str(self.spy.library)}
        folder = task_orders.make_task(self.folder / "data", task_orders.reboot(), env)
        shim = task_orders.start_shim(folder, "/usr/bin/unshare", "--mount", "--pid", "--fork", "--mount-proc",
                                      "--kill-child", "/bin/sh", "-c", enter, system)
        self.assertEqual(shim.wait(DEADLINE), 0)
        self.assertFalse((evil / "ran").exists(), "a program of the attacker ran")
        self.assertEqual(self.spy.marks(), set())
        ran = (system / "ran").read_text()
        self.assertNotIn(str(evil), ran)
        self.assertNotIn("LD_PRELOAD", ran)


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
