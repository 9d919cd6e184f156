"""Counts how often each branch of the gateway is taken, for the compiler.

Runs an instrumented release binary under the loads of the benchmark, uploads and sign-ins, and writes what it counted
in the functions that requests need, as text. `make profile` builds what is needed and calls this; Scripts/release-build
hands the result to the compiler, which keeps branches that are hardly taken out of the way of the others.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bulk
import load
from contender import Certificate, Setting
from gateway import Cordon
from rows import ROWS, Row, browser_fields
from upstream import Upstream

CORES = frozenset(range(os.cpu_count() or 1))
SECONDS = 3
"""Of each load."""
LEAST_COUNT = 1_000
"""A function none of whose branches is taken so often in all loads together is not worth its lines."""


@dataclass(frozen=True)
class Function:
    """The counters of one function."""

    name: str
    shape: str
    """A hash of its branches. The compiler ignores counters of a function that has others by now."""
    counts: list[int]

    @property
    def text(self) -> str:
        lines = [
            self.name, "# Func Hash:", self.shape, "# Num Counters:", str(len(self.counts)), "# Counter Values:",
            *map(str, self.counts)]
        # Without a number of bitmap bytes, which also begins with a dollar sign, LLVM takes the next name for one.
        return "\n".join([*lines, "$0", "", ""])


def run_loads(cordon: Cordon, folder: Path) -> None:
    """Starts the gateway for each row of the benchmark, and loads it."""
    application = Upstream(folder, set(CORES))
    certificate = Certificate.make(folder)
    for row in ROWS:
        running = cordon.start(Setting.of(row, application, CORES, certificate), _made(folder / row.key))
        session = running.session if row.signed_in else None
        load.run(
            running, row.path, browser_fields(running.authority, session), kind=row.kind, seconds=SECONDS,
            cores=set(CORES))
        running.stop()
        print(f"profile: {row.title}", file=sys.stderr, flush=True)
    application.process.stop()
    receiver, port = bulk.start_application(folder / "bulk", set(CORES))
    running = cordon.start(Setting(port, CORES), _made(folder / "uploads"))
    bulk.upload_vs_download(running)
    running.stop()
    receiver.stop()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def functions(merged: str) -> Iterator[Function]:
    """Reads LLVM's text format; what it holds besides counters is left out."""
    lines = merged.splitlines()
    for place, line in enumerate(lines):
        if line == "# Func Hash:":
            count = int(lines[place + 3])
            counts = [int(value) for value in lines[place + 5:place + 5 + count]]
            yield Function(lines[place - 1], lines[place + 1], counts)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cordon", type=Path, required=True, help="the instrumented release binary")
    arguments.add_argument("--simulator", type=Path, required=True, help="the simulator of Apple")
    arguments.add_argument("--llvm-profdata", type=Path, required=True, help="that of the Swift toolchain")
    arguments.add_argument("--output", type=Path, required=True, help="the file to write")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="profile-") as name:
        folder = Path(name)
        # For the workers of the application, which are another user's.
        folder.chmod(0o755)
        counted = _made(folder / "counted")
        # Each process writes when it ends.
        os.environ["LLVM_PROFILE_FILE"] = str(counted / "%p.profraw")
        run_loads(Cordon(options.cordon.resolve(), options.simulator.resolve(), set(CORES)), folder)
        merged = subprocess.run(
            [options.llvm_profdata, "merge", "--text", "--output=-", *counted.glob("*.profraw")], check=True,
            stdout=subprocess.PIPE, text=True).stdout
    # The names of local functions begin with the path of their object file, which is another one in each build folder.
    kept = [
        function for function in functions(merged)
        if max(function.counts, default=0) >= LEAST_COUNT and "/" not in function.name]
    kept.sort(key=lambda function: function.name)
    options.output.write_text("# Written by `make profile`.\n:ir\n" + "".join(function.text for function in kept))
    print(f"{len(kept)} functions")


if __name__ == "__main__":
    main()
