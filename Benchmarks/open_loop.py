"""Open-loop load: a constant mean rate that does not wait for responses. Latency is measured from the due time."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from processes import Process, go_first
from rows import CONNECTIONS

SEED = 1
STOPPED_MS = 50
"""Time for which the application is stopped to check the loader."""


@dataclass(frozen=True)
class Latency:
    """Latency over the requests of one load, in milliseconds."""

    requests: int
    p50_ms: float
    p99_ms: float
    p999_ms: float
    longest_ms: float
    late_ms: float
    """p99 of the time until a due request was sent, while it waited for the loader or a connection."""

    @classmethod
    def of(cls, due: Sequence[int], sent: Sequence[int], done: Sequence[int]) -> Latency:
        """Computes the latencies from times in nanoseconds since the beginning of the load."""
        took = sorted(after - before for before, after in zip(due, done))
        late = sorted(after - before for before, after in zip(due, sent))
        return cls(len(took), _at(took, 0.5), _at(took, 0.99), _at(took, 0.999), took[-1] / 1e6, _at(late, 0.99))


class Loader:
    """The compiled loader (`open_loop.c`), pinned to its core, with real-time priority if permitted."""

    def __init__(self, folder: Path, core: int) -> None:
        self.binary = folder / "open_loop"
        self.core = core
        source = Path(__file__).with_name("open_loop.c")
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-o", str(self.binary), str(source), "-lm"], check=True)

    def run(self, name: str, port: int, requests: Path, rate: float, seconds: float, window: int = 1) -> Latency:
        """Loads a port. A status other than 200, a closed connection or a missing response aborts the run.

        Each second uses the next `window` requests of the file, in turn.
        """
        return Latency.of(*self._times(name, port, requests, rate, seconds, window))

    def check(self, application: Process, port: int, requests: Path, rate: float = 5_000) -> float:
        """Checks for coordinated omission: stops the application briefly, and aborts the run unless the latency of each
        request due meanwhile includes the rest of the stop.

        Returns the longest latency in milliseconds.
        """
        stopping = threading.Timer(0.4, _stop_for_a_moment, [application])
        stopping.start()
        due, _, done = self._times("a stopped application", port, requests, rate, 1)
        stopping.join()
        took = [after - before for before, after in zip(due, done)]
        longest = max(took)
        from_then = due[took.index(longest)]
        ends = from_then + longest
        # Queued requests are answered after the stop: none that was due during the stop can have been answered before.
        too_short = [begin for begin, wait in zip(due, took) if from_then <= begin < ends and begin + wait < ends - 5e6]
        if longest < STOPPED_MS * 1e6 * 0.9 or len(too_short) > 0.05 * rate * longest / 1e9:
            raise SystemExit(
                f"bench: the loader is wrong: of a stop of {STOPPED_MS} ms it saw {longest / 1e6:.1f} ms, and "
                f"{len(too_short)} requests answered meanwhile")
        return longest / 1e6

    def _times(
        self, name: str, port: int, requests: Path, rate: float, seconds: float, window: int = 1,
    ) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        command = [
            str(self.binary), str(port), f"{rate:.0f}", str(seconds), str(CONNECTIONS), str(SEED), str(requests),
            str(window)]
        done = subprocess.run(command, capture_output=True, timeout=seconds + 30, preexec_fn=self._prepare)
        if done.returncode:
            raise SystemExit(f"bench: open loop, {name} at {rate:,.0f}/s: {done.stderr.decode(errors='replace')}")
        numbers = array("Q")
        numbers.frombytes(done.stdout)
        return numbers[0::3], numbers[1::3], numbers[2::3]

    def _prepare(self) -> None:
        os.sched_setaffinity(0, {self.core})
        go_first(0)


def _stop_for_a_moment(process: Process) -> None:
    try:
        for pid in process.members:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(STOPPED_MS / 1e3)
    finally:
        for pid in process.members:
            os.kill(pid, signal.SIGCONT)


def _at(ordered: Sequence[int], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1e6
