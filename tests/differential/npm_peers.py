"""Puts the npm packages of package-lock.json into a folder, once."""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = ("package.json", "package-lock.json", ".npmrc")


def install(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / "node_modules/.package-lock.json"  # npm writes it last
    lock = (HERE / "package-lock.json").read_text()
    copy = folder / "package-lock.json"
    if mark.exists() and copy.exists() and copy.read_text() == lock:
        return
    for name in FILES:
        shutil.copy(HERE / name, folder / name)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"npm ci in {folder} failed; it needs the network once: {done.stderr[-2000:]}")
