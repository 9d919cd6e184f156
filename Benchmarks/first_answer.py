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
    """Medians over several starts, in milliseconds."""

    proxied_ms: float
    """Until the first 200 of a proxied request; for Cordon with a session of an earlier process."""
    ready_ms: float | None
    """Until the first 200 of the health check, if there is one."""
    cpu_ms: float
    """CPU time until the first 200 of a proxied request."""


def measure(contender: Contender, running: Running, path: str, fields: list[tuple[str, str]]) -> FirstAnswer:
    """Restarts a contender several times with its files, and polls it until it responds."""
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
