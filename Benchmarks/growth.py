"""CPU time per request, which must not depend on the size of the configuration."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable

import load
from contender import Running
from gateway import MANY
from rows import SMALL, Kind

PLAIN = "none"
NAMES = [PLAIN, *MANY]


def measure(
    start: Callable[[frozenset[str], str], Running], fields: Callable[[Running], list[tuple[str, str]]], *,
    rounds: int, seconds: int, loader_cores: set[int],
) -> dict[str, float]:
    """Loads gateways with many and with no entries in turn. Returns the ratio of CPU time per request, by kind."""
    serving = {name: start(frozenset({name} - {PLAIN}), f"growth-{name}") for name in NAMES}
    spent: dict[str, list[float]] = {name: [] for name in NAMES}
    for number in range(rounds + 1):
        for name, running in serving.items():
            it = load.run(running, SMALL, fields(running), kind=Kind.KEPT, seconds=seconds if number else 1,
                cores=loader_cores)
            if number:
                spent[name].append(it.cpu_us_per_request)
                print(f"growth         round {number} {name:18} {it.cpu_us_per_request:8.2f} µs", file=sys.stderr,
                    flush=True)
    for running in serving.values():
        running.stop()
    return {
        name: statistics.median(ours / plain for ours, plain in zip(spent[name], spent[PLAIN]))
        for name in MANY}
