#!/usr/bin/env python3
"""test_upgrade.py OLD NEW SIMULATOR: two gateways on one PostgreSQL are upgraded and rolled back, one after the other.

 - Sessions that either version began are good at both, in every mixture, and a sign-out at one ends them at the other.
 - While one gateway is replaced, every request that the other gets is answered.

OLD and NEW are two builds of cordon; SIMULATOR is the simulated Apple. For versions of which the new one does not raise
`minimum_reader`.
"""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests/Debian"), str(ROOT / "Benchmarks")]

from postgresql import PostgreSQL  # noqa: E402
from processes import Process, free_port, wait_for_port  # noqa: E402
from sign_in import sign_in  # noqa: E402
from trial import CORES, Trial, expect  # noqa: E402

PLACES = ("first", "second")


class Fleet:
    """Two gateways with one configuration but for their ports. The first has the port of `public_url`."""

    def __init__(self, folder: Path, url: str, simulator: Path) -> None:
        self.trial = Trial(folder)
        self.trial.start_application()
        self.apple = self.trial.start_apple(simulator)
        self.trial.key.chmod(0o600)
        (folder / "session.key").write_bytes(os.urandom(32).hex().encode())
        (folder / "session.key").chmod(0o600)
        self.ports = {"first": self.trial.port, "second": free_port()}
        self.admins = {"first": self.trial.admin, "second": free_port()}
        self.running: dict[str, Process] = {}
        for place in PLACES:
            (folder / f"{place}.conf").write_text(f"""
public_url = "{self.trial.origin}"
[listen]
address = "127.0.0.1:{self.ports[place]}"
[admin]
address = "127.0.0.1:{self.admins[place]}"
[upstream]
url = "http://127.0.0.1:{self.trial.application}"
[apple]
client_id = "com.example.web"
team_id = "DEF123GHIJ"
key_id = "ABC123DEFG"
private_key_file = "AuthKey.p8"
base_url = "http://127.0.0.1:{self.trial.apple}"
[session]
secret_files = ["session.key"]
[store]
url = "{url}"
""")

    def replace(self, place: str, program: Path, what: str, watched: str | None = None) -> None:
        """Ends the gateway of a place, if there is one, and starts a program there; meanwhile the other one is asked with
        a session without a pause."""
        other = PLACES[1 - PLACES.index(place)]
        failures: list[object] = []
        count = 0
        is_done = threading.Event()

        def ask() -> None:
            nonlocal count
            while not is_done.is_set():
                count += 1
                try:
                    if (status := self.status(other, watched)) != 200:
                        failures.append(status)
                except OSError as error:
                    failures.append(error)

        thread = threading.Thread(target=ask)
        if watched:
            thread.start()
        try:
            if place in self.running:
                self.running[place].popen.terminate()
                expect(self.running[place].popen.wait(40), 0, f"the {place} gateway ends in order")
            folder = self.trial.folder
            self.running[place] = Process.start(
                f"{place}-{program.parent.name}", [str(program), "run", "--config", str(folder / f"{place}.conf")],
                cores=CORES, folder=folder)
            wait_for_port(self.running[place], self.ports[place], 60)
            wait_until(lambda: self.answer(self.admins[place], "/readyz", None) == 200, f"the {place} gateway is ready")
        finally:
            is_done.set()
            if watched:
                thread.join()
        if watched:
            expect(failures, [], f"{what}: none of {count} requests to the {other} gateway fails")

    def sign_in(self) -> str:
        """At the first gateway, which has the address that browsers see."""
        return sign_in(self.trial.origin)

    def sign_out(self, place: str, cookie: str) -> None:
        status = self.answer(
            self.ports[place], "/.auth/sign-out", cookie, method="POST",
            fields={"Origin": self.trial.origin, "Sec-Fetch-Site": "same-origin", "Content-Length": "0"})
        expect(status, 204, f"a sign-out at the {place} gateway is accepted")

    def status(self, place: str, cookie: str | None) -> int:
        return self.answer(self.ports[place], "/hello", cookie)

    def answer(
        self, port: int, path: str, cookie: str | None, method: str = "GET", fields: dict[str, str] | None = None
    ) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        headers = {"Host": f"localhost:{self.trial.port}"} | ({"Cookie": cookie} if cookie else {}) | (fields or {})
        try:
            connection.request(method, path, headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()

    def knows(self, sessions: list[str], when: str) -> None:
        found = [self.status(place, each) for place in PLACES for each in sessions]
        expect(found, [200] * len(found), f"{when}: all sessions are good at both gateways ({len(sessions)})")


def wait_until(holds, what: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit(f"after {seconds:g} s it is not so: {what}")


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    old, new, simulator = (Path(argument).resolve() for argument in sys.argv[1:])
    database = PostgreSQL()
    with tempfile.TemporaryDirectory(prefix="cordon-upgrade-") as name:
        fleet = Fleet(Path(name), database.url, simulator)
        for place in PLACES:
            fleet.replace(place, old, "start")
        sessions = [fleet.sign_in()]
        fleet.knows(sessions, "old and old")
        fleet.replace("second", new, "upgrade of the second", sessions[0])
        sessions.append(fleet.sign_in())
        fleet.knows(sessions, "old and new")
        fleet.replace("first", new, "upgrade of the first", sessions[0])
        sessions.append(fleet.sign_in())
        fleet.knows(sessions, "new and new")
        fleet.replace("first", old, "rollback of the first", sessions[0])
        sessions.append(fleet.sign_in())
        fleet.knows(sessions, "old and new again")
        for place, other in [PLACES, PLACES[::-1]]:
            ended = sessions.pop()
            fleet.sign_out(place, ended)
            wait_until(lambda: fleet.status(other, ended) != 200, f"signed out at the {place}, out at the {other}", 5)
        fleet.replace("second", old, "rollback of the second", sessions[0])
        fleet.knows(sessions, "old and old again")
        for process in fleet.running.values():
            process.stop()
        fleet.apple.stop()
    database.stop()
    print("upgraded and rolled back: nobody was signed out")


main()
