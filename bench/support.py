"""What the benchmarks share: a server to measure, a way to ask it, and what a process costs."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build/release/bin"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Api:
    """Calls over one connection. Plain HTTP, which the port answers on loopback, costs the caller least."""

    def __init__(self, port, data, tls=True):
        if tls:
            context = ssl.create_default_context(cafile=str(data / "ca.pem"))
            self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=120)
        else:
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.token = (data / "admin.token").read_text().strip()

    def call(self, method, path, body=None):
        self.connection.request(
            method,
            path,
            body=None if body is None else json.dumps(body),
            headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"},
        )
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)


def wait_for(what, condition, seconds, every=0.05):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(every)
    raise RuntimeError(f"{what}: not within {seconds} s")


def ready(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def cpu_seconds(pid, with_children=False):
    """CPU a process has used; with its children, those it has waited for and those that live."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        living = [task.read_text().split() for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children")]
    except FileNotFoundError:
        return 0
    used = sum(int(field) for field in fields[11:15 if with_children else 13]) / os.sysconf("SC_CLK_TCK")
    if not with_children:
        return used
    return used + sum(cpu_seconds(int(child), True) for children in living for child in children)


def rss_kb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


class Lab:
    """A folder, the processes started in it, and their end."""

    def __init__(self, name):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"muster-{name}-"))
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            self.end(child)
        if not os.environ.get("KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, name, words, environment=None):
        with open(self.folder / f"{name}.log", "a") as log:
            child = subprocess.Popen([str(word) for word in words], stderr=log, stdout=log,
                                     env={**os.environ, **(environment or {})})
        self.children.append(child)
        return child

    def end(self, child, how=signal.SIGTERM):
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(how)
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def start_server(self, port, options=()):
        server = self.start("musterd", [BIN / "musterd", "--data", self.folder / "server", "--listen",
                                        f"127.0.0.1:{port}", *options])
        wait_for("musterd", lambda: ready(port), 60, 0.01)
        return server
