"""Connections without manners, and links under a host's own key that send any frame."""

import base64
import hashlib
import http.client
import os
import re
import socket
import ssl
import struct

from muster_cluster import Answer, ClusterTest
from muster_processes import DEADLINE
from protobuf import field, fields


def read_all(connection):
    """What comes until the server closes."""
    data = b""
    while True:
        try:
            piece = connection.recv(65536)
        except (ConnectionError, ssl.SSLError):
            return data
        if not piece:
            return data
        data += piece


class Wire:
    """A TLS connection without manners."""

    def __init__(self, cluster, certificate=None):
        context = cluster.tls()
        if certificate:
            context.load_cert_chain(certificate / "agent.crt", certificate / "agent.key")
        plain = socket.create_connection(("127.0.0.1", cluster.port), timeout=DEADLINE)
        self.socket = context.wrap_socket(plain, server_hostname="127.0.0.1")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, data):
        """The answer's head and body, of a connection that the server closes."""
        self.socket.sendall(data)
        head, _, body = read_all(self.socket).partition(b"\r\n\r\n")
        return head.decode(), body.decode()


class Link(Wire):
    """A WebSocket link under a host's key, that says what it likes."""

    def __init__(self, cluster, certificate):
        super().__init__(cluster, certificate)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /api/v1/link HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(1)
            assert piece, f"no link: {head!r}"
            head += piece
        assert head.startswith(b"HTTP/1.1 101 "), head

    def frame(self, payload, opcode=2, claimed=None):
        size = len(payload) if claimed is None else claimed
        # The shortest way to say the size, as a longer one is refused before the payload is looked at.
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        # A mask of zeros leaves the payload as it is.
        self.socket.sendall(head + b"\0\0\0\0" + payload)

    def read(self):
        """The next frame of the server: its opcode and payload."""
        head = self._exactly(1)[0]
        size = self._exactly(1)[0]
        if size > 125:
            size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
        return head & 0xF, self._exactly(size)

    def closed(self):
        """Reads until the server closes, and agrees when it says that it will: else it waits for that a while."""
        try:
            while True:
                if self.read()[0] == 8:
                    self.frame(b"", opcode=8)
        except (ConnectionError, ssl.SSLError):
            pass
        return True

    def _exactly(self, size):
        data = bytearray()
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the server closed")
            data += piece
        return bytes(data)


# Protocol buffers, as far as links need them.

def task_key(run, host, visit=1, ordinal=0, attempt=1):
    return field(1, run) + field(2, visit) + field(3, ordinal) + field(4, host) + field(5, attempt)


def chunk(key, offset, data, stream=1):
    """A NodeFrame with a piece of output; frames put together are one."""
    return field(4, field(1, key) + field(2, offset) + field(3, stream) + field(5, data))


class HostileAgent(Link):
    """A link under the key of a host whose agent was stopped."""

    sessions = 1 << 24  # above those that the agent itself used

    def __init__(self, agent):
        super().__init__(agent.cluster, agent.data)
        settings = (agent.data / "agent.conf").read_text()
        self.store = re.search(r"^store = (\w+)$", settings, re.M).group(1)

    def hello(self, held=()):
        """Says Hello and is welcomed; lists the tasks of these keys as running. The host's id."""
        HostileAgent.sessions += 1
        self.session = HostileAgent.sessions
        # Without the feature for files it would not be sent orders that move some.
        message = field(1, "0.1.0") + field(2, "files") + field(4, self.store) + field(5, "b") + field(6, self.session)
        for key in held:
            message += field(8, field(1, key) + field(2, 2))
        self.frame(field(2, message))
        return self.await_field(2, lambda welcome: dict(fields(welcome))[4])

    def await_field(self, wanted, take):
        """Reads frames until one has the field, and what `take` finds in it, unless that is None."""
        while True:
            opcode, payload = self.read()
            if opcode == 8:
                raise ConnectionError("the server closed the link")
            for name, value in fields(payload) if opcode == 2 else ():
                if name == wanted and (found := take(value)) is not None:
                    return found

    def order(self):
        """The key of the next task that is ordered."""
        return self.await_field(5, lambda order: dict(fields(order))[1])

    def send_output(self, key, offset, data):
        """Sends output and waits until it is acknowledged. False: the server closed the link instead."""
        end = offset + len(data)
        try:
            self.frame(b"".join(chunk(key, offset + at, data[at:at + 65536]) for at in range(0, len(data), 65536)))
            self.await_field(7, lambda ack: True if dict(fields(ack)).get(2, 0) >= end else None)
        except (ConnectionError, ssl.SSLError):
            return False
        return True

    def end_task(self, key, stdout):
        """Reports that the task succeeded, with this output, all of which was sent."""
        totals = field(1, len(stdout)) + field(4, hashlib.sha256(stdout).digest())
        end = field(1, 4) + field(6, 1) + field(7, 2) + field(8, totals)
        self.frame(field(1, self.session) + field(5, field(1, key) + field(2, 3) + field(3, end)))


class HostileTest(ClusterTest):
    """Tests with a host `bad`, whose agent is stopped and whose key is used by something else."""

    hosts = ("good", "bad")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.bad = cls.cluster.agents["bad"]
        cls.before_the_end()
        cls.bad.end()
        cls.cluster.wait_offline("bad")

    @classmethod
    def before_the_end(cls):
        """What the test needs of the agent while it is an honest one."""

    def link(self):
        """A link of the host as `self.agent`, before its Hello."""
        self.agent = HostileAgent(self.bad)
        self.addCleanup(self.agent.socket.close)

    def connect(self):
        """The same, and the host is online."""
        self.link()
        self.agent.hello()
        self.cluster.wait_online("bad")

    def start(self, body):
        """The id of a run on the host, which the test stops at its end; and the key of its task."""
        started = self.cluster.http("POST", "/api/v1/runs", {"targets": "bad", **body})
        self.assertEqual(started.status, 201, started)
        run = started.json()["id"]
        self.addCleanup(self.cluster.muster, "stop", run)
        return run, self.agent.order()

    def ask(self, method, path, body=None, headers=None):
        """The answer to a call by the host's certificate."""
        context = self.cluster.tls()
        context.load_cert_chain(self.bad.data / "agent.crt", self.bad.data / "agent.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=context, timeout=DEADLINE)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()


def path_of(content):
    """Where the server has an artifact of this content."""
    return "/api/v1/artifacts/" + hashlib.sha256(content).hexdigest()
