"""One round of load, and the resources that the proxy used for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from contender import Running
from rows import CONNECTIONS, HTTP2_CONNECTIONS, HTTP2_STREAMS, Kind, request_head

_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True)
class Round:
    """The result of one round."""

    requests: int
    cpu_us_per_request: float
    requests_per_second: float
    p99_ms: float
    lines_lost: float = 0
    """Fraction of the requests that are missing in the access log."""


def run(
    running: Running, path: str, fields: list[tuple[str, str]], *, kind: Kind, seconds: int, cores: set[int],
) -> Round:
    """Loads a proxy for some seconds. A status other than 2xx or a failed connection aborts the run."""
    if running.lines:
        os.truncate(running.lines, 0)
    running.process.settle()
    before = running.process.cpu_seconds
    if kind is Kind.KEPT:
        requests, per_second, p99_ms = _kept(running, path, fields, seconds, cores)
    elif kind is Kind.HTTP2:
        requests, per_second, p99_ms = _http2(running, path, fields, seconds, cores)
    else:
        requests, per_second, p99_ms = _new(running, path, fields, kind, seconds, cores)
    spent = running.process.cpu_seconds - before
    running.process.check()
    if spent <= 0:
        raise SystemExit(f"bench: {running.process.name} answered {requests} requests without any processor time")
    return Round(requests, spent / requests * 1e6, per_second, p99_ms, _lines_lost(running.lines, requests))


def _lines_lost(lines: Path | None, requests: int) -> float:
    if lines is None:
        return 0
    time.sleep(0.5)  # A proxy may write its log lines with a delay.
    with open(lines, "rb") as told:
        return max(0, 1 - sum(block.count(b"\n") for block in iter(lambda: told.read(1 << 20), b"")) / requests)


def _kept(
    running: Running, path: str, fields: list[tuple[str, str]], seconds: int, cores: set[int],
) -> tuple[int, float, float]:
    command = [
        "wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{seconds}s", "--timeout", "10s",
        "--latency"]
    for name, value in fields:
        command += ["--header", f"{name}: {value}"]
    said = _run(running, command + [running.url(path)], cores, seconds)
    if trouble := re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", said):
        raise SystemExit(f"bench: {running.process.name} at {path}: {trouble[0]}")
    counted = re.search(r"(\d+) requests in", said)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    slowest = re.search(r"99%\s+([\d.]+)([a-z]+)", said)
    if not (counted and rate and slowest and int(counted[1])):
        raise SystemExit(f"bench: wrk said nothing of use about {running.process.name}:\n{said}")
    return int(counted[1]), float(rate[1]), float(slowest[1]) * _UNITS[slowest[2]]


def _http2(
    running: Running, path: str, fields: list[tuple[str, str]], seconds: int, cores: set[int],
) -> tuple[int, float, float]:
    times = running.process.log.with_name("h2load.times")
    times.unlink(missing_ok=True)
    command = [
        "h2load", "--threads=1", f"--clients={HTTP2_CONNECTIONS}", f"--max-concurrent-streams={HTTP2_STREAMS}",
        f"--duration={seconds}", "--npn-list=h2", f"--log-file={times}"]
    for name, value in fields:
        # The equivalent of Host in HTTP/1.1.
        command += ["--header", f"{':authority' if name == 'Host' else name.lower()}: {value}"]
    said = _run(running, command + [running.url(path)], cores, seconds)
    counted = re.search(r"requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored",
        said)
    answers = re.search(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", said)
    rate = re.search(r"finished in [\d.]+\w+, ([\d.]+) req/s", said)
    if not (counted and answers and rate and "Application protocol: h2" in said and int(answers[1])):
        raise SystemExit(f"bench: h2load said nothing of use about {running.process.name}:\n{said}")
    if any(int(count) for count in [counted[3], counted[4], answers[2], answers[3], answers[4]]):
        raise SystemExit(f"bench: {running.process.name} at {path}: {counted[0]}; {answers[0]}")
    # A line for each request: start time, status, duration in microseconds.
    took = sorted(int(line.rsplit("\t", 1)[1]) for line in times.read_text().splitlines())
    return int(counted[1]), float(rate[1]), took[int(len(took) * 0.99)] / 1e3


def _new(
    running: Running, path: str, fields: list[tuple[str, str]], kind: Kind, seconds: int, cores: set[int],
) -> tuple[int, float, float]:
    request = request_head(path, fields)
    loader = Path(__file__).with_name("new_connections.py")
    said = json.loads(_run(
        running, [sys.executable, str(loader), str(running.port), str(seconds), kind.value], cores, seconds, request))
    return said["connections"], said["per_second"], said["p99_ms"]


def _run(running: Running, command: list[str], cores: set[int], seconds: int, request: str = "") -> str:
    pinned = ["taskset", "--cpu-list", ",".join(map(str, sorted(cores))), *command]
    done = subprocess.run(pinned, input=request, capture_output=True, text=True, timeout=seconds + 30)
    if done.returncode:
        raise SystemExit(f"bench: the loader failed with {running.process.name}: {done.stderr or done.stdout}")
    return done.stdout
