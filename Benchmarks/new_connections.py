"""A load generator for new connections, which wrk cannot measure: connect, TLS handshake, one request, close.

Called by load.py as `new_connections.py PORT SECONDS new|full|resumed`, with the request on standard input. Prints
JSON.
"""

from __future__ import annotations

import json
import socket
import ssl
import sys
import time
from collections.abc import Callable


def main() -> None:
    port, seconds, resumes = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "resumed"
    request = sys.stdin.buffer.read()
    if sys.argv[3] == "new":
        return report(*measure(seconds, lambda: cleartext(port, request)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # Self-signed. The loader's CPU time is not measured.
    session: ssl.SSLSession | None = None
    if resumes:
        _, session = connect(context, port, request, None)

    def once() -> None:
        nonlocal session
        resumed, ticket = connect(context, port, request, session)
        if resumed != resumes:
            raise SystemExit(f"a handshake was {'resumed' if resumed else 'full'}, not {sys.argv[3]}")
        if resumes:
            session = ticket  # Each ticket is used once.

    report(*measure(seconds, once))


def measure(seconds: float, once: Callable[[], None]) -> tuple[list[float], float]:
    """Returns the duration of each connection in milliseconds, and of all in seconds."""
    milliseconds: list[float] = []
    began = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        once()
        milliseconds.append((time.monotonic() - now) * 1e3)
    return sorted(milliseconds), time.monotonic() - began


def report(milliseconds: list[float], elapsed: float) -> None:
    json.dump({
        "connections": len(milliseconds), "per_second": len(milliseconds) / elapsed,
        "p99_ms": milliseconds[int(len(milliseconds) * 0.99)]}, sys.stdout)


def cleartext(port: int, request: bytes) -> None:
    """Opens a connection for one request."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        ask(connection, request)


def connect(
    context: ssl.SSLContext, port: int, request: bytes, session: ssl.SSLSession | None,
) -> tuple[bool, ssl.SSLSession | None]:
    """Opens a TLS connection for one request. Returns whether it was resumed, and the session for the next one."""
    with socket.create_connection(("127.0.0.1", port), 10) as plain:
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as secure:
            ask(secure, request)
            return bool(secure.session_reused), secure.session


def ask(connection: socket.socket, request: bytes) -> None:
    """Sends one request and reads the complete response, which must be 200."""
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer or len(answer.partition(b"\r\n\r\n")[2]) < 1_024:
        received = connection.recv(65_536)
        if not received:
            break
        answer += received
    if b" 200 " not in answer.split(b"\r\n")[0]:
        raise SystemExit(f"the answer began {answer[:200]!r}")


main()
