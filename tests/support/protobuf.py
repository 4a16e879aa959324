"""Protobuf messages by hand, for tests that send what no program of Muster's would."""

from pathlib import Path


def varint(number):
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(encoded) + bytes([number])


def field(number, value):
    """One field of a message: a number, or bytes or text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, (str, Path)):
        value = str(value).encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """Field numbers and values, in order."""
    at = 0

    def read_varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = read_varint()
        if key & 7 == 0:
            yield key >> 3, read_varint()
        elif key & 7 == 2:
            size = read_varint()
            yield key >> 3, message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {key & 7}")
