"""Prism, a validating proxy, between a test and a server: it holds every call against api/openapi.yaml.

    test ─ HTTP ─► Prism ─ HTTP ─► Upstream (in the test's process) ─ TLS ─► musterd

Prism runs without `--errors`, so that wrong requests reach the server too; what is wrong with a request or an answer
is in its header `sl-violations`. Upstream keeps the answer as the server gave it, as Prism reads every body as text.
Prism cannot carry on a WebSocket, and gives an answer only once it has it whole.
"""

import http.client
import http.server
import json
import re
import threading

import npm_packages
from api_contract import CONTRACT
from muster_processes import SOURCE, Daemon, wait_until

PACKAGES = SOURCE / "build/api-tools"
# Headers that are of one connection only.
_OF_A_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "te", "trailer", "upgrade", "host"}
# Prism takes one upstream for all paths; these have a server of their own in the contract.
_AT_ROOT = {path for path, item in CONTRACT["paths"].items() if "servers" in item}
_PREFIX = CONTRACT["servers"][0]["url"]


class Raw:
    """An answer, read whole."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def kind(self):
        return (self.headers["Content-Type"] or "").split(";")[0]

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes

    def carry_on(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        answer = self.server.owner.answer(self.command, self.path, self.headers, body)
        self.send_response_only(answer.status)
        hidden = _OF_A_CONNECTION
        if self.command == "HEAD":
            hidden = hidden | {"content-type"}  # Prism fails to read the JSON that an answer to HEAD only announces
        for name, value in answer.headers.items():
            if name.lower() not in hidden:
                self.send_header(name, value)
        length = answer.headers["Content-Length"] if self.command == "HEAD" else len(answer.body)
        if answer.status != 304 and length is not None:
            self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = carry_on

    def log_message(self, *_):
        pass


class Upstream:
    """What Prism takes for the server. `instead`, when set, is given as the answer to every call."""

    def __init__(self, cluster):
        self.cluster, self.last, self.instead = cluster, None, None
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.owner = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{_PREFIX}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, method, path, headers, body):
        if self.instead is not None:
            return self.instead
        bare = path.removeprefix(_PREFIX)
        sent = {name: value for name, value in headers.items() if name.lower() not in _OF_A_CONNECTION}
        if body or headers["Content-Length"]:
            sent["Content-Length"] = str(len(body))
        self.last = ask(self.cluster, method, bare if bare.split("?")[0] in _AT_ROOT else path, sent, body)
        return self.last

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def ask(cluster, method, path, headers, body, context=None):
    """One call to the server itself."""
    connection = http.client.HTTPSConnection(cluster.address, cluster.port, context=context or cluster.tls(), timeout=60)
    try:
        connection.request(method, path, body=body or None, headers=headers)
        response = connection.getresponse()
        return Raw(response.status, response.headers, response.read() if response.status != 101 else b"")
    finally:
        connection.close()


class Prism(Daemon):
    def __init__(self, folder, upstream):
        npm_packages.install(SOURCE / "tests/api", PACKAGES)
        super().__init__(["node", PACKAGES / "node_modules/.bin/prism", "proxy", "--host", "127.0.0.1", "--port", "0",
                          SOURCE / "api/openapi.yaml", upstream.url], folder / "prism.log")
        self.port = None

    def wait(self):
        def listens():
            assert self.running(), f"prism ended: {self.tail()}"
            return re.search(r"Prism is listening on http://127\.0\.0\.1:(\d+)", self.log.read_text())

        self.port = int(wait_until("prism listens", listens)[1])
        return self

    def ask(self, method, path, headers, body):
        """The answer, and what Prism finds wrong with request and answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        try:
            connection.request(method, path, body=body or None, headers=headers)
            response = connection.getresponse()
            answer = Raw(response.status, response.headers, response.read())
        finally:
            connection.close()
        text = answer.headers["sl-violations"]
        try:
            return answer, json.loads(text) if text else []
        except ValueError:  # it cuts a long list
            return answer, [{"location": ["response"], "message": text}, {"location": ["request"], "message": text}]
