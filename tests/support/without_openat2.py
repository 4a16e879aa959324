"""Runs a program on a kernel without openat2: `without_openat2.py PROGRAM ARGUMENT…`.

A seccomp filter answers ENOSYS to that call, as a kernel before 5.6 does, for the program and everything it starts.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

OPENAT2 = 437  # on every architecture
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


def openat2_error():
    """The errno of an openat2 that can only fail: EFAULT where the kernel has the call."""
    assert _libc.syscall(OPENAT2, -100, None, None, ctypes.c_size_t(24)) == -1
    return ctypes.get_errno()


def take_openat2_away():
    """For this process and what it starts; also for the child of a fork, before it becomes another program."""
    def step(code, value, if_true=0, if_false=0):
        return struct.pack("=HBBI", code, if_true, if_false, value)

    steps = b"".join([
        step(_LOAD, 4), step(_JUMP_IF_EQUAL, ARCHITECTURES[platform.machine()], 0, 3),
        step(_LOAD, 0), step(_JUMP_IF_EQUAL, OPENAT2, 0, 1),
        step(_RETURN, _ERRNO | errno.ENOSYS),
        step(_RETURN, _ALLOW)])
    buffer = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    # Without root's rights the kernel takes a filter only from a process that can gain none.
    if os.geteuid() != 0 and _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no new privileges")
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


if __name__ == "__main__":
    take_openat2_away()
    assert openat2_error() == errno.ENOSYS, "openat2 is still there"
    os.execv(sys.argv[1], sys.argv[1:])
