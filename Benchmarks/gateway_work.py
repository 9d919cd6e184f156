"""Everything that a gateway does besides forwarding, at a steady pace, while it is loaded."""

from __future__ import annotations

import http.client
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from contender import Running
from sign_in import sign_in

SIGN_IN_SECONDS, SCRAPE_SECONDS, RELOAD_SECONDS = 0.1, 1.0, 2.0
"""From one to the next; sign-ins are one after another, however long they take."""
REVALIDATION_SECONDS = 2
"""The gateway's `revalidation.interval` for this work. It looks whether that is over every 30 seconds, by session."""


@dataclass(frozen=True)
class Done:
    """The work done beside a load, in a second of it."""

    sign_ins: float
    revalidations: float
    reloads: float
    scrapes: float
    lines: float
    """Of the access log."""


class Work:
    """Signs in, scrapes the metrics and reloads, from the begin of a `with` to its end.

    Revalidations are begun by the requests of the load, and its lines of the access log are counted. Any failure ends
    the run.
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
        time.sleep(0.5)  # Revalidations that the load began come to their end, and the log's last lines are written.
        if self._trouble:
            raise self._trouble[0]

    def done(self) -> Done:
        """To be asked for after the end."""
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
            while not self._over.wait(max(0, due - time.monotonic())):
                act()
                due = max(due + seconds, time.monotonic())
        except BaseException as trouble:
            self._trouble.append(trouble)

    def _sign_in(self) -> None:
        sign_in(f"{self._running.scheme}://{self._running.authority}", user="ben")
        self._sign_ins += 1

    def _scrape(self) -> None:
        self._metrics()
        self._scrapes += 1

    def _reload(self) -> None:
        self._running.process.popen.send_signal(signal.SIGHUP)

    def _counted(self) -> tuple[int, int]:
        """Successful reloads and revalidations so far."""
        text = self._metrics()
        if refused := re.search(r'^cordon_config_reloads_total\{result="(?!ok)[^"]*"\} [1-9].*', text, re.M):
            raise SystemExit(f"bench: a reload failed: {refused[0]}")
        if failed := re.search(r'^cordon_checks_total\{verdict="(?!good)[^"]*"\} [1-9].*', text, re.M):
            raise SystemExit(f"bench: a revalidation failed: {failed[0]}")
        return _sum(text, 'cordon_config_reloads_total{result="ok"}'), _sum(text, 'cordon_checks_total{verdict="good"}')

    def _metrics(self) -> str:
        assert self._running.health
        connection = http.client.HTTPConnection("127.0.0.1", self._running.health[0], timeout=10)
        try:
            connection.request("GET", "/metrics")
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise SystemExit(f"bench: /metrics answered {response.status}")
        return text


def _sum(text: str, series: str) -> int:
    return sum(int(float(value)) for value in re.findall(f"^{re.escape(series)} (\\S+)", text, re.M))
