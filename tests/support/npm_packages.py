"""Puts the npm packages of a package-lock.json into a folder, once for each state of the lock file.

    npm_packages.py SOURCE FOLDER    SOURCE has package.json, package-lock.json and .npmrc
"""

import fcntl
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

FILES = ("package.json", "package-lock.json", ".npmrc")


def _is_there(source, folder):
    mark = folder / "node_modules/.package-lock.json"  # npm writes it last
    copy = folder / "package-lock.json"
    return mark.exists() and copy.exists() and copy.read_text() == (source / "package-lock.json").read_text()


def check_node(source):
    """Fails with what to do when node or npm is missing, or node is older than package.json says."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise RuntimeError(f"{program} is not installed; scripts/deps installs it")
    wanted = json.loads((Path(source) / "package.json").read_text()).get("engines", {}).get("node", ">=0")
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    numbers = [[int(number) for number in re.findall(r"\d+", text)] for text in (said, wanted)]
    if numbers[0] < numbers[1]:
        raise RuntimeError(f"{shutil.which('node')} is version {said.strip() or 'unknown'}; {source}/package.json needs "
                           f"{wanted}: install a newer Node.js, or put one first in PATH")


def install(source, folder):
    check_node(source)
    source, folder = Path(source), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two tests may want them at the same time
        if _is_there(source, folder):
            return
        for name in FILES:
            shutil.copy(source / name, folder / name)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"npm ci in {folder} failed; it needs the network once: {done.stderr[-2000:]}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        install(*sys.argv[1:])
    except RuntimeError as problem:
        sys.exit(f"npm_packages.py: {problem}")
