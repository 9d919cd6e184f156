"""Peak memory of a gateway with the limits of the Kubernetes manifests, at the maximum number of connections."""

from __future__ import annotations

import re
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

from contender import Running
from idle import connect_and_ask, raise_descriptor_limit
from rows import request_head

KUBERNETES = Path(__file__).resolve().parent.parent / "deploy" / "kubernetes"
HEAD_BYTES = 31_000
"""Bytes of each incomplete request header: below the gateway's limit of 32 KiB."""


@dataclass(frozen=True)
class Manifest:
    """The limits that must be consistent."""

    connections: int
    session_mib: int
    memory_mib: int

    @classmethod
    def read(cls) -> Manifest:
        configuration = (KUBERNETES / "gateway/gateway.conf").read_text()
        deployment = (KUBERNETES / "base/deployment.yaml").read_text()

        def number(pattern: str, text: str) -> int:
            found = re.findall(pattern, text)
            if len(found) != 1:
                raise SystemExit(f"bench: {pattern} is in the manifests {len(found)} times")
            return int(found[0])

        return cls(
            number(r"(?m)^connections = (\d+)$", configuration), number(r'(?m)^memory = "(\d+)MiB"$', configuration),
            number(r"limits: \{ memory: (\d+)Mi \}", deployment))


def share_of_limit(running: Running, manifest: Manifest, path: str, fields: list[tuple[str, str]]) -> float:
    """Opens as many connections as the manifest allows, first with incomplete headers, then idle after a request.

    Returns the peak resident memory plus that of a full session cache, as a fraction of the manifest's limit.
    """
    raise_descriptor_limit()
    request = request_head(path, fields)
    context = ssl._create_unverified_context() if running.scheme == "https" else None
    unfinished = (request.removesuffix("\r\n") + "X-Fill: ").encode().ljust(HEAD_BYTES, b"x")
    held: list[socket.socket] = []
    for _ in range(manifest.connections):
        try:
            connection = socket.create_connection(("127.0.0.1", running.port), 10)
            held.append(connection)
            if context:
                held[-1] = connection = context.wrap_socket(connection, server_hostname="localhost")
            connection.sendall(unfinished)
        except OSError:
            # Refused, because incomplete headers have reached their memory limit, which is intended.
            pass
    _wait_until_read(running)
    for connection in held:
        connection.close()
    held = []
    end = time.monotonic() + 60
    while len(held) < manifest.connections:
        try:
            held.append(connect_and_ask(running, request.encode(), context))
        except (OSError, SystemExit):
            # Connections of the first wave are not closed yet.
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
    peak = running.process.highest_resident_bytes / 1_048_576
    for connection in held:
        connection.close()
    return (peak + manifest.session_mib) / manifest.memory_mib


def _wait_until_read(running: Running) -> None:
    """Waits until the memory for incomplete headers no longer grows."""
    before, end = -1.0, time.monotonic() + 20
    while (now := _unfinished_bytes(running)) > before and time.monotonic() < end:
        before = now
        time.sleep(0.5)
    if before < HEAD_BYTES:
        raise SystemExit("bench: cordon keeps none of the unfinished headers: this row would measure nothing")


def _unfinished_bytes(running: Running) -> float:
    found = re.search(r"(?m)^cordon_unfinished_request_bytes (\S+)$", running.metrics())
    if not found:
        raise SystemExit("bench: cordon has no metric of its unfinished requests")
    return float(found[1])
