"""CPU time of transferring 100 MB each way, with an application that reads the complete body before it responds."""

from __future__ import annotations

import os
import socket
import statistics
import struct
import sys
from pathlib import Path

from contender import Running
from processes import Process, free_port, wait_for_port

SIZE = 100_000_000
BLOCK = 1 << 20
PAIRS = 5
DOWN, UP = "/public/down", "/public/up"
SEND_BUFFER = 256 << 10
"""Send buffer of the sender (client or application) in bytes. With the system's default, which grows to megabytes, the
buffered data exceeds the processor's cache in one direction but not in the other."""

PATIENCE = struct.pack("ll", 30, 0)
"""A `timeval` of thirty seconds."""


def start_application(folder: Path, core: set[int]) -> tuple[Process, int]:
    """Starts the application on a free port."""
    port = free_port()
    folder.mkdir()
    process = Process.start("bulk", [sys.executable, __file__, str(port)], cores=core, folder=folder)
    wait_for_port(process, port)
    return process, port


def upload_vs_download(running: Running) -> float:
    """Returns the ratio of the CPU time of an upload to that of a download: the median of pairs."""
    ratios = []
    for number in range(PAIRS + 1):
        down = _spent(running, f"GET {DOWN} HTTP/1.1\r\nHost: {running.authority}\r\n\r\n".encode(), 0)
        head = f"POST {UP} HTTP/1.1\r\nHost: {running.authority}\r\nContent-Length: {SIZE}\r\n\r\n"
        up = _spent(running, head.encode(), SIZE)
        if number:  # The first pair warms up.
            ratios.append(up / down)
            print(f"upload         {up * 1e3:.1f} ms, download {down * 1e3:.1f} ms of CPU", file=sys.stderr, flush=True)
    return statistics.median(ratios)


def _spent(running: Running, head: bytes, size: int) -> float:
    block = memoryview(bytes(BLOCK))
    before = running.process.cpu_seconds
    with socket.create_connection(("127.0.0.1", running.port), 30) as connection:
        # Blocking, like the application's sockets: non-blocking ones send and read in portions of other sizes.
        connection.settimeout(None)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, PATIENCE)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, PATIENCE)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        connection.sendall(head)
        while size > 0:
            size -= connection.send(block[:min(size, BLOCK)])
        _read(connection, running.process.name)
    return running.process.cpu_seconds - before


def _read(connection: socket.socket, name: str) -> None:
    """Reads a complete response, which must be 200."""
    buffer = bytearray(BLOCK)
    got = bytearray()
    while b"\r\n\r\n" not in got:
        if not (count := connection.recv_into(buffer)):
            raise SystemExit(f"bench: {name} ended a connection without an answer")
        got += buffer[:count]
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0] + b" ":
        raise SystemExit(f"bench: {name} answered {head[:200]!r}")
    rest = _length(head) - len(body)
    while rest > 0:
        if not (count := connection.recv_into(buffer)):
            raise SystemExit(f"bench: {name} ended a body too early")
        rest -= count


def _length(head: bytes) -> int:
    """Returns the value of `Content-Length`, or 0."""
    lines = head.lower().split(b"\r\n")
    return next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)


def _serve(port: int) -> None:
    """Runs the application: it serves one connection after another, with several requests on each."""
    with socket.create_server(("127.0.0.1", port), backlog=64) as listener:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            if os.fork() == 0:
                _answer_all(connection)
                os._exit(0)
            connection.close()


def _answer_all(connection: socket.socket) -> None:
    buffer, block = bytearray(BLOCK), memoryview(bytes(BLOCK))
    got = bytearray()
    while True:
        while b"\r\n\r\n" not in got:
            if not (count := connection.recv_into(buffer)):
                return
            got += buffer[:count]
        head, _, rest = bytes(got).partition(b"\r\n\r\n")
        left = _length(head) - len(rest)
        got = bytearray()
        while left > 0:
            if not (count := connection.recv_into(buffer)):
                return
            left -= count
        size = SIZE if head.startswith(b"GET") and DOWN.encode() in head else 2
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        while size > 0:
            size -= connection.send(block[:min(size, BLOCK)])


if __name__ == "__main__":
    import signal

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _serve(int(sys.argv[1]))
