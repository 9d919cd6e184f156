#!/usr/bin/env python3
"""Compares builds of the gateway under the same load at the same time.

All run on one core at once, and the loader and the application on the other. What disturbs the machine disturbs all of
them, so that the ratio of their CPU times is far steadier than in the benchmark, where they take turns. The times
themselves are longer than in the benchmark, since the builds share the processor's cache, and say nothing.

A process keeps the advantage or disadvantage of the addresses that it got: two copies of one binary differ by up to a
hundredth for as long as both run. So all are started several times, in another order each time, and the interval is one
of the medians of the starts.

    Scripts/release-build --product cordon, and keep a copy of the binary; change something; build again
    python3 Benchmarks/compare.py --row http2 COPY .build/release/cordon
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import load
from contender import Certificate, Running, Setting
from gateway import Cordon
from rows import ROWS, Row, browser_fields
from upstream import Upstream

Start = list[list[float]]
"""The rounds between the start and the end of all builds: microseconds a request of each build."""

RESAMPLES = 1_000
"""Draws that the interval of a ratio comes from."""


def main() -> None:
    options = _options()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("compare: two cores are needed, one for the builds and one for the loader and the application")
    with tempfile.TemporaryDirectory(prefix="cordon-compare-") as name:
        folder = Path(name)
        # For the workers of the application, which are another user's.
        folder.chmod(0o755)
        starts = _measure(options, folder, frozenset({cores[0]}), {cores[1]})
    for place, binary in enumerate(options.binaries):
        ratios = [statistics.median(spent[place] / spent[0] for spent in start) for start in starts]
        low, high = _interval(ratios)
        took = statistics.median(spent[place] for start in starts for spent in start)
        print(f"{binary}: {statistics.median(ratios):.3f} × the first ({low:.3f} to {high:.3f}), {took:.1f} µs a request")


def _measure(options: argparse.Namespace, folder: Path, core: frozenset[int], loader: set[int]) -> list[Start]:
    application = Upstream(folder, loader)
    certificate = Certificate.make(folder)
    setting = Setting.of(options.row, application, core, certificate)
    starts = []
    for number in range(options.starts):
        own = folder / str(number)
        own.mkdir()
        starts.append(_start(options, number, setting, own, loader))
    application.process.stop()
    return starts


def _start(options: argparse.Namespace, number: int, setting: Setting, folder: Path, loader: set[int]) -> Start:
    """Starts each build, measures the rounds, and ends them."""
    places = list(range(len(options.binaries)))
    # Each is the first one in turn.
    order = places[number % len(places):] + places[:number % len(places)]
    builds: dict[int, Running] = {}
    for place in order:
        own = folder / str(place)
        own.mkdir()
        binary = options.binaries[place].resolve()
        builds[place] = Cordon(binary, options.simulator.resolve(), loader).start(setting, own)
    rounds = []
    with ThreadPoolExecutor(len(builds)) as threads:
        for turn in range(options.rounds + 1):
            # The first one warms up.
            seconds = options.seconds if turn else 1
            spent = threads.map(lambda place: _spent(builds[place], options.row, seconds, loader), order)
            rounds.append(dict(zip(order, spent)))
    for build in builds.values():
        build.stop()
    return [[spent[place] for place in places] for spent in rounds[1:]]


def _spent(build: Running, row: Row, seconds: int, cores: set[int]) -> float:
    session = build.session if row.signed_in else None
    fields = browser_fields(build.authority, session)
    return load.run(build, row.path, fields, kind=row.kind, seconds=seconds, cores=cores).cpu_us_per_request


def _interval(ratios: list[float]) -> tuple[float, float]:
    """The bounds of nineteen of twenty medians, of as many draws from the ratios each."""
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 40], medians[-RESAMPLES // 40]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows = {row.key: row for row in ROWS if row.cores == 1}
    parser.add_argument("binaries", type=Path, nargs="+", metavar="BINARY", help="release binaries, at least two")
    parser.add_argument("--simulator", type=Path, metavar="PATH",
        help="the apple-simulator binary; default: beside the last one")
    parser.add_argument("--row", default="authenticated", choices=rows, metavar="KEY",
        help=f"of {', '.join(rows)} (default authenticated)")
    parser.add_argument("--starts", type=int, default=8, metavar="N", help="default 8")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each start (default 3)")
    parser.add_argument("--seconds", type=int, default=2, metavar="N", help="length of a round (default 2)")
    options = parser.parse_args()
    if len(options.binaries) < 2 or not all(1 <= count <= 100 for count in (options.starts, options.rounds)):
        parser.error("two binaries or more, 1 to 100 starts of as many rounds")
    if not 1 <= options.seconds <= 60:
        parser.error("rounds have 1 to 60 seconds")
    options.row = rows[options.row]
    options.simulator = options.simulator or options.binaries[-1].resolve().with_name("apple-simulator")
    return options


if __name__ == "__main__":
    main()
