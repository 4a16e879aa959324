#!/usr/bin/env python3
"""What a server calls by itself, for tests: an HTTP server and a mail server that keep what they got.

Prints one line of JSON with its ports, and ends when its standard input does.

    outside_world.py [--cert FILE --key FILE]

HTTP: /echo answers what came; /status/N answers N; /json a document; /big two megabytes; /hang never
answers; /redirect/WHERE leads to WHERE (a whole url, or a path); /seen tells the requests and /mails
the mails so far. With a certificate the same is served over TLS, and the mail server offers STARTTLS.
"""
import argparse
import base64
import http.server
import json
import socketserver
import ssl
import sys
import threading

from http_stub import StubHandler

DOCUMENT = {"id": 42, "name": "web", "ratio": 1.5, "up": True, "none": None, "a/b": "slash",
            "items": [{"v": "first"}, {"v": "second"}]}


class World:
    def __init__(self):
        self.lock = threading.Lock()
        self.requests = []
        self.mails = []
        self.over = threading.Event()


class Http(StubHandler):
    protocol_version = "HTTP/1.1"
    world = None

    def serve(self):
        body = self.content().decode()
        seen = {"method": self.command, "path": self.path, "body": body,
                "headers": {name.lower(): value for name, value in self.headers.items()}}
        if self.path not in ("/seen", "/mails"):
            with self.world.lock:
                self.world.requests.append(seen)
        if self.path == "/echo":
            self.answer(200, json.dumps(seen).encode())
        elif self.path.startswith("/status/"):
            self.answer(int(self.path.split("/")[2]), b"what it says\n")
        elif self.path.startswith("/json"):
            self.answer(200, json.dumps(DOCUMENT).encode())
        elif self.path == "/big":
            self.answer(200, b"x" * (2 << 20))
        elif self.path == "/long":
            self.answer(200, b"y" * (100 << 10))
        elif self.path == "/chat-no":
            self.answer(200, b'{"errcode": 310000, "errmsg": "keywords not in content"}')
        elif self.path.startswith("/redirect/"):
            self.answer(302, b"moved", [("Location", self.path[len("/redirect/"):])])
        elif self.path == "/hang":
            self.world.over.wait()
        elif self.path == "/seen":
            with self.world.lock:
                self.answer(200, json.dumps({"count": len(self.world.requests)}).encode())
        elif self.path == "/mails":
            with self.world.lock:
                self.answer(200, json.dumps(self.world.mails).encode())
        else:
            self.answer(404)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = serve


class Mail(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as a client needs. Recipients nobody@… are refused."""
    world = None
    tls = None

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")
        self.wfile.flush()

    def line(self):
        return self.rfile.readline().decode().rstrip("\r\n")

    def handle(self):
        self.mail = {"from": "", "to": [], "auth": "", "tls": False, "text": ""}
        self.say("220 sink")
        while True:
            line = self.line()
            verb = line.split(" ")[0].upper()
            if verb in ("", "QUIT"):
                if verb:
                    self.say("221 bye")
                return
            self.take(verb, line)

    def take(self, verb, line):
        if verb == "EHLO":
            offers = ["250-sink"]
            if self.tls and not self.mail["tls"]:
                offers.append("250-STARTTLS")
            if self.mail["tls"]:
                offers.append("250-AUTH PLAIN")
            for offer in offers:
                self.say(offer)
            self.say("250 8BITMIME")
        elif verb == "STARTTLS" and self.tls:
            self.say("220 go on")
            self.request = self.tls.wrap_socket(self.request, server_side=True)
            self.rfile = self.request.makefile("rb")
            self.wfile = self.request.makefile("wb")
            self.mail["tls"] = True
        elif verb == "AUTH":
            words = line.split(" ")
            if len(words) < 3:
                self.say("334 ")
                words.append(self.line())
            self.mail["auth"] = base64.b64decode(words[2]).decode().replace("\0", "|")
            self.say("235 welcome")
        elif verb == "MAIL":
            self.mail["from"] = line
            self.say("250 ok")
        elif verb == "RCPT":
            if "nobody@" in line:
                self.say("550 no such person")
            else:
                self.mail["to"].append(line)
                self.say("250 ok")
        elif verb == "DATA":
            self.say("354 go on")
            lines = []
            while (text := self.line()) != ".":
                lines.append(text)
            self.mail["text"] = "\n".join(lines)
            with self.world.lock:
                self.world.mails.append(dict(self.mail))
            self.say("250 kept")
        else:
            self.say("502 what?")


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # clients of these tests do hang up


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cert")
    parser.add_argument("--key")
    options = parser.parse_args()
    Http.world = Mail.world = world = World()
    servers = {"http": HttpServer(("127.0.0.1", 0), Http), "mail": MailServer(("127.0.0.1", 0), Mail)}
    plain_mail = type("PlainMail", (Mail,), {})
    servers["plain_mail"] = MailServer(("127.0.0.1", 0), plain_mail)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        Mail.tls = context
        plain_mail.tls = None
        servers["https"] = HttpServer(("127.0.0.1", 0), Http)
        servers["https"].socket = context.wrap_socket(servers["https"].socket, server_side=True)
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({name: server.server_address[1] for name, server in servers.items()}), flush=True)
    sys.stdin.read()
    world.over.set()


if __name__ == "__main__":
    main()
