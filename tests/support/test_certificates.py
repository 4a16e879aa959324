"""Certificates for tests: a CA in a folder, and certificates of it for servers and clients, made with openssl.

What is in the folder already is taken as it is, so a second Authority on the same folder is the same CA.
"""

import os
import pwd
import subprocess
from pathlib import Path
from typing import NamedTuple

from moved_clock import fixed_shift

# From a month ago for two months: clocks of programs under test are moved, by days at most.
_BEGAN, _DAYS = "-30d", "60"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, check=False,
                          env=os.environ | fixed_shift(_BEGAN))
    assert done.returncode == 0, f"openssl {words}: {done.stderr.decode()}"


class Leaf(NamedTuple):
    """Files with a certificate and its key."""
    cert: Path
    key: Path


class Authority:
    def __init__(self, folder, name="test CA"):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.ca, self._key, self._made = self.folder / "ca.pem", self.folder / "ca.key", 0
        if not self.ca.exists():
            _openssl("req", "-x509", *_NEW_KEY, "-days", _DAYS, "-subj", f"/CN={name}", "-addext",
                     "keyUsage=critical,keyCertSign,cRLSign", "-keyout", self._key, "-out", self.ca)
            self.ca.chmod(0o644)

    def leaf(self, name, *hosts, owner=None):
        """For a server at these addresses or names, or, without any, for a client; good for both ends of a connection.

        `name` is its common name, and of its files. `owner`: the user who reads the key, if that is not this one.
        """
        leaf = Leaf(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        if leaf.cert.exists():
            return leaf
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        kinds = [f"{'IP' if host.replace('.', '').isdigit() or ':' in host else 'DNS'}:{host}" for host in hosts]
        extensions.write_text("basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth,clientAuth\n" +
                              (f"subjectAltName={','.join(kinds)}\n" if kinds else ""))
        _openssl("req", "-new", *_NEW_KEY, "-subj", f"/CN={name}", "-keyout", leaf.key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._key, "-set_serial",
                 int.from_bytes(os.urandom(7), "big") + 1, "-days", _DAYS, "-extfile", extensions, "-out", leaf.cert)
        leaf.cert.chmod(0o644)
        leaf.key.chmod(0o600)
        if owner and os.getuid() == 0:
            known = pwd.getpwnam(owner)
            os.chown(leaf.key, known.pw_uid, known.pw_gid)
        return leaf
