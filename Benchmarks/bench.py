#!/usr/bin/env python3
"""Compares Cordon with nginx and HAProxy as plain proxies, in one run, on loopback.

The proxy has one core; the load generator (wrk) and the application behind the proxy share the other. Every row
restarts the contenders and loads them in turn, round after round, and reports medians. The exit status is 0 even if a
budget is missed: the table shows it. `make bench` builds the programs and calls this.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import bulk
import first_answer
import growth
import idle
import latency
import load
import manifest
import quiet
import rapid_reset
import reload
import report
import store
from contender import Certificate, Contender, Limits, Running, Setting
from figures import NGINX_WITHOUT_LOG, Figures, Loaded
from gateway import Cordon
from plain_proxies import HAProxy, Nginx
from processes import pinned
from rows import PUBLIC, ROWS, SMALL, Row, browser_fields
from upstream import Upstream

DOCUMENT = Path(__file__).parent.parent / "Documentation" / "BENCHMARKS.md"
ONCE, IDLE_TLS, RAPID_RESET, MANIFEST, STORE = "start_and_idle", "idle_tls", "rapid_reset", "manifest", "store"
QUIET, GROWTH, UPLOAD, RELOAD, BINARY = "quiet", "growth", "upload", "reload", "binary"
LATENCY = latency.KEY
"""Names of the separate measurements, in addition to those of rows."""


def main() -> None:
    options = _options()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("bench: two cores are needed, one for the proxy and one for the loader and the application")
    missing = [tool for tool in ["nginx", "haproxy", "wrk", "h2load", "gcc", "taskset", "openssl"] if not shutil.which(tool)]
    if missing:
        raise SystemExit(f"bench: not found: {', '.join(missing)}; Scripts/install-debian-packages bench installs them")
    with tempfile.TemporaryDirectory(prefix="cordon-bench-", dir=_memory()) as name:
        folder = Path(name)
        folder.chmod(0o755)
        run = Run(options, folder, proxy_core=cores[0], loader_core=cores[1])
        text = run.measure()
    print(text)
    if options.json:
        Path(options.json).write_text(json.dumps(dataclasses.asdict(run.figures), indent=2, default=str) + "\n")
    if options.write:
        report.write_into(DOCUMENT, text)


class Run:
    """One run of the benchmark."""

    def __init__(self, options: argparse.Namespace, folder: Path, *, proxy_core: int, loader_core: int) -> None:
        self.options = options
        self.folder = folder
        self.proxy_core, self.loader_core = proxy_core, loader_core
        self.upstream = Upstream(folder, {loader_core})
        self.certificate = Certificate.make(folder)
        self.contenders: list[Contender] = [Nginx(), HAProxy()]
        if options.cordon:
            # Cordon is second, so that its rounds are next to those of both nginx and HAProxy.
            self.contenders.insert(
                1, Cordon(Path(options.cordon).resolve(), Path(options.simulator).resolve(), {loader_core}))
        self.figures = Figures()

    def measure(self) -> str:
        """Runs the selected measurements and returns the table."""
        conditions = report.conditions(self.contenders, self.options.seconds, self.options.rounds)
        for row in ROWS:
            if row.key in self.options.rows:
                self._load(row)
        if LATENCY in self.options.rows:
            self._latency()
        if ONCE in self.options.rows:
            self._start_and_idle()
        if IDLE_TLS in self.options.rows:
            self._idle_tls()
        if RAPID_RESET in self.options.rows:
            self._rapid_reset()
        if MANIFEST in self.options.rows:
            self._manifest()
        if STORE in self.options.rows:
            self._store()
        self._measure_process()
        return report.markdown(self.figures, self.contenders, conditions)

    def _load(self, row: Row) -> None:
        proxy_cores = frozenset({self.proxy_core} if row.cores == 1 else {self.proxy_core, self.loader_core})
        loader_cores = {self.loader_core} if row.cores == 1 else set(proxy_cores)
        for pid in self.upstream.process.members:
            os.sched_setaffinity(pid, loader_cores)
        setting = Setting.of(row, self.upstream, proxy_cores, self.certificate)
        serving = {contender.name: self._start(contender, setting, row.key) for contender in self.contenders}
        if row.access_log:
            without = Nginx(NGINX_WITHOUT_LOG, "nginx, plain, without one")
            serving[without.name] = self._start(without, dataclasses.replace(setting, access_log=False), row.key)
        measured = {name: Loaded() for name in serving}
        for number in range(self.options.rounds + 1):
            for name, running in serving.items():
                result = load.run(
                    running, row.path, self._fields(running, row.signed_in), kind=row.kind,
                    seconds=self.options.seconds if number else 1, cores=loader_cores)
                if number:  # The first round warms up.
                    measured[name].rounds.append(result)
                    print(f"{row.key:14} round {number} {name:18} {result.cpu_us_per_request:8.2f} µs "
                          f"{result.requests_per_second:9,.0f}/s  p99 {result.p99_ms:.2f} ms", file=sys.stderr,
                          flush=True)
        for name, running in serving.items():
            measured[name].resident_mib = running.process.resident_bytes / 1_048_576
            measured[name].private_dirty_mib = running.process.private_dirty_bytes / 1_048_576
            running.stop()
        self.figures.rows.append(row)
        self.figures.loaded[row.key] = measured

    def _latency(self) -> None:
        # In the row with two cores, the proxy uses both.
        for pid in self.upstream.process.members:
            os.sched_setaffinity(pid, {self.loader_core})
        self.figures.latency = latency.measure(
            self.contenders, self._start, self.upstream, Setting(self.upstream.port, frozenset({self.proxy_core})),
            self.folder / LATENCY, size=latency.Size.quick() if self.options.quick else latency.Size(),
            loader_core=self.loader_core)

    def _start_and_idle(self) -> None:
        setting = Setting(self.upstream.port, frozenset({self.proxy_core}))
        for contender in self.contenders:
            running = self._start(contender, setting, ONCE)
            fields = self._fields(running, signed_in=True)
            self.figures.first[contender.name] = first_answer.measure(contender, running, SMALL, fields)
            self.figures.idle_kib[contender.name] = idle.kib_per_connection(running, SMALL, fields)
            running.stop()

    def _idle_tls(self) -> None:
        setting = Setting(self.upstream.port, frozenset({self.proxy_core}), certificate=self.certificate)
        for contender in self.contenders:
            running = self._start(contender, setting, IDLE_TLS)
            fields = self._fields(running, signed_in=True)
            self.figures.idle_tls_kib[contender.name] = idle.kib_per_connection(running, SMALL, fields)
            running.stop()

    def _rapid_reset(self) -> None:
        setting = Setting(
            self.upstream.port, frozenset({self.proxy_core}), certificate=self.certificate, http2=True)
        for contender in self.contenders:
            running = self._start(contender, setting, RAPID_RESET)
            self.figures.floods[contender.name] = [
                rapid_reset.measure(
                    running, self.upstream.process, SMALL, self._fields(running, signed_in=True), flooded=PUBLIC,
                    core=self.loader_core)
                for _ in range(1 if self.options.quick else 3)]
            print(f"{RAPID_RESET} {contender.name} {self.figures.floods[contender.name]}", file=sys.stderr, flush=True)
            running.stop()

    @property
    def _cordon(self) -> Cordon | None:
        return next((it for it in self.contenders if isinstance(it, Cordon)), None)

    def _manifest(self) -> None:
        limits = manifest.Manifest.read()
        for certificate in [None, self.certificate] if self._cordon else []:
            setting = Setting(
                self.upstream.port, frozenset({self.proxy_core}), certificate=certificate,
                limits=Limits(limits.connections, limits.session_mib))
            running = self._start(self._cordon, setting, f"{MANIFEST}-{'tls' if certificate else 'cleartext'}")
            share = manifest.share_of_limit(running, limits, SMALL, self._fields(running, signed_in=True))
            self.figures.manifest_share[running.scheme] = share
            print(f"{MANIFEST} {running.scheme} {share:.2f}", file=sys.stderr, flush=True)
            running.stop()

    def _store(self) -> None:
        cordon = self._cordon
        if cordon is None:
            return
        self.figures.store = store.measure(
            cordon, Path(self.options.store_writer).resolve(), Setting(self.upstream.port,
                frozenset({self.proxy_core})),
            self.folder, size=store.Size.quick() if self.options.quick else store.Size(),
            rounds=min(self.options.rounds, 5),
            seconds=self.options.seconds, loader_cores={self.loader_core})

    def _measure_process(self) -> None:
        """Runs the measurements apart from load, and those that must not depend on the size of the configuration."""
        setting = Setting(self.upstream.port, frozenset({self.proxy_core}))
        for contender in self.contenders if QUIET in self.options.rows else []:
            running = self._start(contender, setting, QUIET)
            self.figures.quiet[contender.name] = quiet.measure(running)
            print(f"{QUIET} {contender.name} {self.figures.quiet[contender.name]}", file=sys.stderr, flush=True)
            running.stop()
        if (cordon := self._cordon) is None:
            return
        if GROWTH in self.options.rows:
            self.figures.growth = growth.measure(
                lambda many, row: self._start(cordon, dataclasses.replace(setting, many=many), row),
                lambda running: self._fields(running, signed_in=True), rounds=self.options.rounds,
                seconds=self.options.seconds, loader_cores={self.loader_core})
        if UPLOAD in self.options.rows:
            application, port = bulk.start_application(self.folder / "bulk", {self.loader_core})
            running = cordon.start(dataclasses.replace(setting, upstream_port=port), self._folder(UPLOAD))
            # This process is the client: on the proxy's core it would evict the body from the proxy's cache.
            with pinned({self.loader_core}):
                self.figures.upload_vs_download = bulk.upload_vs_download(running)
            running.stop()
            application.stop()
        if RELOAD in self.options.rows:
            running = self._start(cordon, dataclasses.replace(setting, many=frozenset({"routes"})), RELOAD)
            self.figures.reload_cpu_ms = reload.cpu_ms(running)
            running.stop()
        if BINARY in self.options.rows:
            stripped = self.folder / "stripped"
            subprocess.run(["strip", "-o", str(stripped), str(cordon.binary)], check=True)
            self.figures.binary_mb = stripped.stat().st_size / 1e6
            stripped.unlink()

    def _folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    def _start(self, contender: Contender, setting: Setting, row: str) -> Running:
        folder = self.folder / f"{row}-{contender.name}"
        folder.mkdir()
        running = contender.start(setting, folder)
        if contender.name == "cordon":
            _expect_identity(running)
        return running

    @staticmethod
    def _fields(running: Running, signed_in: bool) -> list[tuple[str, str]]:
        return browser_fields(running.authority, running.session if signed_in else None)


def _expect_identity(running: Running) -> None:
    """Checks that requests are forwarded with the user's identity, and that requests without a session are refused."""
    for session, wanted in [(running.session, 200), (None, 302)]:
        if running.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                "127.0.0.1", running.port, timeout=5, context=ssl._create_unverified_context())
        else:
            connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=5)
        connection.request("GET", "/app/who", headers=dict(browser_fields(running.authority, session)))
        response = connection.getresponse()
        told = response.read()
        connection.close()
        if response.status != wanted or (session and not told):
            raise SystemExit(f"bench: cordon answered {response.status} {told[:200]!r} to /app/who, session {session}")


def _memory() -> str | None:
    """Returns a folder in memory, so that disk access does not affect the results."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    keys = [row.key for row in ROWS] + [LATENCY, ONCE, IDLE_TLS, RAPID_RESET, MANIFEST, STORE, QUIET, GROWTH, UPLOAD,
        RELOAD, BINARY]
    parser.add_argument("--cordon", metavar="PATH", help="the release binary; without it only the others are measured")
    parser.add_argument("--simulator", metavar="PATH", help="the apple-simulator binary; default: beside cordon")
    parser.add_argument("--store-writer", metavar="PATH", help="the store-writer binary; default: beside cordon")
    parser.add_argument("--quick", action="store_true", help="about seven minutes: shorter rounds, and fewer")
    parser.add_argument("--rounds", type=int, metavar="N",
        help="rounds for each contender and row (default 9, quick 3)")
    parser.add_argument("--seconds", type=int, metavar="N", help="length of a round (default 2, quick 1)")
    parser.add_argument("--rows", metavar="KEY,…", help=f"what to measure, of {', '.join(keys)} (default all)")
    parser.add_argument("--json", metavar="FILE", help="writes every round there as well")
    parser.add_argument("--write", action="store_true",
        help=f"puts the table into {DOCUMENT.parent.name}/{DOCUMENT.name}")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 9)
    options.seconds = options.seconds or (1 if options.quick else 2)
    options.rows = options.rows.split(",") if options.rows else keys
    if unknown := [key for key in options.rows if key not in keys]:
        parser.error(f"unknown rows: {', '.join(unknown)}")
    if not (1 <= options.rounds <= 100 and 1 <= options.seconds <= 60):
        parser.error("1 to 100 rounds of 1 to 60 seconds")
    if options.cordon and not options.simulator:
        options.simulator = str(Path(options.cordon).with_name("apple-simulator"))
    if options.cordon and not options.store_writer:
        options.store_writer = str(Path(options.cordon).with_name("store-writer"))
    return options


if __name__ == "__main__":
    main()
