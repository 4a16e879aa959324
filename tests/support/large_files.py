"""Large files for tests, and the processes that move them."""

import hashlib
import os
from pathlib import Path

from muster_processes import processes_of

MEGABYTE = 1 << 20


def make_file(path, megabytes):
    """A file that no disk can make smaller; gives its SHA-256."""
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for _ in range(megabytes):
            block = os.urandom(MEGABYTE)
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def transfers_of(folder):
    """The processes of a cluster that move files."""
    found = []
    for pid in processes_of(folder):
        try:
            if Path(f"/proc/{pid}/comm").read_text().strip() == "muster-transfer":
                found.append(pid)
        except OSError:
            continue
    return found
