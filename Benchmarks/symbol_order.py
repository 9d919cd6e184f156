"""Finds the functions of the gateway that run, so that the linker places them next to each other.

Runs the release binary under Callgrind, with a start, a sign-in, and requests over HTTP/1.1, TLS and HTTP/2. Writes the
names of the executed functions, one per line: first those of each request, then those of other work of a running
gateway, then those of the start. `make symbol-order` builds the programs and calls this; Scripts/release-build uses the
result.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import load
from contender import Certificate, Running, Setting
from gateway import Cordon
from processes import Process
from rows import SMALL, Kind, browser_fields
from upstream import Upstream

CORES = frozenset(range(os.cpu_count() or 1))
LARGEST_SECTION = 16 << 10
"""Functions in larger sections are not moved, because the whole section would move along. The Swift library has a
section of 1.6 MB."""
INSTRUCTIONS_PER_REQUEST = 2
"""Minimum number of instructions of a function that counts as part of every request."""
WARM_UP_SECONDS = 5
"""Long enough for TLS handshakes under Callgrind: h2load hangs if they take longer."""
BACKGROUND_SECONDS = 14
"""Longer than the interval of all background work, except for work that runs every few minutes."""


class Observed(Cordon):
    """The gateway under Callgrind."""

    starting: Counter[str]

    def launch(self, folder: Path, cores: set[int]) -> Process:
        stripped = folder / "cordon"
        shutil.copy(self.binary, stripped)
        # Callgrind needs only the symbols; reading the debug information would take minutes.
        subprocess.run(["strip", "--strip-debug", str(stripped)], check=True)
        command = [
            "valgrind", "--tool=callgrind", "--demangle=no", "--compress-strings=yes",
            f"--callgrind-out-file={folder / 'callgrind.out'}", str(stripped), "run", "--config",
            str(folder / "gateway.conf")]
        return Process.start(self.name, command, cores=cores, folder=folder)

    def wait_until_ready(self, running: Running) -> None:
        running.wait_until_ready(seconds=120, patience=30)
        self.starting = instructions(running)


def instructions(running: Running) -> Counter[str]:
    """Returns the instructions of each function of the gateway since the last call."""
    pid = running.process.popen.pid
    folder = running.process.log.parent
    before = set(folder.glob("callgrind.out.*"))
    subprocess.run(["callgrind_control", "--dump", str(pid)], check=True, capture_output=True)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        dumps = [file for file in set(folder.glob("callgrind.out.*")) - before if _is_whole(file)]
        if dumps:
            return _read(dumps[0])
        time.sleep(0.1)
    raise SystemExit("symbol-order: Callgrind writes nothing")


def _is_whole(file: Path) -> bool:
    return "\ntotals: " in file.read_text(errors="replace")


def _read(file: Path) -> Counter[str]:
    """Parses Callgrind's format, which writes a name once and then refers to it by number."""
    objects: dict[str, str] = {}
    functions: dict[str, str] = {}
    costs: Counter[str] = Counter()
    current_object = current = ""
    is_call = False
    for line in file.read_text(errors="replace").splitlines():
        if entry := re.match(r"(c?ob|c?fn)=\((\d+)\)(?: (.*))?$", line):
            kind, number, name = entry.groups()
            names = objects if kind.endswith("ob") else functions
            if name is not None:
                names[number] = name
            if kind == "ob":
                current_object = names[number]
            elif kind == "fn":
                current = names[number]
        elif line.startswith("calls="):
            # The next line has the cost of the called function.
            is_call = True
        elif cost := re.match(r"[\d+*-]\S* (\d+)$", line):
            if not is_call and Path(current_object).name == "cordon":
                costs[re.sub(r"'\d+$", "", current)] += int(cost[1])
            is_call = False
    return costs


def section_sizes(link_map: Path) -> dict[str, int]:
    """Returns the size of the section of each symbol in a linker map (lld)."""
    sizes: dict[str, int] = {}
    size = 0
    for line in link_map.read_text(errors="replace").splitlines():
        entry = re.match(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+ ( *)(.*)$", line)
        if not entry:
            continue
        indentation, name = len(entry[2]), entry[3]
        if indentation == 8 and ":(" in name:
            size = int(entry[1], 16)
        elif indentation >= 16:
            sizes.setdefault(name.strip(), size)
    return sizes


def observe(cordon: Observed, kind: Kind, has_tls: bool) -> tuple[Counter[str], Counter[str]]:
    """Returns the instructions of the functions that every request needs, and of all that run after the start."""
    folder = Path(tempfile.mkdtemp(prefix="symbol-order-"))
    # Lets the application's workers, which run as another user, read the folder.
    folder.chmod(0o755)
    try:
        application = Upstream(folder, CORES)
        gateway = folder / "gateway"
        gateway.mkdir()
        certificate = Certificate.make(folder) if has_tls else None
        running = cordon.start(
            Setting(application.port, CORES, certificate=certificate, http2=kind is Kind.HTTP2), gateway)
        fields = browser_fields(running.authority, running.session)

        def requests(seconds: int) -> float:
            it = load.run(running, SMALL, fields, kind=kind, seconds=seconds, cores=CORES)
            return it.requests

        requests(WARM_UP_SECONDS)
        time.sleep(BACKGROUND_SECONDS)
        serving = instructions(running)
        count = requests(5)
        loaded = instructions(running)
        hot = Counter({name: cost for name, cost in loaded.items() if cost >= INSTRUCTIONS_PER_REQUEST * count})
        running.stop()
        application.process.stop()
        return hot, serving + loaded
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cordon", type=Path, required=True, help="the release binary")
    arguments.add_argument("--map", type=Path, required=True, help="the linker's map of it")
    arguments.add_argument("--output", type=Path, required=True, help="the file to write")
    options = arguments.parse_args()
    cordon = Observed(options.cordon.resolve(), options.cordon.resolve().with_name("apple-simulator"), set(CORES))
    groups: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    for kind, has_tls in [(Kind.KEPT, False), (Kind.KEPT, True), (Kind.HTTP2, True)]:
        hot, serving = observe(cordon, kind, has_tls)
        for group, found in zip(groups, (hot, serving, cordon.starting)):
            group.update(found)
    sizes = section_sizes(options.map)
    names: dict[str, None] = {}
    for group in groups:
        # Ordered by cost, then by name, so that the file changes little.
        for name in sorted(group, key=lambda name: (-group[name], name)):
            if sizes.get(name, LARGEST_SECTION + 1) <= LARGEST_SECTION:
                names[name] = None
    options.output.write_text("".join(f"{name}\n" for name in names))
    print(f"{len(names)} functions")


if __name__ == "__main__":
    main()
