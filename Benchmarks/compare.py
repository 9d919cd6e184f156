#!/usr/bin/env python3
"""Compares builds of the gateway under the same load at the same time.

All builds run at once on one core; the load generator and the application run on the other. Other load on the machine
affects all builds alike, so the ratio of their CPU times varies far less than in the benchmark, where they take turns.
The absolute times are not meaningful: they are longer than in the benchmark, because the builds share the processor's
cache.

The addresses that a process gets at its start affect its speed: two copies of one binary differ by up to one percent
for as long as both run. Therefore all builds are started several times, each time in another order, and the interval is
computed from the medians of the starts.

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
"""The rounds of one start of all builds: microseconds per request, by build."""

RESAMPLES = 1_000
"""Number of bootstrap samples for the interval of a ratio."""


def main() -> None:
    options = _options()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("compare: two cores are needed, one for the builds and one for the loader and the application")
    with tempfile.TemporaryDirectory(prefix="cordon-compare-") as name:
        folder = Path(name)
        # Lets the application's workers, which run as another user, read the folder.
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
    """Starts all builds, measures the rounds, and stops the builds."""
    places = list(range(len(options.binaries)))
    # Each build goes first in turn.
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
            # The first round warms up.
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
    """Returns the 95 % bootstrap confidence interval of the median of the ratios."""
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
