"""Certificates and requests whose keys are slow to decode, and just enough of DER to make them."""

import base64
import random
import ssl
import subprocess


def der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    if size < 128:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def number(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def sequence(*parts):
    return der(0x30, *parts)


def identifier(text):
    return der(6, bytes.fromhex(text))


ECDSA_WITH_SHA256 = sequence(identifier("2a8648ce3d040302"))


def pem(kind, data):
    lines = base64.encodebytes(data).decode()
    return f"-----BEGIN {kind}-----\n{lines}-----END {kind}-----\n"


def _probable_prime(value):
    return all(pow(base, value - 1, value) == 1 for base in (2, 3, 5, 7, 11))


def own_curve_key(bits=660, two=600):
    """SubjectPublicKeyInfo on a curve of its maker. The field's p - 1 is divisible by 2^two and the point is compressed, so one
    root takes OpenSSL a quarter of a second."""
    while True:
        prime = (random.getrandbits(bits - two) | 1 | 1 << (bits - two - 1)) * (1 << two) + 1
        if prime.bit_length() <= bits and _probable_prime(prime):
            break
    x = random.randrange(prime)
    while pow((x**3 + 7) % prime, (prime - 1) // 2, prime) != 1:
        x = random.randrange(prime)
    point = b"\x02" + x.to_bytes((prime.bit_length() + 7) // 8, "big")
    field = sequence(identifier("2a8648ce3d0101"), number(prime))
    curve = sequence(der(4, b"\0"), der(4, b"\7"))
    order = number(prime - random.getrandbits(bits // 4))
    parameters = sequence(number(1), field, curve, der(4, point), order)
    return sequence(sequence(identifier("2a8648ce3d0201"), parameters), der(3, b"\0" + point))


def named_curve_key(curve):
    key = subprocess.run(["openssl", "ecparam", "-name", curve, "-genkey", "-noout"], capture_output=True, check=True).stdout
    return subprocess.run(["openssl", "ec", "-pubout", "-conv_form", "compressed", "-outform", "der"], input=key,
                          capture_output=True, check=True).stdout


def certificate_of(key):
    """As short as one can be, and signed by nobody."""
    times = sequence(der(0x17, b"260101000000Z"), der(0x17, b"360101000000Z"))
    body = sequence(number(1), ECDSA_WITH_SHA256, sequence(), times, sequence(), key)
    return pem("CERTIFICATE", sequence(body, ECDSA_WITH_SHA256, der(3, b"\x00\x30\x00")))


def request_of(key):
    name = sequence(der(0x31, sequence(identifier("550403"), der(12, b"x"))))
    signature = sequence(number(1), number(1))
    return pem("CERTIFICATE REQUEST",
               sequence(sequence(number(0), name, key, der(0xa0)), ECDSA_WITH_SHA256, der(3, b"\0", signature)))


def client_with(folder, certificates):
    """A TLS context that shows a certificate of its own, and behind it these."""
    key, leaf, chain = folder / "client.key", folder / "client.crt", folder / "chain.pem"
    if not key.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        key, "-out", leaf, "-subj", "/CN=x", "-days", "3"], capture_output=True, check=True)
    chain.write_text(leaf.read_text() + "".join(certificates))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(chain, key)
    return context
