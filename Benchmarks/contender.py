"""The interface between the contenders and the harness: setup for a row, start, and address."""

from __future__ import annotations

import http.client
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from processes import Process
from rows import Kind, Row
from upstream import Upstream


@dataclass(frozen=True)
class Limits:
    """Cordon's settings that limit memory."""

    connections: int
    session_mib: int


@dataclass(frozen=True)
class Setting:
    """The configuration of a contender."""

    upstream_port: int
    cores: frozenset[int]
    """The cores that it may use. It runs one worker for each."""
    access_log: bool = False
    certificate: Certificate | None = None
    """For TLS. Without it, clear text."""
    http2: bool = False
    """Whether clients may negotiate HTTP/2 over TLS."""
    access_lists: bool = False
    """Whether access is decided by long lists and many routes, if the contender has access rules."""
    many_hosts: bool = False
    """Whether it serves many hosts with a session cookie each, if the contender has sessions."""
    forwarding: str = ""
    """Cordon only: changes to each forwarded request, by name."""
    upstream_socket: Path | None = None
    """Cordon only: the application's Unix socket, if it is to be used."""
    many: frozenset[str] = frozenset()
    """Cordon only: names in `gateway.MANY` of settings that the configuration has thousands of."""
    revalidation_seconds: int | None = None
    """Cordon only: seconds between two revalidations of an account with Apple. None means the default."""
    limits: Limits | None = None
    """Cordon only: limits other than the defaults."""

    @staticmethod
    def of(row: Row, application: Upstream, cores: frozenset[int], certificate: Certificate) -> Setting:
        """Returns the configuration for a row."""
        return Setting(
            application.port, cores, row.access_log, certificate if row.tls else None,
            http2=row.kind is Kind.HTTP2, access_lists=row.access_lists, many_hosts=row.many_hosts,
            forwarding=row.forwarding, upstream_socket=application.socket if row.unix_socket else None)


@dataclass
class Running:
    """A running contender."""

    process: Process
    port: int
    host: str
    """The host name in requests, without the port."""
    session: str
    """The session cookie, `name=value`. It is sent to all contenders, but only Cordon evaluates it."""
    health: tuple[int, str] | None = None
    """Port and path of the readiness check, if there is one."""
    scheme: str = "http"
    lines: Path | None = None
    """The access log, if there is one."""
    helpers: list[Process] = field(default_factory=list)
    """Helper processes, which are not measured."""

    def stop(self) -> None:
        for process in [self.process, *self.helpers]:
            process.stop()

    @property
    def authority(self) -> str:
        return f"{self.host}:{self.port}"

    def url(self, path: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"

    def wait_until_ready(self, seconds: float = 15, patience: float = 2) -> None:
        """Waits until the readiness check answers 200. An attempt may take `patience` seconds."""
        assert self.health
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.process.check()
            try:
                status, _ = self._ask(*self.health, patience)
            except (OSError, http.client.HTTPException):
                status = 0
            if status == 200:
                self.process.settle()
                return
            time.sleep(0.02)
        raise SystemExit(f"bench: {self.process.name} is not ready after {seconds:g} s; see {self.process.log}")

    def metrics(self) -> str:
        """Returns the text of `/metrics`, at the port of the readiness check."""
        assert self.health
        status, text = self._ask(self.health[0], "/metrics", 10)
        if status != 200:
            raise SystemExit(f"bench: /metrics of {self.process.name} answered {status}")
        return text

    @staticmethod
    def _ask(port: int, path: str, patience: float) -> tuple[int, str]:
        """Returns status and body of a GET."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()


class Contender(Protocol):
    """A proxy that is measured."""

    name: str
    title: str

    def start(self, setting: Setting, folder: Path) -> Running:
        """Starts it in a new folder, and returns once it serves requests."""

    def launch(self, folder: Path, cores: set[int]) -> Process:
        """Starts it again with the files in its folder, without waiting until it serves requests."""


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate for localhost, for the rows that speak TLS."""

    chain: Path
    key: Path
    both: Path
    """Certificate and key in one file, as HAProxy needs them."""

    @classmethod
    def make(cls, folder: Path) -> Certificate:
        made = cls(folder / "certificate.pem", folder / "key.pem", folder / "both.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", str(made.key), "-out", str(made.chain)], check=True, capture_output=True)
        made.both.write_text(made.chain.read_text() + made.key.read_text())
        for secret in [made.key, made.both]:
            secret.chmod(0o600)
        return made
