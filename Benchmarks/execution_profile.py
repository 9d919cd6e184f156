"""Records an execution profile of the gateway for profile-guided optimization.

Runs an instrumented release binary under the loads of the benchmark, with uploads and sign-ins, and writes the counters
of the functions that requests need, as text. `make profile` builds the programs and calls this; Scripts/release-build
passes the profile to the compiler, which separates rarely executed code from the rest.
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
"""Duration of each load."""
LEAST_COUNT = 1_000
"""Functions without a branch that is taken this often in all loads together are left out."""


@dataclass(frozen=True)
class Function:
    """The counters of one function."""

    name: str
    shape: str
    """Hash of the control flow. The compiler ignores the counters of a function whose hash has changed."""
    counts: list[int]

    @property
    def text(self) -> str:
        lines = [
            self.name, "# Func Hash:", self.shape, "# Num Counters:", str(len(self.counts)), "# Counter Values:",
            *map(str, self.counts)]
        # "$0" is the number of bitmap bytes. Without it, LLVM parses the next name, which begins with "$", as one.
        return "\n".join([*lines, "$0", "", ""])


def run_loads(cordon: Cordon, folder: Path) -> None:
    """Starts and loads the gateway for each row of the benchmark."""
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
    """Parses the counters of LLVM's text format; skips everything else."""
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
        # Lets the application's workers, which run as another user, read the folder.
        folder.chmod(0o755)
        counted = _made(folder / "counted")
        # Each process writes its profile when it exits.
        os.environ["LLVM_PROFILE_FILE"] = str(counted / "%p.profraw")
        run_loads(Cordon(options.cordon.resolve(), options.simulator.resolve(), set(CORES)), folder)
        merged = subprocess.run(
            [options.llvm_profdata, "merge", "--text", "--output=-", *counted.glob("*.profraw")], check=True,
            stdout=subprocess.PIPE, text=True).stdout
    # Names of local functions begin with the path of their object file, which depends on the build folder.
    kept = [
        function for function in functions(merged)
        if max(function.counts, default=0) >= LEAST_COUNT and "/" not in function.name]
    kept.sort(key=lambda function: function.name)
    options.output.write_text("# Written by `make profile`.\n:ir\n" + "".join(function.text for function in kept))
    print(f"{len(kept)} functions")


if __name__ == "__main__":
    main()
