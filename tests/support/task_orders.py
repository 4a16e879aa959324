"""Orders as an agent keeps them in a task's folder, with any content, and the shim that carries them out.

No server would send some of them. A compromised one would, and what the agent promises holds against it too.
"""

import subprocess
from pathlib import Path

from muster_processes import BIN
from protobuf import field


def push(to, content=None, files=()):
    """The part of a command that puts a file there; `files` are (SHA-256 in bytes, size)."""
    entries = b"".join(field(1, field(2, sha256) + field(3, size) + field(4, 0o644)) for sha256, size in files)
    return field(17, entries + (field(3, content) if content is not None else b"") + field(4, to))


def reboot():
    """The part of a command that restarts the host by the system's own way."""
    return field(40, b"")


def make_task(data, action, env, user=""):
    """Writes the order into a task's folder below the agent's data folder `data`; gives the folder."""
    command = b"".join(field(6, field(1, name) + field(2, value)) for name, value in env.items())
    command += field(8, user) + field(10, 60_000) + field(11, 1_000) + field(12, 1 << 20) + action
    key = field(1, 12) + field(2, 1) + field(4, 7) + field(5, 1)
    order = field(1, key) + field(6, "command") + field(7, "h1") + field(8, command)
    folder = Path(data) / "tasks/r12-1-0-h7-1"
    folder.mkdir(parents=True)
    (folder / "order").write_bytes(b"muster order 1\nboot\n" + order)
    return folder


def start_shim(folder, *before):
    """The shim of the task; `before` are words that start it."""
    return subprocess.Popen([*map(str, before), str(BIN / "muster-agent"), "shim", str(folder)], env={},
                            stdin=subprocess.DEVNULL)
