"""A clean Debian in a virtual machine: its own kernel, so control groups of version 2 whatever this machine has.

Emulated, as nested virtualisation cannot be counted on: it is ten times slower than a container.
"""

import base64
import json
import shutil
import socket
import subprocess

from machine import DEADLINE, Machine, Outcome, wait_until

NEEDS = ["linux-image-cloud-amd64", "initramfs-tools", "python3", "procps"]
SLOWER = 5  # than what deadlines are made for

# Carries out what comes over the second serial line, a command a line; the answer is a line too.
GUEST = '''
import base64, json, subprocess, tty
line = open("/dev/ttyS1", "r+b", buffering=0)
tty.setraw(line)
text = b""
while True:
    text += line.read(65536)
    while b"\\n" in text:
        call, _, text = text.partition(b"\\n")
        if not call.strip():
            continue
        call = json.loads(base64.b64decode(call))
        done = subprocess.run(call["words"], input=call["stdin"].encode(), capture_output=True)
        answer = {"id": call["id"], "code": done.returncode, "out": done.stdout.decode(errors="replace"),
                  "err": done.stderr.decode(errors="replace")}
        line.write(base64.b64encode(json.dumps(answer).encode()) + b"\\n")
'''

UNIT = """[Unit]
Description=The tests' hand in this machine
After=basic.target
[Service]
ExecStart=/usr/bin/python3 /usr/local/lib/guest.py
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
KillMode=process
[Install]
WantedBy=multi-user.target
"""


class VirtualMachine(Machine):
    """One booted system. What `share` holds when it boots is seen inside as /share."""

    def _boot(self, share):
        self.line, self.calls = None, 0
        self._prepare(share)
        disk, line = self.folder / "disk", self.folder / "line"
        subprocess.check_call(["mkfs.ext4", "-q", "-d", self.root, disk, "4G"])
        boot = self.root / "boot"
        words = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "1024", "-nographic", "-no-reboot",
                 "-nic", "none", "-monitor", "none",
                 "-kernel", next(boot.glob("vmlinuz-*")), "-initrd", next(boot.glob("initrd.img-*")),
                 "-append", "root=/dev/vda rw console=ttyS0 quiet",
                 "-drive", f"file={disk},if=virtio,format=raw,cache=unsafe",
                 "-serial", f"file:{self.folder / 'console'}", "-serial", f"unix:{line},server=on,wait=off"]
        self._console = open(self.folder / "qemu", "wb")
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=self._console,
                                        stderr=subprocess.STDOUT)
        wait_until("the machine's serial line is there", line.exists)
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(str(line))
        wait_until("the machine is up", self._is_up, deadline=SLOWER * DEADLINE)

    def _prepare(self, share):
        shutil.copytree(share, self.root / "share")
        (self.root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
        (self.root / "usr/local/lib/guest.py").write_text(GUEST)
        (self.root / "etc/systemd/system/guest.service").write_text(UNIT)
        wants = self.root / "etc/systemd/system/multi-user.target.wants"
        wants.mkdir(exist_ok=True)
        (wants / "guest.service").symlink_to("../guest.service")

    def _is_up(self):
        assert self.process.poll() is None, "qemu ended: " + (self.folder / "qemu").read_text(errors="replace")
        try:
            return self.run("systemctl", "is-system-running", deadline=10).text.strip() in ("running", "degraded")
        except TimeoutError:  # nobody listens yet
            return False

    def run(self, *words, stdin="", deadline=DEADLINE):
        words = [str(word) for word in words]
        self.calls += 1
        call = json.dumps({"id": self.calls, "words": words, "stdin": stdin}).encode()
        self.line.settimeout(deadline * SLOWER)
        self.line.sendall(b"\n" + base64.b64encode(call) + b"\n")
        answer = self._answer()
        return Outcome(words, subprocess.CompletedProcess(words, answer["code"], answer["out"], answer["err"]))

    def _answer(self):
        """To the last call; not to one that was given up, nor what the terminal said of it."""
        while True:
            text = b""
            while not text.endswith(b"\n"):
                text += self.line.recv(1)
            try:
                answer = json.loads(base64.b64decode(text))
            except ValueError:
                continue
            if "code" in answer and answer["id"] == self.calls:
                return answer

    def close(self):
        if self.process is not None:
            self.process.kill()
        if self.line is not None:
            self.line.close()
        super().close()
