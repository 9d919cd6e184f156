#!/usr/bin/env python3
"""test_package.py PACKAGE SIMULATOR: installs the Debian package in a clean Debian root, and signs in through it.

 - It installs with what it depends on; user, folders and modes are as they are meant to be; the configuration is a conffile.
 - Every library is there; the man pages, the completions, the examples and the guides are, whose links lead to files of
   the package; the unit's exposure is 1.5 or less.
 - As it is installed the configuration says what is missing; filled in as its first lines tell, it is in order.
 - The gateway runs as its own user, somebody signs in with the simulated Apple, and the application reads who it is; an
   administrator lists the accounts.
 - Nothing is enabled by itself, neither the service nor the socket.
 - An upgrade keeps a changed configuration and restarts the gateway, unless its user could not start it with that;
   removing keeps it too and stops service and socket; purging leaves the keys.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True
FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
sys.path.insert(0, str(FOLDER))

from clean_root import CleanRoot, in_own_mount_namespace  # noqa: E402
from trial import CORES, Process, Trial, expect  # noqa: E402

AS_SERVICE = ["setpriv", "--reuid=cordon", "--regid=cordon", "--init-groups", "--"]
"""Runs a program as the gateway's user, without another process in between."""
CONFIGURATION = "/etc/cordon/gateway.conf"
MOST_EXPOSURE = 1.5


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    in_own_mount_namespace([sys.executable, *sys.argv])
    package, simulator = (Path(argument).resolve() for argument in sys.argv[1:])
    started = time.monotonic()
    root = CleanRoot(ROOT / ".build/debian-root")

    root.install(package)
    installed_as_meant(root)
    complete(root)
    refuses_what_is_not_filled_in(root)
    signs_in(root, simulator)
    keeps_what_is_changed(root, package)
    print(f"the package installs, signs in, upgrades and goes: {time.monotonic() - started:.0f} s")


# What the package laid down


def installed_as_meant(root: CleanRoot) -> None:
    modes = root.run("stat", "--format", "%n %a %U:%G", "/etc/cordon", CONFIGURATION, "/var/lib/cordon", "/usr/bin/cordon")
    expect(
        modes.stdout.splitlines(),
        ["/etc/cordon 750 root:cordon", f"{CONFIGURATION} 640 root:cordon", "/var/lib/cordon 700 cordon:cordon",
         "/usr/bin/cordon 755 root:root"], "folders and files have their owners and modes")
    expect(root.run("getent", "passwd", "cordon").stdout.strip().split(":")[5:], ["/var/lib/cordon", "/usr/sbin/nologin"],
           "the gateway's user has no shell")
    conffiles = root.run("dpkg-query", "--show", "--showformat", "${Conffiles}", "cordon").stdout.split()
    expect(CONFIGURATION in conffiles, True, "the configuration is a conffile")
    expect(root.run("dpkg", "--verify", "cordon").stdout, "", "every file is as it was packed")
    units = root.path / "lib/systemd/system"
    expect([(units / f"cordon.{kind}").is_file() for kind in ("service", "socket")], [True, True], "both units are there")
    enabled = [str(path) for path in (root.path / "etc/systemd/system").rglob("cordon.*")]
    expect(enabled, [], "and neither is enabled")


def complete(root: CleanRoot) -> None:
    libraries = root.run("ldd", "/usr/bin/cordon").stdout
    expect("not found" in libraries or "libswift" in libraries, False, "every library is Debian's and is there")
    dynamic = subprocess.run(
        ["readelf", "--dynamic", "--wide", str(root.path / "usr/bin/cordon")], capture_output=True, text=True, check=True)
    expect("PATH)" in dynamic.stdout, False, "and none is looked for in other folders than the system's")
    completion = "/usr/share/bash-completion/completions/cordon"
    shown = root.run("bash", "-c", f". {completion} && complete -p cordon").stdout
    expect("cordon" in shown, True, "bash completes its words")
    expect((root.path / "usr/share/zsh/vendor-completions/_cordon").read_text().startswith("#compdef cordon"), True,
           "zsh completes its words")
    # The root has no man, and dpkg's exclusions do not apply to it: the files are what man would show.
    for page in ("man1/cordon.1.gz", "man5/gateway.conf.5.gz"):
        expect((root.path / "usr/share/man" / page).is_file(), True, f"the manual has {page}")
    has_examples(root)
    has_guides(root.path / "usr/share/doc/cordon")
    unit = root.path / "lib/systemd/system/cordon.service"
    report = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)], capture_output=True, text=True)
    exposure = float(re.search(r"Overall exposure level[^:]*: ([0-9.]+)", report.stdout).group(1))
    expect(exposure <= MOST_EXPOSURE, True, f"the unit's exposure is {exposure}, at most {MOST_EXPOSURE}")


def has_examples(root: CleanRoot) -> None:
    """The configurations of other proxies and the verifiers of assertions, which the guides refer to."""
    examples, installed = ROOT / "examples", root.path / "usr/share/doc/cordon/examples"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "README.md", "behind-*",
         "verify-assertion"], cwd=examples, check=True, capture_output=True, text=True).stdout.split()
    wanted = {name: (examples / name).read_bytes() for name in listed if not name.endswith(".gitignore")}
    expect({"behind-nginx/nginx.conf", "verify-assertion/README.md"} <= wanted.keys(), True, "there are examples")
    found = {
        str(path.relative_to(installed)): path.read_bytes()
        for path in [
            installed / "README.md", *installed.glob("behind-*/**/*"), *installed.glob("verify-assertion/**/*")]
        if path.is_file()}
    expect(sorted(name for name in wanted.keys() | found.keys() if found.get(name) != wanted.get(name)), [],
           "each of their files is in the package as it is, and no other")


def has_guides(installed: Path) -> None:
    """The documents, none of which links to a file of the source that the package does not have."""
    pages = sorted(installed.rglob("*.md"))
    names = [str(page.relative_to(installed)) for page in pages]
    expect({"README.md", "SECURITY.md", "Documentation/OPERATING.md"} <= set(names), True, "the guides are there")
    dead, count = [], 0
    for page, name in zip(pages, names):
        for target in re.findall(r"\]\(([^()\s#:]+)(?:#[^()\s:]*)?\)", page.read_text()):
            count += 1
            if not (page.parent / target).exists():
                dead.append(f"{name}: {target}")
    expect((count > 100, dead), (True, []), "and their links lead to files of the package")


# What an administrator does


def refuses_what_is_not_filled_in(root: CleanRoot) -> None:
    refused = root.run("cordon", "check", "--config", CONFIGURATION, check=False)
    expect(refused.returncode, 78, "an installation that is not filled in is refused")
    expect("AuthKey_ABC123DEFG.p8" in refused.stdout and "session.key" in refused.stdout, True,
           "it says which files are missing")


def signs_in(root: CleanRoot, simulator: Path) -> None:
    trial = Trial(ROOT / ".build/debian-root")
    trial.start_application()
    configuration = root.path / CONFIGURATION.lstrip("/")
    trial.fill_in(configuration)
    local_apple = trial.start_apple(simulator)
    shutil.copy(trial.key, root.path / "root/AuthKey_ABC123DEFG.p8")

    # The lines that the configuration begins with.
    root.run("install", "-m", "0640", "-g", "cordon", "/root/AuthKey_ABC123DEFG.p8", "/etc/cordon/")
    root.run("cordon", "keygen", "--output", "/etc/cordon/session.key")
    root.run("chgrp", "cordon", "/etc/cordon/session.key")
    root.run("chmod", "0640", "/etc/cordon/session.key")
    checked = root.run("cordon", "check", "--config", CONFIGURATION)
    expect("there is no folder" in checked.stdout, False, "no warning of the folders that systemd makes at the start")
    doctor = root.run("runuser", "-u", "cordon", "--", "cordon", "doctor", "--config", CONFIGURATION)
    expect("FAIL" in doctor.stdout, False, "the doctor finds nothing that keeps people from signing in")

    # As the unit's RuntimeDirectory=.
    root.run("install", "-d", "-m", "0755", "-o", "cordon", "-g", "cordon", "/run/cordon")
    # runuser is replaced by nothing: setpriv becomes the gateway, so that the process that is ended is the gateway.
    gateway = trial.start_gateway(root.command(*AS_SERVICE, "/usr/bin/cordon", "run", "--config", CONFIGURATION))
    ready = root.run(*AS_SERVICE, "cordon", "ready", "--config", CONFIGURATION)
    expect(ready.stdout.strip(), "ready", "the gateway says of itself that it is ready")
    trial.signs_in()
    listed = root.run("cordon", "accounts", "list")
    expect("Anna Apple" in listed.stdout, True, "an administrator lists the accounts")
    gateway.popen.terminate()
    expect(gateway.popen.wait(30), 0, "the gateway ends in order")
    local_apple.stop()
    owners = root.run("stat", "--format", "%U %a", "/var/lib/cordon/cordon.db").stdout.strip()
    expect(owners, "cordon 600", "the store is the gateway's alone")


def keeps_what_is_changed(root: CleanRoot, package: Path) -> None:
    configuration = root.path / CONFIGURATION.lstrip("/")
    changed = configuration.read_text()
    said = note_what_systemd_is_told(root)
    root.run("dpkg", "--force-confold", "--install", f"/root/{package.name}")
    expect(said(), ["try-restart cordon.service"], "an upgrade restarts a running gateway, and leaves its socket alone")
    expect(configuration.read_text(), changed, "an upgrade keeps the changed configuration")
    expect(root.run("stat", "--format", "%a %U:%G", CONFIGURATION).stdout.strip(), "640 root:cordon",
           "with its owner and mode")
    configuration.write_text(changed + "\n[broken")
    upgraded = root.run("dpkg", "--force-confold", "--install", f"/root/{package.name}")
    expect((said(), "was not restarted" in upgraded.stderr), ([], True),
           "an upgrade leaves the running gateway alone if the file would keep the new one from starting")
    configuration.write_text(changed)
    root.run("chmod", "0600", "/etc/cordon/session.key")
    upgraded = root.run("dpkg", "--force-confold", "--install", f"/root/{package.name}")
    expect((said(), "was not restarted" in upgraded.stderr), ([], True),
           "and if the gateway's user may not read what root may")
    root.run("apt-get", "remove", "--yes", "cordon")
    expect(configuration.is_file(), True, "removing the package keeps the configuration")
    expect(said(), ["stop cordon.socket cordon.service"], "and stops the socket, then the service")
    root.run("apt-get", "purge", "--yes", "cordon")
    left = sorted(path.name for path in (root.path / "etc/cordon").iterdir())
    expect(left, ["AuthKey_ABC123DEFG.p8", "session.key"], "purging leaves the key and the secret")
    expect((root.path / "var/lib/cordon").exists(), False, "purging removes the store")


def note_what_systemd_is_told(root: CleanRoot) -> Callable[[], list[str]]:
    """As if systemd ran there: answers what the package has asked of it since it was last asked."""
    (root.path / "run/systemd/system").mkdir(parents=True)
    notes = root.path / "root/notes"
    # The gateway that runs, as far as the package can see.
    gateway = Process.start("gateway", root.command(*AS_SERVICE, "sleep", "600"), cores=CORES, folder=root.path / "root")
    answers = {"usr/bin/deb-systemd-invoke": 'echo "$@" >>/root/notes', "usr/bin/systemctl": f"echo {gateway.popen.pid}"}
    for program, answer in answers.items():
        path = root.path / program
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{answer}\n")
        path.chmod(0o755)

    def said() -> list[str]:
        lines = notes.read_text().splitlines() if notes.exists() else []
        notes.unlink(missing_ok=True)
        return lines

    return said


main()
