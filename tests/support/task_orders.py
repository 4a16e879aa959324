"""Orders as an agent keeps them in a task's folder, with any content, and the shim that carries them out.

No server would send some of them. A compromised one would, and what the agent promises holds against it too.
"""

import subprocess
from pathlib import Path

from muster_processes import BIN

_BYTES = 2


def _varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def _field(number, value):
    """One field of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, (str, Path)):
        value = str(value).encode()
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def push(to, content=None, files=()):
    """The part of a command that puts a file there; `files` are (SHA-256 in bytes, size)."""
    entries = b"".join(_field(1, _field(2, sha256) + _field(3, size) + _field(4, 0o644)) for sha256, size in files)
    return _field(17, entries + (_field(3, content) if content is not None else b"") + _field(4, to))


def reboot():
    """The part of a command that restarts the host by the system's own way."""
    return _field(40, b"")


def make_task(data, action, env, user=""):
    """Writes the order into a task's folder below the agent's data folder `data`; gives the folder."""
    command = b"".join(_field(6, _field(1, name) + _field(2, value)) for name, value in env.items())
    command += _field(8, user) + _field(10, 60_000) + _field(11, 1_000) + _field(12, 1 << 20) + action
    key = _field(1, 12) + _field(2, 1) + _field(4, 7) + _field(5, 1)
    order = _field(1, key) + _field(6, "command") + _field(7, "h1") + _field(8, command)
    folder = Path(data) / "tasks/r12-1-0-h7-1"
    folder.mkdir(parents=True)
    (folder / "order").write_bytes(b"muster order 1\nboot\n" + order)
    return folder


def start_shim(folder, *before):
    """The shim of the task; `before` are words that start it."""
    return subprocess.Popen([*map(str, before), str(BIN / "muster-agent"), "shim", str(folder)], env={},
                            stdin=subprocess.DEVNULL)
