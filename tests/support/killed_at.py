"""Kills a program at a chosen change of files, with ptrace: so each point of a start can be tried, and none is left to luck."""

import ctypes
import os
import platform
import signal

# Calls that change what a folder holds, and the one that opens a server's port. By machine: numbers differ.
_CHANGES = {
    "x86_64": {82: "rename", 83: "mkdir", 84: "rmdir", 87: "unlink", 257: "openat", 258: "mkdirat", 263: "unlinkat",
               264: "renameat", 316: "renameat2", 77: "ftruncate", 50: "listen"},
    "aarch64": {56: "openat", 34: "mkdirat", 35: "unlinkat", 38: "renameat", 276: "renameat2", 46: "ftruncate", 201: "listen"},
}[platform.machine()]
_TRACEME, _SYSCALL, _SETOPTIONS, _GETEVENTMSG, _GET_SYSCALL_INFO = 0, 24, 0x4200, 0x4201, 0x420E
_OPTIONS = 0x100000 | 0x1 | 0x2 | 0x4 | 0x8  # ends with us; marks stops at calls; forks, vforks and clones are followed
_WALL = 0x40000000


class _CallInfo(ctypes.Structure):
    """struct ptrace_syscall_info, as far as the entry of a call needs it."""

    _fields_ = [("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32), ("ip", ctypes.c_uint64),
                ("sp", ctypes.c_uint64), ("number", ctypes.c_uint64), ("arguments", ctypes.c_uint64 * 6)]


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def _changes_files(info):
    """The name of the call, if it is one of those that count."""
    name = _CHANGES.get(info.number)
    return None if name == "openat" and not info.arguments[2] & os.O_CREAT else name


class KilledAt:
    """Runs `words` and kills it with SIGKILL right before its call number `number` that changes files, or before it
    listens on a port. `call` is the name of that call; None: the program ended before, with `code`."""

    def __init__(self, number, words, log, environment=None):
        self.call, self.code, self._left = None, None, number
        with open(log, "ab") as out:
            self._pid = os.fork()
            if self._pid == 0:
                self._become(words, out, environment)
        try:
            self._follow()
        finally:
            if self.code is None:
                os.kill(self._pid, signal.SIGKILL)
                self._reap()

    @staticmethod
    def _become(words, out, environment):
        try:
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            _libc.ptrace(_TRACEME, 0, None, None)
            os.execve(str(words[0]), [str(word) for word in words], dict(os.environ if environment is None else environment))
        finally:
            os._exit(127)

    def _follow(self):
        os.waitpid(self._pid, 0)  # its exec
        _libc.ptrace(_SETOPTIONS, self._pid, None, _OPTIONS)
        at, passed_on = self._pid, 0
        while True:
            _libc.ptrace(_SYSCALL, at, None, passed_on)
            at, status = os.waitpid(-1, _WALL)
            passed_on = 0
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if at == self._pid:
                    self.code = os.waitstatus_to_exitcode(status)
                    return
                continue
            if os.WSTOPSIG(status) == signal.SIGTRAP | 0x80:
                if self._is_last(at):
                    return
            elif status >> 16 == 0 and os.WSTOPSIG(status) not in (signal.SIGTRAP, signal.SIGSTOP):
                passed_on = os.WSTOPSIG(status)

    def _is_last(self, at):
        info = _CallInfo()
        _libc.ptrace(_GET_SYSCALL_INFO, at, ctypes.sizeof(info), ctypes.byref(info))
        name = _changes_files(info) if info.op == 1 else None
        if name is None:
            return False
        self._left -= 1
        if self._left > 0 and name != "listen":
            return False
        self.call = name
        return True

    def _reap(self):
        """All threads are gone once the first one is reported."""
        while True:
            try:
                at, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                return
            if at == self._pid and (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
                return
