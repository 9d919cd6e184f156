"""Latency of a well-behaved client during a rapid reset flood (streams that are opened and reset)."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contender import Running
from idle import ask, connect_and_ask
from processes import Process, going_first
from rows import request_head

STREAMS = 100_000
LEAST_SECONDS, MOST_SECONDS = 3, 30
"""Seconds. A shorter flood continues, so that the well-behaved client sends enough requests; a longer one stops."""
QUIET_SECONDS = 2
DEBIANS_PYTHON = "/usr/bin/python3"
"""Debian's Python, which has hpack and hyperframe. The first one in PATH may be another."""
PAUSE = 0.0005
"""Seconds between two requests of the well-behaved client."""


@dataclass(frozen=True)
class Flood:
    """The result of one flood."""

    streams: int
    seconds: float
    connections: int
    quiet_p99_ms: float
    p99_ms: float
    """Of the well-behaved client, during the flood."""
    resident_mib: float
    """Peak of the proxy."""

    @property
    def p99_vs_quiet(self) -> float:
        return self.p99_ms / self.quiet_p99_ms


def measure(
    running: Running, application: Process, path: str, fields: list[tuple[str, str]], flooded: str, core: int
) -> Flood:
    """Floods the path `flooded` without a session, and requests `path` with these headers on another connection."""
    request = request_head(path, fields)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        with going_first(application):
            connection = connect_and_ask(running, request.encode(), ssl._create_unverified_context())
            for _ in range(500):  # Warms up.
                ask(connection, request.encode(), running.process.name)
            quiet_end = time.monotonic() + QUIET_SECONDS
            quiet = _times(connection, request.encode(), running.process.name, lambda: time.monotonic() < quiet_end)
            loader = subprocess.Popen(
                [DEBIANS_PYTHON, str(Path(__file__).with_name("reset_flood.py")), str(running.port), running.authority,
                    flooded,
                 str(STREAMS), str(LEAST_SECONDS), str(MOST_SECONDS)], stdout=subprocess.PIPE, text=True)
            assert loader.stdout and loader.stdout.readline() == "begins\n"
            loud = _times(connection, request.encode(), running.process.name, lambda: loader.poll() is None)
            connection.close()
    finally:
        os.sched_setaffinity(0, before)
    said = loader.stdout.read()
    if loader.returncode:
        raise SystemExit(f"bench: the flood of {running.process.name} failed with status {loader.returncode}")
    told = json.loads(said)
    running.process.check()
    return Flood(
        told["streams"], told["seconds"], told["connections"], _p99(quiet), _p99(loud),
        running.process.highest_resident_bytes / 1_048_576)


def _times(connection: socket.socket, request: bytes, name: str, goes_on: Callable[[], bool]) -> list[float]:
    milliseconds = []
    while goes_on():
        began = time.monotonic()
        ask(connection, request, name)
        milliseconds.append((time.monotonic() - began) * 1e3)
        time.sleep(PAUSE)
    return milliseconds


def _p99(milliseconds: list[float]) -> float:
    return sorted(milliseconds)[int(len(milliseconds) * 0.99)]
