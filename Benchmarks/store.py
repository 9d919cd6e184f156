"""Cost of sessions: sign-in, store writes, the first request with a session (a cache miss), and a full store."""

from __future__ import annotations

import itertools
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import first_answer
import load
from contender import Running, Setting
from full_store import FullStore
from gateway import SECRET, Cordon
from idle import ask, connect_and_ask
from postgresql import PostgreSQL
from processes import pinned
from rows import SMALL, Kind, browser_fields, request_head
from sign_in import sign_in


@dataclass(frozen=True)
class Size:
    """The size of the measurement."""

    accounts: int = 1_000_000
    sign_ins: int = 100
    first_sights: int = 20_000
    remembered: int = 100_000
    """Sessions used before resident memory is measured: more than fit into `session.memory`."""

    @classmethod
    def quick(cls) -> Size:
        return cls(accounts=100_000, sign_ins=30, first_sights=4_000, remembered=10_000)


@dataclass(frozen=True)
class FirstSight:
    """Latency of the first request with a session, which is not in the session cache; random sessions."""

    p50_ms: float
    p99_ms: float

    @classmethod
    def of(cls, milliseconds: list[float]) -> FirstSight:
        ordered = sorted(milliseconds)
        return cls(ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)])


@dataclass(frozen=True)
class StoreFigures:
    """The results."""

    size: Size
    sign_in_cpu_ms: float
    postgresql_writes_per_second: float
    postgresql: FirstSight
    sqlite: FirstSight
    """Of the store alone, like `postgresql`."""
    gateway: FirstSight
    """A complete request through the gateway with an uncached session."""
    known: FirstSight
    """The same with a cached session, in turn with the others, as the baseline."""
    start_ms: float
    resident_mib: float
    full_vs_empty: float
    """Ratio of CPU time per request."""

    def values(self) -> dict[str, float]:
        """Returns the figures with budgets."""
        return {
            "sign_in_cpu_ms": self.sign_in_cpu_ms, "postgresql_writes_per_second": self.postgresql_writes_per_second,
            "postgresql_first_sight_p99_ms": self.postgresql.p99_ms,
            "full_store_first_sight_p99_ms": self.gateway.p99_ms,
            "full_store_start_ms": self.start_ms, "full_store_rss_mib": self.resident_mib,
            "full_store_cpu_vs_empty": self.full_vs_empty}


def measure(
    cordon: Cordon, store_writer: Path, setting: Setting, folder: Path, *, size: Size, rounds: int, seconds: int,
    loader_cores: set[int],
) -> StoreFigures:
    """Measures gateways with an empty and with a full store, and the stores alone."""
    empty, full = (folder / "store-empty"), (folder / "store-full")
    for place in [empty, full]:
        place.mkdir()
    beside = cordon.start(setting, empty)
    cpu_ms = _sign_in_cpu_ms(beside, size.sign_ins)

    running = cordon.start(setting, full)
    running.process.stop()
    with _told(f"filling a store with {size.accounts:,} accounts"):
        store = FullStore.fill(full, size.accounts, SECRET)
    running.process = cordon.launch(full, set(setting.cores))
    cordon.wait_until_ready(running)
    start = first_answer.measure(cordon, running, SMALL, browser_fields(running.authority, running.session))
    # No session is cached yet. Each is used for one request.
    stride = store.sessions // (size.first_sights + size.remembered)
    cookies = store.cookies(range(0, store.sessions, stride))
    with pinned(loader_cores), _told(f"first sights of {size.first_sights + size.remembered:,} sessions"):
        first, known = _beside_each_other(running, itertools.islice(cookies, size.first_sights))
        for _ in _each(running, cookies):
            pass
    resident_mib = running.process.highest_resident_bytes / 1_048_576
    ratios = []
    for number in range(rounds + 1):
        full_round, empty_round = (
            load.run(it, SMALL, browser_fields(it.authority, it.session), kind=Kind.KEPT,
                seconds=seconds if number else 1,
                     cores=loader_cores) for it in [running, beside])
        if number:
            ratios.append(full_round.cpu_us_per_request / empty_round.cpu_us_per_request)
    for it in [running, beside]:
        it.stop()
    with _told("the stores alone"):
        sqlite = _store_alone(store_writer, str(full / "cordon.db"), size.first_sights)
        writes, postgresql = _postgresql(store_writer, rounds, seconds, size.first_sights)
    return StoreFigures(
        size, cpu_ms, writes, postgresql, sqlite, first, known, max(start.proxied_ms, start.ready_ms or 0),
        resident_mib,
        statistics.median(ratios))


def _sign_in_cpu_ms(running: Running, count: int) -> float:
    """Returns the gateway's CPU time for a complete sign-in, with all pages and the code exchange."""
    origin = f"{running.scheme}://{running.authority}"
    for _ in range(3):
        sign_in(origin)
    running.process.settle()
    before = running.process.cpu_seconds
    for _ in range(count):
        sign_in(origin)
    return (running.process.cpu_seconds - before) / count * 1e3


def _postgresql(store_writer: Path, rounds: int, seconds: int, count: int) -> tuple[float, FirstSight]:
    server = PostgreSQL()
    try:
        found = []
        for _ in range(rounds):
            said = _run([str(store_writer), "writes", server.url, str(seconds)])
            if not (rate := re.search(r"(\d+) a second", said)):
                raise SystemExit(f"bench: store-writer said nothing of use:\n{said}")
            found.append(float(rate[1]))
        return statistics.median(found), _store_alone(store_writer, server.url, count)
    finally:
        server.stop()


def _store_alone(store_writer: Path, place: str, count: int) -> FirstSight:
    said = _run([str(store_writer), "first-sight", place, str(count)])
    if not (found := re.search(r"p50 ([\d.e-]+) seconds, p99 ([\d.e-]+) seconds", said)):
        raise SystemExit(f"bench: store-writer said nothing of use:\n{said}")
    return FirstSight(float(found[1]) * 1e3, float(found[2]) * 1e3)


def _beside_each_other(running: Running, cookies: Iterable[str]) -> tuple[FirstSight, FirstSight]:
    """Returns the latency of each session, and of a cached one requested after it: a busy machine slows down both."""
    # The first request opens the connection and is not counted.
    turns = itertools.chain([running.session], *((cookie, running.session) for cookie in cookies))
    milliseconds = list(_each(running, turns))
    return FirstSight.of(milliseconds[0::2]), FirstSight.of(milliseconds[1::2])


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Prints the step and its duration."""
    began = time.monotonic()
    yield
    print(f"{'store':14} {what}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _each(running: Running, cookies: Iterable[str]) -> Iterable[float]:
    """Sends a request with each cookie on one keep-alive connection. Yields the duration of each in milliseconds."""
    connection: socket.socket | None = None
    for cookie in cookies:
        fields = browser_fields(running.authority, cookie)
        request = request_head(SMALL, fields).encode()
        if connection is None:
            connection = connect_and_ask(running, request, None)
            continue
        began = time.monotonic()
        ask(connection, request, running.process.name)
        yield (time.monotonic() - began) * 1e3
    if connection:
        connection.close()


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"bench: {command[1]}: {done.stderr or done.stdout}")
    return done.stdout
