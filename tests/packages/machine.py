"""A clean Debian, booted with its own systemd in a container, to install packages in.

The base system is made once by debootstrap from the mirror this machine's apt uses, with the libraries the
packages depend on, and kept under ~/.cache/muster. Each machine is an overlay on it that is thrown away.
"""

import functools
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import muster_processes  # noqa: E402

DEADLINE = 120.0
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "muster"
ALWAYS = ["systemd", "systemd-sysv", "dbus", "init-system-helpers", "passwd"]

wait_until = functools.partial(muster_processes.wait_until, deadline=DEADLINE)


def codename():
    return re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M).group(1)


def mirror():
    """Where this machine's apt gets its own release from."""
    for file in sorted(Path("/etc/apt").glob("sources.list.d/*.sources")):
        for stanza in file.read_text().split("\n\n"):
            uri = re.search(r"^URIs:\s*(\S+)", stanza, re.M)
            if uri and re.search(rf"^Suites:.*\b{codename()}(\s|$)", stanza, re.M):
                return uri.group(1)
    for file in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt").glob("sources.list.d/*.list"))]:
        if file.exists():
            entry = re.search(rf"^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+{codename()}\s", file.read_text(), re.M)
            if entry:
                return entry.group(1)
    raise AssertionError(f"apt knows no mirror of {codename()}")


def depends(debs):
    """Names of the packages that the given ones depend on, without each other."""
    names, own = set(), set()
    for deb in debs:
        own.add(subprocess.check_output(["dpkg-deb", "-f", deb, "Package"], text=True).strip())
        text = subprocess.check_output(["dpkg-deb", "-f", deb, "Depends"], text=True)
        names |= {part.split("|")[0].split("(")[0].strip() for part in text.split(",") if part.strip()}
    return sorted(names - own)


def base_system(debs):
    """The folder of a clean system with what the packages depend on; made when there is none."""
    wanted = sorted(set(ALWAYS + depends(debs)))
    key = hashlib.sha256("\n".join([codename(), *wanted]).encode()).hexdigest()[:12]
    base = CACHE / f"base-{codename()}-{key}"
    if base.is_dir():
        return base
    CACHE.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix="making-", dir=CACHE))
    making.chmod(0o755)
    print(f"making a base system in {base}", file=sys.stderr)
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(wanted), codename(), making,
                           mirror()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        raise AssertionError("debootstrap failed:\n" + done.stdout[-4000:])
    shutil.rmtree(making / "var/cache/apt", ignore_errors=True)
    # Each machine has an identity of its own.
    (making / "etc/machine-id").write_text("")
    try:
        making.rename(base)
    except OSError:
        # Another test made the same one meanwhile.
        shutil.rmtree(making, ignore_errors=True)
        assert base.is_dir(), base
    return base


class Outcome:
    def __init__(self, words, done):
        self.words, self.code, self.text, self.complaint = words, done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return f"{self.words} -> {self.code}\n{self.text[-3000:]}\n{self.complaint[-3000:]}"


class Machine:
    """One booted system. `share` is seen inside as /share."""

    def __init__(self, base, share, name="testhost"):
        self.folder = Path(tempfile.mkdtemp(prefix="muster-machine-"))
        self.name = name
        self.process = None
        self.groups = []
        self.root = self.folder / "root"
        try:
            self._mount(base)
            self._boot(share)
        except BaseException:
            print(self.console(), file=sys.stderr)
            self.close()
            raise

    def _mount(self, base):
        upper, work = self.folder / "upper", self.folder / "work"
        for folder in (self.root, upper, work):
            folder.mkdir(mode=0o755)
        subprocess.check_call(["mount", "-t", "overlay", "overlay", "-o",
                               f"lowerdir={base},upperdir={upper},workdir={work}", self.root])
        (self.root / "etc/hostname").write_text(self.name + "\n")
        # Nothing from outside is needed, and the machine has no network but its loopback.
        for unit in ("apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "fstrim.timer"):
            (self.root / "etc/systemd/system" / unit).symlink_to("/dev/null")

    def _own_group(self):
        """A control group of its own, so that machines do not meet in one."""
        top = Path("/sys/fs/cgroup")
        places = [top] if (top / "cgroup.procs").exists() else [top / "systemd", top / "unified"]
        for place in places:
            if (place / "cgroup.procs").exists():
                group = place / self.folder.name
                group.mkdir()
                self.groups.append(group)

    def _enter_group(self):
        for group in self.groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    def _boot(self, share):
        self._own_group()
        words = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network",
                 "--hostname=" + self.name, "--directory=" + str(self.root), f"--bind-ro={share}:/share",
                 "--console=pipe", "--boot"]
        self._console = open(self.folder / "console", "wb")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self._console,
                                        stderr=subprocess.STDOUT, preexec_fn=self._enter_group)
        self.init = wait_until("the machine's first process runs", self._find_init)
        wait_until("the machine is up", self._is_up)

    def _find_init(self):
        assert self.process.poll() is None, "systemd-nspawn ended: " + self.console()
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for child in children.read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
        return None

    def _is_up(self):
        state = self.run("systemctl", "is-system-running").text.strip()
        return state in ("running", "degraded")

    def run(self, *words, stdin="", deadline=DEADLINE):
        """A command inside, as root."""
        words = [str(word) for word in words]
        enter = ["nsenter", "--target", str(self.init), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup",
                 "--root", "--wd", "--", "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                 "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *words]
        return Outcome(words, subprocess.run(enter, input=stdin, capture_output=True, text=True, timeout=deadline,
                                             check=False))

    def must(self, *words, **more):
        outcome = self.run(*words, **more)
        assert outcome.code == 0, outcome
        return outcome.text

    def sh(self, line, **more):
        return self.must("sh", "-c", line, **more)

    def show(self, unit, name):
        """A property of a unit."""
        return self.must("systemctl", "show", "--value", "-p", name, unit).strip()

    def wait_active(self, unit):
        wait_until(f"{unit} is active", lambda: self.show(unit, "ActiveState") == "active")

    def console(self):
        try:
            return (self.folder / "console").read_text(errors="replace")[-4000:]
        except OSError:
            return ""

    def journal(self):
        if self.process is None or self.process.poll() is not None:
            return self.console()
        return self.run("journalctl", "--no-pager", "-n", "150", "-u", "musterd", "-u", "muster-agent").text

    def close(self):
        if self.process is not None and self.process.poll() is None:
            # systemd's signal to halt at once; what does not obey is ended with its namespace.
            if getattr(self, "init", None):
                try:
                    os.kill(self.init, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process is not None:
            self._console.close()
        subprocess.run(["umount", "--lazy", self.root], stderr=subprocess.DEVNULL, check=False)
        for group in self.groups:
            # A kernel needs a moment to let go of the last process's group.
            wait_until(f"{group} is empty", lambda group=group: self._remove_group(group), deadline=30)
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _remove_group(group):
        for folder in sorted((Path(path) for path, _, _ in os.walk(group)), key=lambda p: -len(p.parts)):
            try:
                folder.rmdir()
            except OSError:
                return False
        return True
