"""A clean Debian, unpacked into a folder, and programs run within it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

SUITE = "bookworm"


def base_archive(cache: Path) -> Path:
    """The archive of a root as debootstrap makes it, from the cache if it is there."""
    archive = cache / f"base-{SUITE}.tar"
    if archive.exists():
        return archive
    print("making the base of Debian with debootstrap, once", flush=True)
    made = cache / "base"
    shutil.rmtree(made, ignore_errors=True)
    cache.mkdir(parents=True, exist_ok=True)
    subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(made)], check=True, stdout=subprocess.DEVNULL)
    # Only what this base has had from the distribution so far; what is fetched later is kept for the next run.
    shutil.rmtree(made / "var/cache/apt/archives", ignore_errors=True)
    (made / "var/cache/apt/archives/partial").mkdir(parents=True)
    subprocess.run(["tar", "--numeric-owner", "-C", str(made), "-cf", f"{archive}.part", "."], check=True)
    os.rename(f"{archive}.part", archive)
    shutil.rmtree(made)
    return archive


class CleanRoot:
    """A root of Debian 12 without anything that its minimum does not have.

    The base is made by debootstrap once and kept as an archive, beside the packages that were fetched since: a second run
    needs no network. Everything is mounted in this process's own mount namespace, and gone with it.
    """

    def __init__(self, cache: Path) -> None:
        self.path = cache / "root"
        self._base = base_archive(cache)
        self._archives = cache / "archives"
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        with tarfile.open(self._base) as archive:
            archive.extractall(self.path, numeric_owner=True, filter="fully_trusted")
        self._archives.mkdir(exist_ok=True)
        self._mount("--bind", str(self._archives), "var/cache/apt/archives")
        self._mount("-t", "proc", "proc", "proc")
        # Services are not started by packages that are installed here: there is no init.
        policy = self.path / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program within the root to its end; tells what it said where it failed."""
        done = subprocess.run(
            self.command(*command), capture_output=True, text=True, stdin=subprocess.DEVNULL, env=self._environment)
        if check and done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def command(self, *command: str) -> list[str]:
        return ["chroot", str(self.path), *command]

    def install(self, package: Path) -> None:
        """Installs a package file with what it depends on, as an administrator does."""
        shutil.copy(package, self.path / "root" / package.name)
        self.add(f"/root/{package.name}")

    def add(self, *packages: str) -> None:
        """Installs packages of Debian, or package files within the root."""
        install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
        # What was fetched by an earlier run is enough, unless a dependency is new.
        if self.run(*install, check=False).returncode != 0:
            self.run("apt-get", "update")
            self.run(*install)
            self._keep_lists()

    @property
    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        return kept | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}

    def _keep_lists(self) -> None:
        """Puts the package lists into the base, so that the next run finds the dependencies without the network."""
        subprocess.run(["tar", "-C", str(self.path), "-rf", str(self._base), "./var/lib/apt/lists"], check=True)

    def _mount(self, *arguments: str) -> None:
        *options, target = arguments
        subprocess.run(["mount", *options, str(self.path / target)], check=True)


def in_own_mount_namespace(arguments: list[str]) -> None:
    """Starts this program anew where its mounts are nobody else's."""
    if os.environ.get("CORDON_MOUNTS") == "own":
        return
    if os.geteuid() != 0:
        raise SystemExit("test-deb: a clean Debian root is made and entered as root; run it as root (sudo make test-deb)")
    os.environ["CORDON_MOUNTS"] = "own"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", *arguments])
