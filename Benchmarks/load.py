"""One round of load: wrk on the loader's core, and what the proxy spent on it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from processes import Process
from rows import CONNECTIONS

_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True)
class Round:
    """What one round came to."""

    requests: int
    cpu_us_per_request: float
    requests_per_second: float
    p99_ms: float


def run(
    process: Process, url: str, fields: list[tuple[str, str]], *, seconds: int, cores: set[int],
) -> Round:
    """Loads a proxy for some seconds. Any answer but 2xx, and any failed connection, ends the run: it would be a lie."""
    command = [
        "taskset", "--cpu-list", ",".join(map(str, sorted(cores))),
        "wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{seconds}s", "--timeout", "10s",
        "--latency",
    ]
    for name, value in fields:
        command += ["--header", f"{name}: {value}"]
    before = process.cpu_seconds
    said = subprocess.run(command + [url], check=True, capture_output=True, text=True, timeout=seconds + 30).stdout
    spent = process.cpu_seconds - before
    process.check()
    if trouble := re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", said):
        raise SystemExit(f"bench: {process.name} at {url}: {trouble[0]}")
    counted = re.search(r"(\d+) requests in", said)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    slowest = re.search(r"99%\s+([\d.]+)([a-z]+)", said)
    if not (counted and rate and slowest and int(counted[1])):
        raise SystemExit(f"bench: wrk said nothing of use about {process.name}:\n{said}")
    requests = int(counted[1])
    return Round(
        requests, spent / requests * 1e6, float(rate[1]), float(slowest[1]) * _UNITS[slowest[2]])
