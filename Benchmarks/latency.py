"""Latency that a proxy adds to the application's, below its capacity, without and with background work."""

from __future__ import annotations

import dataclasses
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import load
from contender import Contender, Running, Setting
from gateway import Cordon
from gateway_work import REVALIDATION_SECONDS, Done, Work
from open_loop import Latency, Loader
from plain_proxies import LOOK_ALIKE
from processes import going_first, pinned
from rows import SMALL, Kind, browser_fields, request_head
from sign_in import sign_in
from upstream import Upstream

KEY = "latency"
SHARES = [0.2, 0.5, 0.8]
"""Request rates as fractions of the capacity."""
WINDOW = 50
"""Accounts that the load of a gateway uses in turn for a second. With background work, each second uses other accounts,
all of which are due for revalidation."""
ACCOUNTS = 300
"""All accounts. Each session is reused after at least 30 seconds: the gateway does not revalidate it earlier."""
DIRECT, BESIDE_WORK = "direct", "cordon-beside-work"
"""Additional contender names: the application without a proxy, and the gateway with background work."""


@dataclass(frozen=True)
class Size:
    """The length of the measurement."""

    rounds: int = 4
    seconds: int = 2

    @classmethod
    def quick(cls) -> Size:
        return cls(rounds=1, seconds=2)


@dataclass
class LatencyFigures:
    """The results. Contenders are keyed by name, including `DIRECT` and `BESIDE_WORK`."""

    capacity: float
    """Maximum request rate of the gateway, which determines the rates for all contenders."""
    rounds: dict[float, dict[str, list[Latency]]] = field(default_factory=dict)
    """By fraction of the capacity, then by contender."""
    work: list[Done] = field(default_factory=list)
    """Background work during each load."""

    def direct(self, share: float, figure: str) -> float:
        """Returns the median over rounds of a figure of the application without a proxy."""
        return statistics.median(getattr(it, figure) for it in self.rounds[share][DIRECT])

    def added(self, share: float, name: str, figure: str) -> float | None:
        """Returns the median over rounds of the difference to the direct load of the same round, in milliseconds."""
        if not (measured := self.rounds.get(share, {}).get(name)):
            return None
        return statistics.median(
            getattr(it, figure) - getattr(direct, figure)
            for it, direct in zip(measured, self.rounds[share][DIRECT]))

    def values(self) -> dict[str, float]:
        """Returns the figures with budgets."""
        found = {
            "latency_p99_added_ms": self.added(0.5, "cordon", "p99_ms"),
            "latency_beside_work_p99_added_ms": self.added(0.5, BESIDE_WORK, "p99_ms"),
        }
        return {name: value for name, value in found.items() if value is not None}


def measure(
    contenders: list[Contender], start: Callable[[Contender, Setting, str], Running], upstream: Upstream,
    setting: Setting, folder: Path, *, size: Size, loader_core: int,
) -> LatencyFigures:
    """Loads the application, the proxies and a gateway with background work in turn, with the same request times."""
    folder.mkdir()
    with pinned({loader_core}), going_first(upstream.process, this_one=False):
        loader = Loader(folder, loader_core)
        requests = {DIRECT: _write(folder / DIRECT, f"localhost:{upstream.port}", [LOOK_ALIKE])}
        seen = loader.check(upstream.process, upstream.port, requests[DIRECT])
        print(f"{KEY:14} the loader saw a stop of the application of {seen:.1f} ms", file=sys.stderr, flush=True)
        serving: dict[str, Running] = {}
        sessions: dict[str, list[str]] = {DIRECT: [LOOK_ALIKE]}
        for contender in contenders:
            serving[contender.name] = start(contender, setting, KEY)
            if isinstance(contender, Cordon):
                busy = dataclasses.replace(setting, access_log=True, revalidation_seconds=REVALIDATION_SECONDS)
                serving[BESIDE_WORK] = start(contender, busy, BESIDE_WORK)
        for name, running in serving.items():
            running.process.prefer()
            for helper in running.helpers:
                helper.give_way(running.process.cores)
            sessions[name] = _sessions(running, ACCOUNTS if name == BESIDE_WORK else WINDOW)
            requests[name] = _write(folder / name, running.authority, sessions[name])
        figures = LatencyFigures(_capacity(serving.get("cordon") or next(iter(serving.values())), size, loader_core))
        targets = {DIRECT: upstream.port} | {name: running.port for name, running in serving.items()}
        for number in range(size.rounds + 1):
            for share in SHARES if number else [0.5]:
                for name, port in targets.items():
                    rate, seconds = figures.capacity * share, size.seconds if number else 1
                    window, done = min(WINDOW, len(sessions[name])), None
                    with ExitStack() as stack:
                        work = stack.enter_context(Work(serving[name])) if name == BESIDE_WORK else None
                        it = loader.run(name, port, requests[name], rate, seconds, window)
                    if work:
                        done = work.done()
                        # The next round continues with the following accounts.
                        sessions[name] = sessions[name][seconds * window:] + sessions[name][:seconds * window]
                        _write(requests[name], serving[name].authority, sessions[name])
                    if number:  # The first round warms up.
                        figures.rounds.setdefault(share, {}).setdefault(name, []).append(it)
                        figures.work += [done] if done else []
                        _tell(number, share, name, it, done)
        for running in serving.values():
            running.process.check()
            running.stop()
    return figures


def _sessions(running: Running, count: int) -> list[str]:
    """Returns sessions of this many accounts, if the contender has sessions."""
    if not running.health:
        return [running.session]
    origin = f"{running.scheme}://{running.authority}"
    return [sign_in(origin, new_email=f"user{number}@example.com") for number in range(count)]


def _write(file: Path, authority: str, sessions: list[str]) -> Path:
    """Returns the requests of the load generator, one with each session."""
    file.write_text("".join(
        request_head(SMALL, browser_fields(authority, session)) for session in sessions), newline="")
    return file


def _capacity(running: Running, size: Size, loader_core: int) -> float:
    """Returns the median of closed-loop rounds, after a warm-up round."""
    fields = browser_fields(running.authority, running.session)
    with going_first(children=True):
        rates = [
            load.run(running, SMALL, fields, kind=Kind.KEPT, seconds=2 if number else 1, cores={loader_core})
            .requests_per_second for number in range(size.rounds + 1)]
    return statistics.median(rates[1:])


def _tell(number: int, share: float, name: str, it: Latency, done: Done | None) -> None:
    print(
        f"{KEY:14} round {number} {share:4.0%} {name:18} {it.requests:7,} requests  p50 {it.p50_ms:.2f}  p99 "
        f"{it.p99_ms:.2f}  p99.9 {it.p999_ms:.2f}  longest {it.longest_ms:.1f}  late {it.late_ms:.2f} ms"
        + (f"  {done}" if done else ""), file=sys.stderr, flush=True)
