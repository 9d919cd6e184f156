"""Wake-ups and CPU time of an idle proxy."""

from __future__ import annotations

import time
from dataclasses import dataclass

from contender import Running

SETTLING, SECONDS = 5, 20


@dataclass(frozen=True)
class Quiet:
    """Results for an idle process."""

    wake_ups_per_second: float
    cpu_ms_per_second: float


def measure(running: Running) -> Quiet:
    """Observes a proxy that has served requests and is now idle."""
    time.sleep(SETTLING)
    running.process.settle()
    before, cpu = running.process.wake_ups, running.process.cpu_seconds
    latest = dict(before)
    # Threads come and go: keep the last value of ended threads, which misses at most a second.
    for _ in range(SECONDS):
        time.sleep(1)
        latest |= running.process.wake_ups
    count = sum(switches - before.get(thread, 0) for thread, switches in latest.items())
    return Quiet(count / SECONDS, (running.process.cpu_seconds - cpu) / SECONDS * 1e3)
