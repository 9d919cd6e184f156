"""The duration of a start, from exec to the first response."""

from __future__ import annotations

import http.client
import statistics
import time
from dataclasses import dataclass

from contender import Contender, Running

STARTS = 5


@dataclass(frozen=True)
class FirstAnswer:
    """Milliseconds, medians over some starts."""

    proxied_ms: float
    """To the first 200 of a proxied request; for Cordon one with a session that an earlier process began."""
    ready_ms: float | None
    """To the first 200 of the health check, where there is one."""
    cpu_ms: float
    """Processor time to the first 200 of a proxied request."""


def measure(contender: Contender, running: Running, path: str, fields: list[tuple[str, str]]) -> FirstAnswer:
    """Stops and starts a contender several times on what it has on disk, and asks until it answers."""
    proxied, ready, cpu = [], [], []
    for _ in range(STARTS):
        proxied.append(_one(contender, running, running.port, path, dict(fields)))
        running.process.settle()
        cpu.append(running.process.cpu_seconds * 1e3)
        if running.health:
            ready.append(_one(contender, running, *running.health, {}))
    running.process.settle()
    return FirstAnswer(
        statistics.median(proxied), statistics.median(ready) if ready else None, statistics.median(cpu))


def _one(contender: Contender, running: Running, port: int, path: str, fields: dict[str, str]) -> float:
    previous = running.process
    previous.stop()
    began = time.monotonic()
    running.process = contender.launch(previous.log.parent, previous.cores)
    while time.monotonic() - began < 15:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path, headers=fields)
            if connection.getresponse().status == 200:
                return (time.monotonic() - began) * 1e3
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        running.process.check()
        time.sleep(0.001)
    raise SystemExit(f"bench: {contender.name} gives no answer at port {port} {path} 15 s after its start")
