"""A disk that a test can fill: a tmpfs of a few pages, mounted for the test."""

import os
import subprocess
import sys
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


class SmallDisk:
    """Mounted at `place`, which is made. Needs the right to mount, as in a container's root."""

    def __init__(self, place, size):
        self.place = Path(place)
        self.place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", str(self.place)], check=True)
        self._filling = self.place / "filling"

    def free_pages(self):
        disk = os.statvfs(self.place)
        return disk.f_bavail * disk.f_frsize // PAGE

    def fill(self, leave_pages=0):
        """Takes all room but so many pages."""
        with open(self._filling, "ab", buffering=0) as file:
            while (more := self.free_pages() - leave_pages) > 0:
                try:
                    file.write(bytes(more * PAGE))
                except OSError:
                    continue  # somebody took some meanwhile: look again

    def give_back(self):
        self._filling.unlink()

    def close(self):
        subprocess.run(["umount", "--lazy", str(self.place)], check=True)


def with_own_mounts():
    """Starts this program again where its mounts are its own and end with it; as root of a user namespace
    when it is not root."""
    if os.environ.get("MUSTER_OWN_MOUNTS") == "yes":
        return
    os.environ["MUSTER_OWN_MOUNTS"] = "yes"
    as_root = [] if os.getuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", "--mount", *as_root, "--", sys.executable, *sys.argv])
