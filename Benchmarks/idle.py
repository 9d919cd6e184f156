"""Memory of an idle keep-alive connection."""

from __future__ import annotations

import resource
import socket
import ssl
import time

from contender import Running
from rows import request_head

FIRST = 200
"""Connections opened before the first measurement, so that one-time allocations are not counted."""
CONNECTIONS = 2_000
SETTLING_SECONDS = 6
"""Time until the first measurement: five seconds after its start, Cordon returns unused memory to the system."""


def kib_per_connection(running: Running, path: str, fields: list[tuple[str, str]]) -> float:
    """Opens keep-alive connections with one request each. Returns the private dirty memory that each adds."""
    raise_descriptor_limit()
    request = request_head(path, fields)
    # The certificate is self-signed. Each connection makes a full handshake, like connections of different clients.
    context = ssl._create_unverified_context() if running.scheme == "https" else None
    open_connections: list[socket.socket] = []
    try:
        for _ in range(FIRST):
            open_connections.append(connect_and_ask(running, request.encode(), context))
        time.sleep(SETTLING_SECONDS)
        before = running.process.anonymous_bytes
        for _ in range(CONNECTIONS):
            open_connections.append(connect_and_ask(running, request.encode(), context))
        return (running.process.anonymous_bytes - before) / CONNECTIONS / 1_024
    finally:
        for connection in open_connections:
            connection.close()


def raise_descriptor_limit() -> None:
    """Raises the descriptor limit of this process."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard == resource.RLIM_INFINITY else min(16_384, hard), hard))


def connect_and_ask(running: Running, request: bytes, context: ssl.SSLContext | None) -> socket.socket:
    """Returns a connection after one request with status 200."""
    connection = socket.create_connection(("127.0.0.1", running.port), 10)
    if context:
        connection = context.wrap_socket(connection, server_hostname="localhost")
    ask(connection, request, running.process.name)
    return connection


def ask(connection: socket.socket, request: bytes, name: str) -> None:
    """Sends one request and reads the response, which must be complete and have status 200."""
    connection.sendall(request)
    answer = b""
    while True:
        received = connection.recv(65_536)
        if not received:
            raise SystemExit(f"bench: {name} closed a connection that it was to keep: {answer[:200]!r}")
        answer += received
        head, end, body = answer.partition(b"\r\n\r\n")
        if end and len(body) >= _length(name, head):
            return


def _length(name: str, head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    if b" 200 " not in lines[0] + b" ":
        raise SystemExit(f"bench: {name} answered {lines[0]!r}")
    return next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
