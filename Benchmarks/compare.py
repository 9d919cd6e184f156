#!/usr/bin/env python3
"""Compares builds of the gateway under the same load at the same time.

All run on one core at once, and the loader and the application on the other. What disturbs the machine disturbs all of
them, so that the ratio of their CPU times is far steadier than in the benchmark, where they take turns: two copies of
one binary differ by less than a hundredth. The times themselves are longer than in the benchmark, since the builds
share the processor's cache, and say nothing.

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
        times = _measure(options, folder, frozenset({cores[0]}), {cores[1]})
    first = times[0]
    for binary, spent in zip(options.binaries, times):
        ratios = [one / other for one, other in zip(spent, first)]
        low, high = _interval(ratios)
        print(f"{binary}: {statistics.median(ratios):.3f} × the first ({low:.3f} to {high:.3f}), "
              f"{statistics.median(spent):.1f} µs a request")


def _measure(options: argparse.Namespace, folder: Path, core: frozenset[int], loader: set[int]) -> list[list[float]]:
    """Microseconds a request, for each binary by round."""
    application = Upstream(folder, loader)
    certificate = Certificate.make(folder)
    setting = Setting.of(options.row, application, core, certificate)
    builds: list[Running] = []
    for number, binary in enumerate(options.binaries):
        own = folder / str(number)
        own.mkdir()
        builds.append(Cordon(binary.resolve(), options.simulator.resolve(), loader).start(setting, own))
    rounds = []
    with ThreadPoolExecutor(len(builds)) as threads:
        for number in range(options.rounds + 1):
            # The first one warms up.
            seconds = options.seconds if number else 1
            rounds.append(list(threads.map(lambda build: _spent(build, options.row, seconds, loader), builds)))
    for build in builds:
        build.stop()
    application.process.stop()
    return [list(spent) for spent in zip(*rounds[1:])]


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
    parser.add_argument("--rounds", type=int, default=12, metavar="N", help="default 12")
    parser.add_argument("--seconds", type=int, default=3, metavar="N", help="length of a round (default 3)")
    options = parser.parse_args()
    if len(options.binaries) < 2 or not (1 <= options.rounds <= 100 and 1 <= options.seconds <= 60):
        parser.error("two binaries or more, 1 to 100 rounds of 1 to 60 seconds")
    options.row = rows[options.row]
    options.simulator = options.simulator or options.binaries[-1].resolve().with_name("apple-simulator")
    return options


if __name__ == "__main__":
    main()
