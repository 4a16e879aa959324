"""A server that is none: an attacker puts its address into etcd and waits for the real servers to come."""

import base64
import contextlib
import hashlib
import json
import socket
import ssl
import subprocess
import threading
import urllib.request

from protobuf import field

WEBSOCKET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def put(etcd, key, value):
    """Writes a key as whoever has access to etcd can."""
    _ask(etcd, "put", {"key": _b64(key), "value": _b64(json.dumps(value))})


def remove(etcd, key):
    _ask(etcd, "deleterange", {"key": _b64(key)})


def _b64(text):
    return base64.b64encode(text.encode()).decode()


def _ask(etcd, verb, body):
    request = urllib.request.Request(f"{etcd.clients[0]}/v3/kv/{verb}", json.dumps(body).encode(), method="POST")
    context = None
    if "etcd_ca" in etcd.settings:
        context = ssl.create_default_context(cafile=etcd.settings["etcd_ca"])
        context.load_cert_chain(etcd.settings["etcd_cert"], etcd.settings["etcd_key"])
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        answer.read()


class FakeLeader:
    """Listens and keeps what it hears. `chain` and `key`: it speaks TLS with them; otherwise plain text.

    With `frame` it answers a link's upgrade and sends that frame. `port`: it takes the place of a server.
    """

    def __init__(self, chain=None, key=None, frame=None, port=0):
        self.heard = []  # what came over each connection, after TLS
        self.refused = 0  # handshakes that failed
        self._frame = frame
        self._tls = None
        if chain:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.set_ciphers("ALL:@SECLEVEL=0")  # what it shows need not be sound
            self._tls.load_cert_chain(chain, key)
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self.url = f"{'https' if chain else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._listen, args=(connection,), daemon=True).start()

    def _listen(self, connection):
        with contextlib.suppress(OSError), connection:
            connection.settimeout(60)
            if self._tls:
                try:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                except (OSError, ssl.SSLError):
                    self.refused += 1
                    return
            self._hear(connection)

    def _hear(self, connection):
        with connection:
            place = len(self.heard)
            self.heard.append(b"")
            while piece := connection.recv(65536):
                self.heard[place] += piece
                if self._frame is not None and b"Sec-WebSocket-Key" in piece:
                    self._upgrade(connection, self.heard[place])

    def _upgrade(self, connection, request):
        key = next(line.split(b":", 1)[1].strip() for line in request.split(b"\r\n")
                   if line.lower().startswith(b"sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(key + WEBSOCKET).digest())
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        size = len(self._frame)
        head = bytes([0x82, size]) if size < 126 else bytes([0x82, 126]) + size.to_bytes(2, "big")
        connection.sendall(head + self._frame)

    def said(self):
        """All that it was told."""
        return b"".join(self.heard)

    def close(self):
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # else a thread that waits for connections would get one more
        self._socket.close()


def make_certificate(folder, ca_folder, names, use):
    """A key and a certificate of the CA in `ca_folder`, for these subjectAltNames and this extended key usage."""
    folder.mkdir(exist_ok=True)
    key, request, chain, extensions = (folder / name for name in ("key.pem", "request.pem", "chain.pem", "extensions"))
    extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage={use}\nbasicConstraints=critical,CA:FALSE\n")
    for words in (["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key],
                  ["req", "-new", "-key", key, "-subj", "/CN=evil", "-out", request],
                  ["x509", "-req", "-in", request, "-CA", ca_folder / "ca.pem", "-CAkey", ca_folder / "ca.key",
                   "-CAcreateserial", "-CAserial", folder / "serial", "-days", "1", "-extfile", extensions, "-out", chain]):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    return chain, key


def leader_welcome(term, ticket=b""):
    """LeaderFrame{items {welcome: term, ticket}}: "I lead in this term"."""
    return field(1, field(1, term) + (field(7, ticket) if ticket else b""))


def sign_ticket(ca_folder, cluster, term, leader):
    """TermTicket, as a server signs it."""
    text = f"muster term ticket 1\n{len(cluster)}:{cluster}\n{term}\n{len(leader)}:{leader}\n"
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", str(ca_folder / "ca.key")], input=text.encode(),
                               check=True, capture_output=True).stdout
    return field(1, cluster.encode()) + field(2, term) + field(3, leader.encode()) + field(4, signature)
