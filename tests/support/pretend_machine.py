"""Agents on machines that can restart: each in a process and mount namespace of its own, with a boot id that changes.

A task asks for a restart by writing the machine's `restart` file (the job's `reboot: {command: …}`). The machine then
ends with all its processes, gets another boot id, and its agent starts again, as after a real one.
"""
import os
import threading
import uuid

from muster_cluster import BIN, Agent

ENTER = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'


class PretendMachine(Agent):
    def __init__(self, cluster, name):
        data = cluster.folder / name
        super().__init__(cluster, name, data)
        self.boot_id = cluster.folder / f"{name}.boot"
        self.restart_file = cluster.folder / f"{name}.restart"
        self.restarts = 0
        self._new_boot()
        self.words = [str(word) for word in self._inside(data)]
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _inside(self, data):
        as_root = [] if os.getuid() == 0 else ["--map-root-user"]
        return ["unshare", *as_root, "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", ENTER,
                self.boot_id, BIN / "muster-agent", "--data", data]

    def _new_boot(self):
        # In place, as the bind mount is of the file itself.
        self.boot_id.write_text(f"{uuid.uuid4()}\n")

    def _watch(self):
        while not self._closing.wait(0.05):
            if self.restart_file.exists():
                self.restart_file.unlink()
                self.end()
                self._new_boot()
                self.restarts += 1
            # Also again: the processes of before may still be going, and hold the data folder.
            if self.process is not None and not self.running():
                self.start()

    def close(self):
        self._closing.set()
        self._watcher.join()


def add_machines(cluster, *names, labels=None):
    machines = []
    for name in names:
        machine = PretendMachine(cluster, name)
        cluster.agents[name] = machine
        cluster.daemons.append(machine)
        machine.join(labels)
        machines.append(machine)
    cluster.wait_online(*names)
    return machines
