#!/usr/bin/env python3
"""An operator who may only be `nobody` reads and changes the keys that root's tasks keep in their session keyring.

The agent runs as systemd starts a service: with a session keyring of its own, which every process inherits that does not
join another one. Whoever has it may read what is in it, replace it and clear it, whatever user they are. Root's tasks keep
Kerberos tickets and passwords of network file systems there.
"""

import ctypes
import errno
import os
import platform
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import Agent, ClusterTest, wait_until  # noqa: E402

KEYCTL = {"x86_64": 250, "aarch64": 219}.get(platform.machine())

# Runs the program in its words with a new session keyring, whose number it writes to the file that comes first.
AS_SYSTEMD = f"""
import ctypes, os, sys
keyring = ctypes.CDLL(None).syscall({KEYCTL}, 1, None)
assert keyring > 0
open(sys.argv[1], "w").write(str(keyring))
os.execv(sys.argv[2], sys.argv[2:])
"""

# What a task has: add(text), find() and read(key), all of one name. A failure is None.
KEYS = f"""
import ctypes, sys
libc = ctypes.CDLL(None)
session = ctypes.c_int(-3)
def call(number, *words):
    result = libc.syscall(number, *words)
    return result if result >= 0 else None
def add(text):
    return call({KEYCTL} - 2, b"user", b"ticket", text, ctypes.c_size_t(len(text)), session)
def find():
    return call({KEYCTL}, 10, session, b"user", b"ticket", 0)
def read(key):
    room = ctypes.create_string_buffer(100)
    size = key and call({KEYCTL}, 11, key, room, ctypes.c_size_t(100))
    return size and room.raw[:size].decode()
"""


def has_keyrings():
    libc = ctypes.CDLL(None, use_errno=True)
    return KEYCTL and (libc.syscall(KEYCTL, 0, ctypes.c_int(-3), 0) >= 0 or ctypes.get_errno() == errno.ENOKEY)


@unittest.skipUnless(has_keyrings(), "this kernel has no keyrings, or a sandbox forbids them")
class Keyring(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        agent = Agent(cls.cluster, "h1", cls.cluster.folder / "h1",
                      options=["--allow-user", "root", "--allow-user", "nobody"])
        cls.keyring = cls.cluster.folder / "keyring"
        agent.words = ["/usr/bin/python3", "-c", AS_SYSTEMD, str(cls.keyring), *map(str, agent.words)]
        cls.cluster.agents["h1"] = agent
        cls.cluster.daemons.append(agent)
        agent.join()
        cls.cluster.wait_online("h1")

    def begin(self, user, code):
        return self.cluster.start_run("-t", "h1", "--user", user, "--", "/usr/bin/python3", "-c", KEYS + code)

    def task(self, user, code):
        """What it prints."""
        run = self.begin(user, code)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded", self.cluster.log_of(run, "h1"))
        return self.printed(run)

    def printed(self, run):
        return self.cluster.log_of(run, "h1").decode().strip()

    def test_tasks_do_not_share_keys(self):
        self.assertEqual(self.task("root", "add(b'of root'); print(read(find()))"), "of root", "its own it has")
        self.assertEqual(self.task("nobody", "print(read(find()))"), "None")
        self.assertEqual(self.task("root", "print(read(find()))"), "None", "of an earlier task")

    def test_what_nobody_plants_is_not_taken_for_roots(self):
        self.assertEqual(self.task("nobody", "add(b'planted'); print(read(find()))"), "planted")
        self.assertEqual(self.task("root", "print(read(find()))"), "None")

    def test_keys_of_a_task_that_runs_stay_as_they_are(self):
        flag = self.cluster.folder / "go-on"
        run = self.begin("root", f"""
import os, time
add(b"of root")
print("ready", flush=True)
end = time.monotonic() + 600
while not os.path.exists({str(flag)!r}) and time.monotonic() < end:
    time.sleep(0.1)
print(read(find()))
""")
        self.addCleanup(self.cluster.muster, "kill", run)
        wait_until("the key is there", lambda: self.printed(run) == "ready")
        self.task("nobody", "add(b'replaced')")
        self.task("nobody", f"call({KEYCTL}, 7, session)")
        flag.touch()
        self.cluster.wait_end(run)
        self.assertEqual(self.printed(run), "ready\nof root")

    def test_full_quota_does_not_keep_a_task_in_the_agents_keyring(self):
        """Each user may hold so many keys. Once there is no room for one more, a task must not stay where it was."""
        self.addCleanup(self.task, "nobody", f"call({KEYCTL}, 7, ctypes.c_int(-4))")
        self.task("nobody", f"""
user = ctypes.c_int(-4)
for number in range(5000):
    if call({KEYCTL} - 2, b"user", b"fill%d" % number, b"x", ctypes.c_size_t(1), user) is None:
        break
else:
    sys.exit("there is no bound")
""")
        number = self.task("nobody", f"print(call({KEYCTL}, 0, session, 0))")
        self.assertRegex(number, "^[0-9]+$")
        self.assertNotEqual(number, self.keyring.read_text())


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
