"""Clients whose requests are never whole, and one that takes an answer a few bytes at a time.

unfinished.py PORT http1|http2|body COUNT: so many connections, each with a part of a head, or of a body for an endpoint
of the gateway; says "held", and lets go of all at SIGUSR1. unfinished.py PORT slow RATE: a stream of HTTP/2 that asks
for /large and gives room for so many bytes a second; says how it ended.
"""

import json
import resource
import signal
import socket
import struct
import sys
import threading
import time

PORT = int(sys.argv[1])
SIZE = 26_800


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A field that is not compressed (RFC 7541, 6.2.2)."""
    return b"\x00" + number(len(name)) + name + number(len(value)) + value


def number(value):
    if value < 127:
        return bytes([value])
    value -= 127
    octets = [127]
    while value >= 128:
        octets.append(value % 128 + 128)
        value //= 128
    return bytes([*octets, value])


def fields(path):
    return b"".join(
        literal(name, value) for name, value in
        [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"localhost:%d" % PORT), (b":path", path)])


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=60)


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def hold(kind, count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if kind == "http1":
        part = b"GET / HTTP/1.1\r\nHost: localhost:%d\r\nX-Long: " % PORT + b"x" * SIZE
    elif kind == "body":
        part = (b"POST /.auth/callback HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: 65000\r\n" % PORT
                + b"Content-Type: application/x-www-form-urlencoded\r\n\r\n" + b"x" * SIZE)
    else:
        block = fields(b"/") + literal(b"x-long", b"x" * SIZE)
        pieces = [block[at:at + 16_000] for at in range(0, len(block), 16_000)]
        # HEADERS, and CONTINUATION without an end.
        part = PREFACE + frame(4, 0, 0, b"") + frame(1, 0x1, 1, pieces[0]) + b"".join(
            frame(9, 0, 1, piece) for piece in pieces[1:])
    is_over = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: is_over.set())
    held = []
    for _ in range(count):
        connection = connect()
        try:
            connection.sendall(part)
        except OSError:
            pass
        held.append(connection)
    print(json.dumps({"state": "held"}), flush=True)
    is_over.wait()
    for connection in held:
        connection.close()
    print(json.dumps({"state": "closed"}), flush=True)


def read_slowly(rate):
    connection = connect()
    # A window of a thousand bytes for each stream.
    connection.sendall(PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, 1_000)) + frame(1, 0x5, 1, fields(b"/large")))
    connection.settimeout(0.02)
    began, buffer, given = time.monotonic(), b"", 0
    while True:
        wanted = int((time.monotonic() - began) * rate) - given
        if wanted > 0:
            given += wanted
            room = struct.pack(">I", wanted)
            connection.sendall(frame(8, 0, 0, room) + frame(8, 0, 1, room))
        try:
            data = connection.recv(65536)
        except TimeoutError:
            continue
        if not data:
            return print(json.dumps({"ended": "connection"}), flush=True)
        buffer += data
        while len(buffer) >= 9 and len(buffer) >= 9 + int.from_bytes(buffer[:3], "big"):
            length, kind, flags = int.from_bytes(buffer[:3], "big"), buffer[3], buffer[4]
            stream = int.from_bytes(buffer[5:9], "big")
            buffer = buffer[9 + length:]
            if stream == 1 and kind == 3:
                return print(json.dumps({"ended": "reset"}), flush=True)
            if stream == 1 and flags & 1:
                return print(json.dumps({"ended": "whole"}), flush=True)
        if time.monotonic() > began + 60:
            return print(json.dumps({"ended": "never"}), flush=True)


if sys.argv[2] == "slow":
    read_slowly(int(sys.argv[3]))
else:
    hold(sys.argv[2], int(sys.argv[3]))
