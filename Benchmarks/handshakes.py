"""A loader of its own for new TLS connections, which wrk does not make: connect, shake hands, ask once, close.

Called by load.py as `handshakes.py PORT SECONDS full|resumed`, with the request on standard input; writes JSON.
"""

from __future__ import annotations

import json
import socket
import ssl
import sys
import time


def main() -> None:
    port, seconds, resumes = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "resumed"
    request = sys.stdin.buffer.read()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # The loader's own work is not measured, and the certificate is this run's own.
    session: ssl.SSLSession | None = None
    if resumes:
        _, session = connect(context, port, request, None)
    milliseconds: list[float] = []
    began = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        resumed, ticket = connect(context, port, request, session)
        milliseconds.append((time.monotonic() - now) * 1e3)
        if resumed != resumes:
            raise SystemExit(f"a handshake was {'resumed' if resumed else 'full'}, not {sys.argv[3]}")
        if resumes:
            session = ticket  # A ticket is for one connection.
    elapsed = time.monotonic() - began
    milliseconds.sort()
    json.dump({
        "connections": len(milliseconds), "per_second": len(milliseconds) / elapsed,
        "p99_ms": milliseconds[int(len(milliseconds) * 0.99)]}, sys.stdout)


def connect(
    context: ssl.SSLContext, port: int, request: bytes, session: ssl.SSLSession | None,
) -> tuple[bool, ssl.SSLSession | None]:
    """One connection with one request; answers whether it was resumed, and what the next may be resumed with."""
    with socket.create_connection(("127.0.0.1", port), 10) as plain:
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as secure:
            secure.sendall(request)
            answer = b""
            while b"\r\n\r\n" not in answer or len(answer.partition(b"\r\n\r\n")[2]) < 1_024:
                received = secure.recv(65_536)
                if not received:
                    break
                answer += received
            if b" 200 " not in answer.split(b"\r\n")[0]:
                raise SystemExit(f"the answer began {answer[:200]!r}")
            return bool(secure.session_reused), secure.session


main()
