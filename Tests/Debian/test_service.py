#!/usr/bin/env python3
"""test_service.py PACKAGE SIMULATOR: runs the package's units under systemd, in a clean Debian that is booted.

 - What is not filled in ends the service with 78, and systemd does not try again; the journal has the reason as an error.
 - `cordon run` as root by mistake warns, and the service starts afterwards on the store that it has made.
 - Filled in, it starts; somebody signs in; cordon ready, status, accounts and reload work with the configuration as it is
   installed; systemctl reload works, and fails for a broken file, with which the gateway goes on.
 - An upgrade restarts the gateway, unless the file is broken: then the old process goes on.
 - Killed again and again, it is started again each time; nothing in the journal is about priorities of threads, and the
   documented commands with jq read it, with the lines of systemd in it.
 - A socket unit that contradicts the configuration ends the service with 78, and systemd does not try again.
 - With cordon.socket three restarts under load let no request fail, and while it is killed no connection is refused.
 - Started while PostgreSQL is away it is there, and ready once the server is back; signed-in requests do not notice that
   the server goes away for a while.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
sys.path[:0] = [str(FOLDER), str(ROOT / "Benchmarks")]

from booted_root import BootedRoot, wait_until  # noqa: E402
from clean_root import CleanRoot, in_own_mount_namespace  # noqa: E402
from postgresql import PostgreSQL  # noqa: E402
from processes import free_port  # noqa: E402
from sign_in import sign_in  # noqa: E402
from steady_load import CLIENTS, Load  # noqa: E402
from trial import Trial, expect  # noqa: E402

CONFIGURATION = "/etc/cordon/gateway.conf"
KILLS = 6
"""More than systemd's own limit of starts in ten seconds."""


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    in_own_mount_namespace([sys.executable, *sys.argv])
    package, simulator = (Path(argument).resolve() for argument in sys.argv[1:])
    started = time.monotonic()
    root = CleanRoot(ROOT / ".build/debian-root")
    root.add("systemd", "libpq5", "jq")
    root.install(package)
    trial = Trial(ROOT / ".build/debian-root")
    trial.start_application()
    local_apple = trial.start_apple(simulator)
    booted = BootedRoot(root, ROOT / ".build/debian-root/systemd.log")

    is_not_tried_again(booted)
    fill_in(booted, trial)
    was_run_as_root(booted)
    starts_and_reloads(booted, trial)
    upgrades(booted, trial, package)
    survives_crashes(booted, trial)
    writes_a_journal(booted)
    contradicts_its_socket(booted)
    restarts_behind_its_socket(booted, trial)
    survives_its_store(booted, trial)
    booted.shut_down()
    local_apple.stop()
    print(f"the service starts, reloads, upgrades, crashes and restarts: {time.monotonic() - started:.0f} s")


def is_not_tried_again(booted: BootedRoot) -> None:
    refused = booted.run("systemctl", "start", "cordon", check=False)
    expect(refused.returncode != 0, True, "systemctl start says that an installation that is not filled in does not start")
    expect([booted.shows(name) for name in ("ActiveState", "ExecMainStatus", "NRestarts")], ["failed", "78", "0"],
           "and systemd does not try again")
    wait_until(lambda: f"{CONFIGURATION}:" in journal(booted, "--priority=err"),
               "the journal has the reason as an error")
    print("ok  the journal has the reason as an error")


def journal(booted: BootedRoot, *options: str, unit: str = "cordon") -> str:
    """The messages of a unit."""
    return booted.run("journalctl", f"--unit={unit}", "--output=cat", "--no-pager", *options).stdout


def was_run_as_root(booted: BootedRoot) -> None:
    """Runs the gateway as root, as somebody does who tries it, for the admin socket in a folder as the unit makes it."""
    booted.run("install", "-d", "-m", "0755", "-o", "cordon", "-g", "cordon", "/run/cordon")
    booted.run("systemd-run", "--unit=as-root", "/usr/bin/cordon", "run", "--config", CONFIGURATION)
    wait_until(lambda: "cordon is ready" in journal(booted, unit="as-root"), "the gateway runs as root")
    booted.run("systemctl", "stop", "as-root")
    expect("running as root in a folder of another account" in journal(booted, unit="as-root"), True,
           "cordon run as root warns")
    owner = booted.run("stat", "--format=%U %a", "/var/lib/cordon/cordon.db").stdout.strip()
    expect(owner, "cordon 600", "and the store that it has made is the service's")


def fill_in(booted: BootedRoot, trial: Trial) -> None:
    trial.fill_in(booted.root.path / CONFIGURATION.lstrip("/"))
    shutil.copy(trial.key, booted.root.path / "root/AuthKey_ABC123DEFG.p8")
    booted.run("install", "-m", "0640", "-g", "cordon", "/root/AuthKey_ABC123DEFG.p8", "/etc/cordon/")
    booted.run("cordon", "keygen", "--output", "/etc/cordon/session.key")
    booted.run("chgrp", "cordon", "/etc/cordon/session.key")
    booted.run("chmod", "0640", "/etc/cordon/session.key")
    doctor = booted.run("runuser", "-u", "cordon", "--", "cordon", "doctor", "--config", CONFIGURATION)
    expect("FAIL" in doctor.stdout, False, "the doctor finds nothing that keeps people from signing in")


def starts_and_reloads(booted: BootedRoot, trial: Trial) -> None:
    booted.run("systemctl", "start", "cordon")
    trial.signs_in()
    expect(booted.run("cordon", "ready").stdout.strip(), "ready", "cordon ready says so")
    expect(booted.run("cordon", "ready", "--live").stdout.strip(), "live", "and cordon ready --live")
    expect("Anna Apple" in booted.run("cordon", "accounts", "list").stdout, True, "cordon accounts list works")
    denied = booted.run("setpriv", "--reuid=nobody", "--clear-groups", "cordon", "accounts", "list", check=False)
    expect(denied.returncode != 0, True, "but for nobody else")
    booted.run("cordon", "reload")
    booted.run("systemctl", "reload", "cordon")
    print("ok  cordon reload and systemctl reload work")
    configuration = booted.root.path / CONFIGURATION.lstrip("/")
    good = configuration.read_text()
    configuration.write_text(good + "\n[broken")
    pid = booted.shows("MainPID")
    expect(booted.run("systemctl", "reload", "cordon", check=False).returncode != 0, True,
           "systemctl reload fails for a broken file")
    expect(booted.shows("MainPID"), pid, "and the gateway goes on")
    trial.signs_in()
    configuration.write_text(good)
    booted.run("systemctl", "reload", "cordon")


def upgrades(booted: BootedRoot, trial: Trial, package: Path) -> None:
    configuration = booted.root.path / CONFIGURATION.lstrip("/")
    good = configuration.read_text()
    install = ["dpkg", "--force-confold", "--install", f"/root/{package.name}"]
    pid = booted.shows("MainPID")
    configuration.write_text(good + "\n[broken")
    said = booted.run(*install).stderr
    expect(("was not restarted" in said, booted.shows("MainPID")), (True, pid),
           "an upgrade with a broken file leaves the old process running, and says so")
    trial.signs_in()
    configuration.write_text(good)
    booted.run(*install)
    expect((booted.shows("MainPID") != pid, booted.shows("ActiveState")), (True, "active"),
           "with the file in order it restarts the gateway")
    trial.signs_in()


def survives_crashes(booted: BootedRoot, trial: Trial) -> None:
    for _ in range(KILLS):
        kill_and_wait(booted)
    expect(booted.shows("NRestarts"), str(KILLS), f"killed {KILLS} times, it is started again each time")
    trial.signs_in()
    booted.run("systemctl", "stop", "cordon")


def writes_a_journal(booted: BootedRoot) -> None:
    expect("Failed to set thread priority" in journal(booted), False,
           "nothing in the journal is about priorities of threads")
    expect("Started " in journal(booted), True, "the journal has lines of systemd, too")
    commands = [
        line for page in ("OPERATING.md", "TROUBLESHOOTING.md")
        for line in (ROOT / "Documentation" / page).read_text().splitlines()
        if re.match(r"journalctl -u cordon .*\| jq ", line)]
    expect(len(commands), 2, "two commands with jq are documented")
    said = [booted.run("bash", "-o", "pipefail", "-c", command).stdout for command in commands]
    expect('"kind": "audit"' in said[0], True, "and both read the journal, whatever lines are in it")


def contradicts_its_socket(booted: BootedRoot) -> None:
    """The socket unit as it is installed, but for the port, with the address of the configuration as it is installed."""
    drop_in = booted.root.path / "etc/systemd/system/cordon.socket.d/port.conf"
    drop_in.parent.mkdir()
    drop_in.write_text(f"[Socket]\nListenStream=\nListenStream=[::]:{free_port()}\n")
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "start", "cordon.socket")
    refused = booted.run("systemctl", "start", "cordon", check=False)
    expect(refused.returncode != 0, True, "a socket unit that contradicts listen.address keeps the service from starting")
    pid = booted.shows("ExecMainPID")
    # A restart would follow after one second.
    end = time.monotonic() + 3
    while time.monotonic() < end:
        state = [booted.shows(name) for name in ("ActiveState", "ExecMainStatus", "ExecMainPID")]
        if state != ["failed", "78", pid]:
            break
    expect(state, ["failed", "78", pid], "with 78, and systemd does not try again")
    wait_until(lambda: "the inherited socket 3 (listen)" in journal(booted, "--priority=err"),
               "the journal has the reason")
    booted.run("systemctl", "stop", "cordon.socket")
    booted.run("systemctl", "reset-failed", "cordon.service")
    shutil.rmtree(drop_in.parent)
    booted.run("systemctl", "daemon-reload")


def restarts_behind_its_socket(booted: BootedRoot, trial: Trial) -> None:
    folder = booted.root.path / "etc/systemd/system/cordon.socket.d"
    folder.mkdir()
    (folder / "port.conf").write_text(f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{trial.port}\n")
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "start", "cordon.socket", "cordon.service")
    load = begin_load(trial)
    for _ in range(3):
        load.wait_for_more(200)
        booted.run("systemctl", "restart", "cordon")
    load.wait_for_more(200)
    expect(dict(load.stop()), {}, f"three restarts with cordon.socket: none of {load.answered} requests fails")

    load = begin_load(trial)
    for _ in range(KILLS):
        load.wait_for_more(50)
        kill_and_wait(booted)
    load.wait_for_more(200)
    failures = load.stop()
    expect((failures["ConnectionRefusedError"], sum(failures.values()) <= CLIENTS * KILLS), (0, True),
           f"killed {KILLS} times, no connection is refused, and at most what it had accepted is lost "
           f"({dict(failures)} and {load.answered} answered)")
    expect(booted.shows("ActiveState", "cordon.socket"), "active", "the socket stays")
    booted.run("systemctl", "stop", "cordon.socket", "cordon.service")


def survives_its_store(booted: BootedRoot, trial: Trial) -> None:
    configuration = booted.root.path / CONFIGURATION.lstrip("/")
    text = configuration.read_text()
    database = PostgreSQL()
    database.pause()
    configuration.write_text(text.replace("sqlite:/var/lib/cordon/cordon.db", database.url))
    booted.run("systemctl", "start", "cordon")
    expect(booted.run("cordon", "ready", "--live").stdout.strip(), "live", "without its store the service starts")
    expect(booted.run("cordon", "ready", check=False).returncode, 1, "and is not ready")
    pid = booted.shows("MainPID")
    database.start()
    wait_until(lambda: booted.run("cordon", "ready", check=False).returncode == 0, "it is ready")
    expect(booted.shows("MainPID"), pid, "when the store is back, the same process is ready")
    load = begin_load(trial)
    load.wait_for_more(100)
    database.pause()
    end = time.monotonic() + 8
    while time.monotonic() < end:
        load.wait_for_more(20)
    database.start()
    load.wait_for_more(200)
    expect(dict(load.stop()), {}, f"PostgreSQL is away for eight seconds: none of {load.answered} signed-in requests fails")
    booted.run("systemctl", "stop", "cordon")
    database.stop()
    expect(booted.shows("ExecMainStatus"), "0", "it ends in order")


def begin_load(trial: Trial) -> Load:
    return Load(trial.port, f"localhost:{trial.port}", sign_in(trial.origin))


def kill_and_wait(booted: BootedRoot) -> None:
    """Kills the gateway, and waits until systemd has started it again."""
    before = booted.shows("MainPID")
    booted.kill()
    wait_until(lambda: booted.shows("ActiveState") == "active" and booted.shows("MainPID") not in ("0", before),
               "systemd starts it again")


main()
