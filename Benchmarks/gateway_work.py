"""Background work of a gateway under load, at a steady rate: sign-ins, scrapes, reloads and revalidations."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from contender import Running
from processes import give_way
from sign_in import sign_in

SIGN_IN_SECONDS, SCRAPE_SECONDS, RELOAD_SECONDS = 0.1, 1.0, 2.0
"""Interval between sign-ins, scrapes and reloads. Sign-ins are sequential, however long each takes."""
REVALIDATION_SECONDS = 2
"""`revalidation.interval` of the gateway. It checks every 30 seconds for each session whether this has passed."""


@dataclass(frozen=True)
class Done:
    """Work during a load, per second."""

    sign_ins: float
    revalidations: float
    reloads: float
    scrapes: float
    lines: float
    """Lines of the access log."""


class Work:
    """Context manager that signs users in, scrapes the metrics and reloads until its end.

    Also counts the revalidations that the requests of the load trigger, and the lines of the access log. Any failure
    aborts the run.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._over = threading.Event()
        self._trouble: list[BaseException] = []
        self._sign_ins = self._scrapes = 0
        self._threads = [
            threading.Thread(target=self._repeat, args=arguments)
            for arguments in [(SIGN_IN_SECONDS, self._sign_in), (SCRAPE_SECONDS, self._scrape),
                              (RELOAD_SECONDS, self._reload)]]

    def __enter__(self) -> Work:
        if self._running.lines:
            os.truncate(self._running.lines, 0)
        self._reloads, self._revalidations = self._counted()
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._seconds = time.monotonic() - self._began
        time.sleep(0.5)  # Lets revalidations finish and the log be flushed.
        if self._trouble:
            raise self._trouble[0]

    def done(self) -> Done:
        """Valid after the end of the `with`."""
        reloads, revalidations = self._counted()
        lines = self._running.lines.read_bytes().count(b"\n") if self._running.lines else 0
        counts = [
            self._sign_ins, revalidations - self._revalidations, reloads - self._reloads, self._scrapes, lines]
        if not all(counts):
            raise SystemExit(f"bench: work beside the load was not done, counted {counts}; see {self._running.lines}")
        return Done(*(count / self._seconds for count in counts))

    def _repeat(self, seconds: float, act: Callable[[], None]) -> None:
        due = time.monotonic() + seconds / 4
        try:
            give_way(0, self._running.process.cores)
            while not self._over.wait(max(0, due - time.monotonic())):
                act()
                due = max(due + seconds, time.monotonic())
        except BaseException as trouble:
            self._trouble.append(trouble)

    def _sign_in(self) -> None:
        sign_in(f"{self._running.scheme}://{self._running.authority}", user="ben")
        self._sign_ins += 1

    def _scrape(self) -> None:
        self._running.metrics()
        self._scrapes += 1

    def _reload(self) -> None:
        self._running.process.popen.send_signal(signal.SIGHUP)

    def _counted(self) -> tuple[int, int]:
        """Returns the number of successful reloads and revalidations so far."""
        text = self._running.metrics()
        if refused := re.search(r'^cordon_config_reloads_total\{result="(?!ok)[^"]*"\} [1-9].*', text, re.M):
            raise SystemExit(f"bench: a reload failed: {refused[0]}")
        if failed := re.search(r'^cordon_checks_total\{verdict="(?!good)[^"]*"\} [1-9].*', text, re.M):
            raise SystemExit(f"bench: a revalidation failed: {failed[0]}")
        return _sum(text, 'cordon_config_reloads_total{result="ok"}'), _sum(text, 'cordon_checks_total{verdict="good"}')


def _sum(text: str, series: str) -> int:
    return sum(int(float(value)) for value in re.findall(f"^{re.escape(series)} (\\S+)", text, re.M))
