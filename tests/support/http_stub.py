"""An HTTP server inside a test, in the place of what Muster or its command line calls."""

import http.server
import json
import threading


class StubHandler(http.server.BaseHTTPRequestHandler):
    """The base of a test's answers: `do_GET` and the like read `content()` and reply with `answer()`."""

    def log_message(self, *_):
        pass

    def content(self):
        """The body that came, in bytes."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status, body=b"", headers=()):
        """Replies with these bytes, or with any other value as JSON."""
        if not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), [*headers, ("Content-Type", "application/json")]
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def serve_stub(test, handler, address="127.0.0.1", **state):
    """A server for the rest of the test, with its `port` and `url`. Handlers find `state` in `self.server`."""
    server = http.server.ThreadingHTTPServer((address, 0), handler)
    server.port = server.server_address[1]
    server.url = f"http://{address}:{server.port}"
    for name, value in state.items():
        setattr(server, name, value)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    test.addCleanup(server.server_close)
    test.addCleanup(server.shutdown)
    return server
