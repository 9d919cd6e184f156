"""CPU time of reloading a large configuration."""

from __future__ import annotations

import re
import signal
import statistics
import time

from contender import Running
from processes import Process

RELOADS = 5


def cpu_ms(running: Running) -> float:
    """Returns the median CPU time of a reload, whose end is seen in the metrics."""
    spent = []
    for _ in range(RELOADS):
        done = _reloads(running)
        before = running.process.cpu_seconds
        running.process.popen.send_signal(signal.SIGHUP)
        end = time.monotonic() + 60
        # Poll rarely: each scrape adds CPU time to the measured process.
        while time.monotonic() < end:
            _sleep_until_calm(running.process)
            if _reloads(running) > done:
                break
        else:
            raise SystemExit(f"bench: no reload after 60 s; see {running.process.log}")
        spent.append((running.process.cpu_seconds - before) * 1e3)
    return statistics.median(spent)


def _sleep_until_calm(process: Process) -> None:
    before = process.cpu_seconds
    while True:
        time.sleep(0.2)
        now = process.cpu_seconds
        if now - before < 0.005:
            return
        before = now


def _reloads(running: Running) -> int:
    """Returns the number of successful reloads so far."""
    text = running.metrics()
    if refused := re.search(r'^cordon_config_reloads_total\{result="(?!ok)[^"]*"\} [1-9]', text, re.M):
        raise SystemExit(f"bench: a reload failed: {refused[0]}")
    return sum(int(float(count)) for count in re.findall(
        r'^cordon_config_reloads_total\{result="ok"\} (\S+)', text, re.M))
