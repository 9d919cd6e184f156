#!/usr/bin/env python3
"""test_image.py CORDON SIMULATOR: builds deploy/container/Dockerfile with buildah, and signs in through the image.

 - Every step of the Dockerfile runs, with what the ignore file lets through, on base images that are made here: Debian by
   debootstrap, and Debian with a compiler that hands out CORDON, a release build for Debian 12, instead of compiling.
 - With --compile in the place of CORDON the Dockerfile compiles: with this machine's toolchain, which must be one for
   Debian 12, on Debian with the packages that the Swift image has. It takes up to an hour. Swift packages come
   from GitHub, or from the folders that this machine's git takes instead (url.FOLDER.insteadOf).
 - The image runs as process 1 of its namespace, as user 65532, without capabilities, on a file system that may only be read:
   a write outside of /var/lib/cordon fails.
 - cordon ready and cordon ready --live, the health check, say that it is well; somebody signs in with the simulated Apple.
 - SIGTERM ends it in order.

Needs root and buildah, no registry and no daemon. The containers' storage is below .build/image.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Debian"))

from clean_root import base_archive, in_own_mount_namespace  # noqa: E402
from trial import Trial, expect  # noqa: E402

CACHE = ROOT / ".build/image"
USER = "65532"

# In the place of the programs of the toolchain: what the Dockerfile, and release-build in it, ask them for.
TOOLCHAIN = ["swift", "clang", "llvm-profdata"]
STUB_COMPILER = """#!/bin/sh
case "$*" in
*--show-bin-path*) echo /prebuilt ;;
-print-file-name=*) echo /usr/lib/libstdc++.a ;;
*) echo "not compiled here: the program was built on this machine" >&2 ;;
esac
"""
# What the Swift image has beside the toolchain, as far as it is for compiling.
COMPILER_PACKAGES = [
    "binutils-gold", "gcc", "git", "ca-certificates", "libcurl4-openssl-dev", "libedit-dev", "libicu-dev",
    "libncurses-dev", "libsqlite3-dev", "libstdc++-12-dev", "libxml2-dev", "pkg-config", "tzdata", "uuid-dev"]


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    in_own_mount_namespace([sys.executable, *sys.argv])
    program, simulator = sys.argv[1:]
    started = time.monotonic()
    CACHE.mkdir(parents=True, exist_ok=True)
    make_debian_image()
    if program == "--compile":
        volumes = make_swift_image()
    else:
        make_stub_image(Path(program).resolve())
        volumes = []
    build(volumes)
    runs(Path(simulator).resolve())
    print(f"the image is built, signs in and ends: {time.monotonic() - started:.0f} s")


def buildah(*arguments: str) -> str:
    """Runs buildah on storage of its own."""
    storage = ["--root", str(CACHE / "storage"), "--runroot", str(CACHE / "run"), "--storage-driver", "vfs"]
    done = subprocess.run(["buildah", *storage, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    (CACHE / f"buildah-{arguments[0]}.log").write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise SystemExit(f"buildah {' '.join(arguments)} ended with {done.returncode}:\n{said}")
    return done.stdout.strip()


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# The base images


DEBIAN, SWIFT = "docker.io/library/debian:bookworm-slim", "docker.io/library/swift:6.3-bookworm"


def make_debian_image() -> None:
    shutil.rmtree(CACHE / "storage", ignore_errors=True)
    base = base_archive(ROOT / ".build/debian-root")
    container = buildah("from", "scratch")
    buildah("add", container, str(base), "/")
    buildah("commit", "--rm", container, DEBIAN)
    print("ok  Debian is the base image")


def make_stub_image(program: Path) -> None:
    compiler = CACHE / "swift"
    compiler.write_text(STUB_COMPILER)
    compiler.chmod(0o755)
    # `install --strip` of the Dockerfile needs it; Swift's image has it.
    container = debian_with("binutils")
    for name in TOOLCHAIN:
        buildah("copy", container, str(compiler), f"/usr/bin/{name}")
    buildah("copy", container, str(program), "/prebuilt/cordon")
    buildah("commit", "--rm", container, SWIFT)
    print("ok  and Debian with compilers that compile nothing")


def make_swift_image() -> list[str]:
    """Makes Debian with all that the toolchain needs but itself; answers what to mount while the image is built."""
    container = debian_with(*COMPILER_PACKAGES)
    swift = os.environ.get("SWIFT", "swift")
    target = json.loads(run(swift, "-print-target-info"))
    toolchain = Path(target["paths"]["runtimeResourcePath"]).resolve().parents[1]
    mounted = {"/toolchain": toolchain}
    # Addresses that git takes from a folder of this machine are taken from that folder there, too.
    settings = subprocess.run(
        ["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], cwd=ROOT, capture_output=True, text=True).stdout
    for setting in settings.splitlines():
        name, address = setting.split(" ", 1)
        folder = re.fullmatch(r"url\.(.*)\.insteadof", name, re.IGNORECASE).group(1)
        if not folder.startswith("/"):
            continue
        place = next((place for place, source in mounted.items() if source == Path(folder)), f"/mirror{len(mounted)}")
        mounted[place] = Path(folder)
        buildah("run", "--isolation", "chroot", container, "git", "config", "--system", "--add",
                f"url.{place}/.insteadOf", address)
    buildah("run", "--isolation", "chroot", container, "git", "config", "--system", "--add", "safe.directory", "*")
    buildah("config", "--env", "PATH=/toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin", container)
    buildah("commit", "--rm", container, SWIFT)
    print(f"ok  and Debian with what {toolchain} needs")
    return [f"--volume={source}:{place}:ro" for place, source in mounted.items()]


def debian_with(*packages: str) -> str:
    """A container of the base image with more packages."""
    container = buildah("from", "--pull-never", DEBIAN)
    buildah("run", "--isolation", "chroot", container, "sh", "-c",
            f"apt-get update && apt-get install --yes --no-install-recommends {' '.join(packages)}")
    return container


def build(volumes: list[str]) -> None:
    # The context as a registry's builder gets it: the files of the repository, none of the products of builds.
    context = CACHE / "context"
    shutil.rmtree(context, ignore_errors=True)
    context.mkdir()
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    for name in filter(None, names.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, context / name)
    buildah("build", "--isolation", "chroot", "--pull-never", "--format", "docker", *volumes, "--file",
            str(context / "deploy/container/Dockerfile"), "--tag", "localhost/cordon", str(context))
    print("ok  every step of the Dockerfile runs, with what the ignore file lets through")
    configuration = json.loads(buildah("inspect", "--type", "image", "localhost/cordon"))["Docker"]["config"]
    expect(configuration["User"], f"{USER}:{USER}", "the image's user is nobody's")
    expect(configuration["Healthcheck"]["Test"], ["CMD", "cordon", "ready", "--live", "--config", "/etc/cordon/gateway.conf"],
           "it has a health check, in Docker's format")


# The container


def runs(simulator: Path) -> None:
    trial = Trial(CACHE)
    trial.start_application()
    files = CACHE / "etc"
    state = CACHE / "state"
    for folder in (files, state):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    os.chown(state, int(USER), int(USER))
    local_apple = trial.start_apple(simulator)
    shutil.copy(trial.key, files)
    (files / "session.key").write_bytes(os.urandom(32).hex().encode())
    (files / "gateway.conf").write_text(f"""
public_url = "{trial.origin}"
[listen]
address = "127.0.0.1:{trial.port}"
[admin]
address = "127.0.0.1:{trial.admin}"
[upstream]
url = "http://127.0.0.1:{trial.application}"
[apple]
client_id = "com.example.web"
team_id = "DEF123GHIJ"
key_id = "ABC123DEFG"
private_key_file = "AuthKey.p8"
base_url = "http://127.0.0.1:{trial.apple}"
[session]
secret_files = ["session.key"]
[store]
url = "sqlite:/var/lib/cordon/cordon.db"
""")
    for file in files.iterdir():
        os.chown(file, int(USER), int(USER))
        file.chmod(0o600)

    container = buildah("from", "--pull-never", "localhost/cordon")
    root = Path(buildah("mount", container))
    for folder, wanted in (("/tmp", False), ("/etc/cordon", False), ("/var/lib/cordon", True)):
        probe = f"echo x >{folder}/probe && rm {folder}/probe"
        done = subprocess.run(
            contained(root, files, state, "-c", probe, program="/bin/sh"), capture_output=True, text=True)
        expect((done.returncode == 0, "Read-only file system" in done.stderr), (wanted, not wanted),
               f"{folder} {'may' if wanted else 'may not'} be written")
    gateway = trial.start_gateway(contained(root, files, state, "run", "--config", "/etc/cordon/gateway.conf"))
    status = Path(f"/proc/{gateway.members[-1]}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    expect(fields["Uid"].split()[0], USER, "the gateway runs as user 65532")
    expect((fields["CapEff"], fields["NSpid"].split()[-1]), ("0" * 16, "1"), "without capabilities, as process 1")
    for words in (["ready"], ["ready", "--live"]):
        said = subprocess.run(
            contained(root, files, state, *words, "--config", "/etc/cordon/gateway.conf"), capture_output=True, text=True)
        expect((said.returncode, said.stdout.strip()), (0, words[-1].lstrip("-")), f"cordon {' '.join(words)} says so")
    trial.signs_in()
    os.kill(gateway.members[-1], 15)
    expect(gateway.popen.wait(30), 0, "SIGTERM ends it in order")
    local_apple.stop()
    expect(state.joinpath("cordon.db").stat().st_uid, int(USER), "the store is the gateway's")
    buildah("umount", container)
    buildah("rm", container)


def contained(
    root: Path, files: Path, state: Path, *command: str, program: str = "/usr/bin/cordon",
) -> list[str]:
    """The image's program in namespaces of its own, on the image's file system, read-only but for the store."""
    script = """
        set -e
        mount --bind "$1" "$1" && mkdir -p "$1/etc/cordon"
        mount --bind "$2" "$1/etc/cordon" && mount --bind "$3" "$1/var/lib/cordon"
        mount -o remount,bind,ro "$1/etc/cordon"
        mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc"
        root=$1; program=$4; shift 4
        exec chroot "$root" /usr/bin/setpriv --reuid=65532 --regid=65532 --clear-groups --no-new-privs \\
            --bounding-set=-all --inh-caps=-all -- "$program" "$@"
    """
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", str(root), str(files),
            str(state), program, *command]


main()
