"""A PostgreSQL server for the benchmark, on disk, with default settings: every commit is flushed."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from processes import Process, free_port, wait_for_port


class PostgreSQL:
    """A running server. If the benchmark runs as root, the server runs as Debian's user `postgres`."""

    def __init__(self) -> None:
        # On disk, unlike the rest of the benchmark: the measurement includes waiting for the disk.
        self._folder = tempfile.TemporaryDirectory(prefix="cordon-bench-", dir="/var/tmp")
        folder = Path(self._folder.name)
        self._as_server: list[str] = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            self._as_server = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not programs:
            raise SystemExit("bench: no PostgreSQL server; Scripts/install-debian-packages bench installs it")
        self._programs = programs[-1].parent
        done = subprocess.run(
            [*self._as_server, str(self._programs / "initdb"), "--pgdata", str(folder / "data"), "--username=cordon",
             "--auth=trust", "--encoding=UTF8", "--locale=C"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"bench: initdb: {done.stderr}")
        self._port = free_port()
        self.url = f"postgresql://cordon@127.0.0.1:{self._port}/postgres"
        self.start()

    def start(self) -> None:
        """Starts the server, also after `pause`, on the same port."""
        folder = Path(self._folder.name)
        command = [
            *self._as_server, str(self._programs / "postgres"), "-D", str(folder / "data"), "-p", str(self._port),
            "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
        self.process = Process.start("postgresql", command, cores=os.sched_getaffinity(0), folder=folder)
        wait_for_port(self.process, self._port)
        # It listens before it accepts sessions.
        ready = [str(self._programs / "pg_isready"), "--host=127.0.0.1", f"--port={self._port}", "--quiet"]
        while subprocess.run(ready).returncode:
            self.process.check()
            time.sleep(0.05)

    def pause(self) -> None:
        """Stops the server and its connections, and keeps the data."""
        self.process.popen.send_signal(signal.SIGINT)
        self.process.popen.wait()
        self.process.stop()

    def stop(self) -> None:
        # Killed, it would leave shared memory of the system behind.
        self.pause()
        self._folder.cleanup()
