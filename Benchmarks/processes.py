"""Child processes that are pinned to cores, with CPU time and memory, and always stopped at the end of the run."""

from __future__ import annotations

import atexit
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
DESCRIPTORS = 16_384
"""Descriptor limit of a child, if the system permits it."""


@dataclass
class Process:
    """A child with its own children (nginx is a master and its workers)."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path
    cores: set[int]
    members: list[int] = field(default_factory=list)

    @classmethod
    def start(cls, name: str, command: list[str], *, cores: set[int], folder: Path,
        output: Path | None = None) -> Process:
        """Starts a command on the given cores, with output to `output` or a log in the folder."""
        log = output or folder / f"{name}.log"
        with open(log, "ab") as sink:
            popen = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=lambda: _prepare(cores))
        process = cls(name, popen, log, cores)
        _running.append(process)
        return process

    def settle(self) -> None:
        """Updates the list of children: a master that listens may not have started all its workers yet."""
        self.members = [self.popen.pid] + _descendants(self.popen.pid)

    @property
    def cpu_seconds(self) -> float:
        """User and system time of the process and its children so far, including ended threads.

        Read from the CPU-time clock of each process, in nanoseconds; /proc/PID/stat has hundredths of a second.
        """
        return sum(time.clock_gettime(_cpu_clock(pid)) for pid in self.members)

    @property
    def resident_bytes(self) -> int:
        """Resident memory of the process and its children."""
        return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.members) * PAGE_BYTES

    @property
    def anonymous_bytes(self) -> int:
        """Anonymous resident memory of the process and its children."""
        return sum(
            int(size) * 1_024 for pid in self.members
            for size in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M))

    @property
    def private_dirty_bytes(self) -> int:
        """Private dirty memory of the process and its children, which a second instance would need again. File pages
        are not counted: after a build they are dirty until they are written to disk."""
        return sum(_written_kib(pid) for pid in self.members) * 1_024

    @property
    def wake_ups(self) -> dict[str, int]:
        """Voluntary context switches so far, by running thread of the process and its children."""
        threads = [thread for pid in self.members for thread in Path(f"/proc/{pid}/task").iterdir()]
        return {str(thread): count for thread in threads if (count := _waits(thread))}

    @property
    def highest_resident_bytes(self) -> int:
        """Sum of the peak resident memory of the process and its children."""
        found = [re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()) for pid in self.members]
        return sum(int(peak[1]) * 1_024 for peak in found if peak)

    def prefer(self) -> None:
        """Raises the scheduling priority (nice) of the process and its children over other work. Requires root.

        Their threads keep equal priorities among each other.
        """
        try:
            os.setpriority(os.PRIO_PGRP, self.popen.pid, -20)
            # The scheduler may first weigh sessions against each other (sched(7), "The autogroup feature").
            if (group := Path(f"/proc/{self.popen.pid}/autogroup")).exists():
                group.write_text("-20")
        except PermissionError:
            print(f"bench: not allowed to prefer {self.name}: other work of the machine is measured, too",
                file=sys.stderr)

    def give_way(self, cores: set[int]) -> None:
        """Moves all threads of the process to the given cores, where they run when nothing else wants to."""
        for thread in Path(f"/proc/{self.popen.pid}/task").iterdir():
            give_way(int(thread.name), cores)

    def check(self) -> None:
        """Aborts with the last output of the process if it has ended."""
        if self.popen.poll() is not None:
            said = self.log.read_text(errors="replace")[-2_000:] if self.log.is_file() else ""
            raise SystemExit(f"bench: {self.name} ended with status {self.popen.returncode}:\n{said}")

    def stop(self) -> None:
        """Terminates the process, waits three seconds, and kills its process group."""
        if self in _running:
            _running.remove(self)
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
            try:
                self.popen.wait(3)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.popen.wait()


@contextmanager
def going_first(*processes: Process, this_one: bool = True, children: bool = False) -> Iterator[None]:
    """Gives this process and the given ones real-time priority on their core; `children` includes the processes that
    they start meanwhile.

    Without it, the scheduler lets a running process continue for up to three milliseconds regardless of its nice value:
    the time that client and application wait for their core would be attributed to the proxy. Requires root.
    """
    members = [0] * this_one + [pid for process in processes for pid in process.members]
    if not all([go_first(pid, children) for pid in members]):
        print("bench: not allowed to go first: what waits for the loader's core is measured, too", file=sys.stderr)
    try:
        yield
    finally:
        for pid in members:
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def pinned(cores: set[int]) -> Iterator[None]:
    """Pins this process to cores, to keep it off the proxy's core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def go_first(pid: int, children: bool = False) -> bool:
    """Gives a process (0: this one) real-time priority on its core. Returns whether this is permitted."""
    try:
        os.sched_setscheduler(
            pid, os.SCHED_RR if children else os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except PermissionError:
        return False
    return True


def give_way(thread: int, cores: set[int]) -> None:
    """Moves a thread (0: this one) to the given cores, where it runs when nothing else of its session wants to, and
    with the least weight beside other sessions."""
    os.sched_setaffinity(thread, cores)
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


OUTGOING_PORTS = 32_768
"""First ephemeral port (ip_local_port_range). An outgoing connection could take a free port from here on before the
server binds it."""


def free_port() -> int:
    """Returns a free port on loopback."""
    while True:
        with socket.socket() as probe:
            port = random.randrange(20_000, OUTGOING_PORTS)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def wait_for_port(process: Process, port: int, seconds: float = 10) -> None:
    """Waits until a process accepts connections on the port."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        process.check()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.01)
        else:
            process.settle()
            return
    raise SystemExit(f"bench: {process.name} does not listen on port {port} after {seconds:g} s; see {process.log}")


_running: list[Process] = []


@atexit.register
def _stop_all() -> None:
    for process in list(_running):
        process.stop()


def _prepare(cores: set[int]) -> None:
    """Runs in the child between fork and exec."""
    os.sched_setaffinity(0, cores)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _cpu_clock(pid: int) -> int:
    """Returns the CPU-time clock of a process, as clock_getcpuclockid(3) does."""
    return (~pid << 3) | 2


def _written_kib(pid: int) -> int:
    total = dirty = 0
    text = Path(f"/proc/{pid}/smaps").read_text()
    for name, size in re.findall(r"^(Anonymous|Private_Dirty):\s+(\d+) kB", text, re.M):
        if name == "Anonymous":
            total += min(int(size), dirty)
        else:
            dirty = int(size)
    return total


def _waits(thread: Path) -> int:
    try:
        found = re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", (thread / "status").read_text())
    except FileNotFoundError:
        return 0  # It has ended meanwhile.
    return int(found[1]) if found else 0


def _parent(pid: int) -> int:
    text = Path(f"/proc/{pid}/stat").read_text()
    return int(text[text.rindex(")") + 2:].split()[1])


def _descendants(parent: int) -> list[int]:
    children = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if _parent(int(entry.name)) == parent:
                children.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return children + [grandchild for child in children for grandchild in _descendants(child)]
