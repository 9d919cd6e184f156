"""A clean Debian that is booted: systemd is process 1, on the network of this machine."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import time
from pathlib import Path

from clean_root import CleanRoot


class BootedRoot:
    """A root in which systemd has been started by systemd-nspawn."""

    def __init__(self, root: CleanRoot, log: Path) -> None:
        self.root = root
        # With an init, services are started and restarted as on a machine.
        (root.path / "usr/sbin/policy-rc.d").unlink()
        # systemd-nspawn leaves a /proc that it finds, whose processes are not those that run there.
        subprocess.run(["umount", str(root.path / "proc")], check=True)
        command = [
            "systemd-nspawn", f"--directory={root.path}", f"--machine=cordon-{os.getpid()}", "--boot", "--register=no",
            "--console=pipe"]
        # Where there is no systemd, nobody makes a scope for it.
        if not Path("/run/systemd/system").is_dir():
            command.append("--keep-unit")
        with open(log, "wb") as sink:
            self._popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        atexit.register(self.shut_down)
        wait_until(lambda: self._find_init(log), "systemd runs in the root")
        wait_until(lambda: self.run("systemctl", "is-system-running", check=False).stdout.strip() == "running",
                   "the root has booted")

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program within the root to its end; tells what it said where it failed."""
        done = subprocess.run(
            ["nsenter", f"--target={self._init}", "--all", "--", *command], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
        if check and done.returncode != 0:
            journal = self.run("journalctl", "--no-pager", "--lines=20", check=False).stdout
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}\n{journal}")
        return done

    def shows(self, name: str, unit: str = "cordon.service") -> str:
        """A property of a unit."""
        return self.run("systemctl", "show", f"--property={name}", "--value", unit).stdout.strip()

    def kill(self, unit: str = "cordon.service") -> None:
        """Kills the main process of a unit, which is not asked."""
        self.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", unit)

    def shut_down(self) -> None:
        if self._popen.poll() is not None:
            return
        os.kill(self._init, signal.SIGRTMIN + 4)
        try:
            self._popen.wait(60)
        except subprocess.TimeoutExpired:
            self._popen.kill()

    def _find_init(self, log: Path) -> bool:
        if self._popen.poll() is not None:
            raise SystemExit(f"systemd-nspawn ended with {self._popen.returncode}:\n{log.read_text()}")
        children = Path(f"/proc/{self._popen.pid}/task/{self._popen.pid}/children").read_text().split()
        self._init = int(children[0]) if children else 0
        return bool(children) and Path(f"/proc/{self._init}/comm").read_text().strip() == "systemd"


def wait_until(holds, what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"after {seconds:g} s it is not so: {what}")
        time.sleep(0.05)
