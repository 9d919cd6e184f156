"""Requests without a pause, of which every failure is noted."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter

CLIENTS = 4
PAUSE = 0.005
"""Between two requests of a client: the load stays small, so that whatever fails does not fail for lack of a core."""


class Load:
    """Clients that ask with a session: half keep their connection, half make a new one for each request."""

    def __init__(self, port: int, host: str, cookie: str, path: str = "/hello") -> None:
        self._port = port
        self._path = path
        self._fields = {"Host": host, "Cookie": cookie}
        self._is_over = threading.Event()
        self.answered = 0
        self.failures: Counter[str] = Counter()
        self.longest = 0.0
        """Seconds that the slowest answered request took."""
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(number % 2 == 0,)) for number in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def wait_for_more(self, count: int, seconds: float = 60) -> None:
        """Waits until so many more were answered, so that what comes next happens under load."""
        goal, end = self.answered + count, time.monotonic() + seconds
        while self.answered < goal:
            if time.monotonic() > end:
                self.stop()
                raise SystemExit(f"{count} more answers did not come in {seconds:g} s: {dict(self.failures)}")
            time.sleep(0.01)

    def stop(self) -> Counter[str]:
        """Ends the load; answers how often which failure came."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        return self.failures

    def _run(self, keeps_its_connection: bool) -> None:
        connection: http.client.HTTPConnection | None = None
        while not self._is_over.is_set():
            begun = time.monotonic()
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
                connection.request("GET", self._path, headers=self._fields)
                response = connection.getresponse()
                response.read()
                closes = response.will_close
                outcome = "" if response.status == 200 else str(response.status)
            except (OSError, http.client.HTTPException) as error:
                outcome, closes = type(error).__name__, True
            with self._lock:
                if outcome:
                    self.failures[outcome] += 1
                else:
                    self.answered += 1
                    self.longest = max(self.longest, time.monotonic() - begun)
            if connection and (closes or not keeps_its_connection):
                connection.close()
                connection = None
            time.sleep(PAUSE)
        if connection:
            connection.close()
