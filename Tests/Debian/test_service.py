#!/usr/bin/env python3
"""test_service.py PACKAGE SIMULATOR: runs the package's units under systemd, in a clean Debian that is booted.

 - What is not filled in ends the service with 78, and systemd does not try again.
 - Filled in, it starts; somebody signs in; cordon ready, status, accounts and reload work with the configuration as it is
   installed; systemctl reload works, and fails for a broken file, with which the gateway goes on.
 - An upgrade restarts the gateway, unless the file is broken: then the old process goes on.
 - Killed again and again, it is started again each time.
 - With cordon.socket three restarts under load let no request fail, and while it is killed no connection is refused.
 - Started while PostgreSQL is away it is there, and ready once the server is back; signed-in requests do not notice that
   the server goes away for a while.
"""

from __future__ import annotations

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
    root.add("systemd", "libpq5")
    root.install(package)
    trial = Trial(ROOT / ".build/debian-root")
    trial.start_application()
    local_apple = trial.start_apple(simulator)
    booted = BootedRoot(root, ROOT / ".build/debian-root/systemd.log")

    is_not_tried_again(booted)
    fill_in(booted, trial)
    starts_and_reloads(booted, trial)
    upgrades(booted, trial, package)
    survives_crashes(booted, trial)
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
