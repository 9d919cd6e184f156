"""The interface of every contender to the harness: it can be set up for a row and started, and has an address."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from processes import Process
from rows import Kind, Row
from upstream import Upstream


@dataclass(frozen=True)
class Limits:
    """Limits of memory that Cordon is configured with."""

    connections: int
    session_mib: int


@dataclass(frozen=True)
class Setting:
    """The configuration of a contender."""

    upstream_port: int
    cores: frozenset[int]
    """The cores it may use; it runs as many workers."""
    access_log: bool = False
    certificate: Certificate | None = None
    """Speaks TLS with this if given, cleartext otherwise."""
    http2: bool = False
    """Whether clients over TLS may have HTTP/2."""
    access_lists: bool = False
    """Whether who may pass is decided by long lists and many routes, where the contender knows such things."""
    many_hosts: bool = False
    """Whether it serves many hosts with a session cookie each, where the contender knows such things."""
    forwarding: str = ""
    """Changes to each request for the application, by name, where the contender is Cordon."""
    upstream_socket: Path | None = None
    """The application's Unix socket, where the contender is Cordon and is to use it."""
    many: frozenset[str] = frozenset()
    """Names of `gateway.MANY`: lines of the configuration that Cordon has thousands of."""
    revalidation_seconds: int | None = None
    """Seconds between two checks of an account with Apple, where the contender is Cordon. Otherwise its default."""
    limits: Limits | None = None
    """Other limits than its defaults, where the contender is Cordon."""

    @staticmethod
    def of(row: Row, application: Upstream, cores: frozenset[int], certificate: Certificate) -> Setting:
        """The configuration that a row is measured with."""
        return Setting(
            application.port, cores, row.access_log, certificate if row.tls else None,
            http2=row.kind is Kind.HTTP2, access_lists=row.access_lists, many_hosts=row.many_hosts,
            forwarding=row.forwarding, upstream_socket=application.socket if row.unix_socket else None)


@dataclass
class Running:
    """A contender that serves."""

    process: Process
    port: int
    host: str
    """The host name in requests, without the port."""
    session: str
    """The session's cookie, `name=value`. All contenders are sent one; only Cordon understands it."""
    health: tuple[int, str] | None = None
    """Port and path of what answers 200 once it is ready, where there is such a thing."""
    scheme: str = "http"
    lines: Path | None = None
    """The access log, if there is one."""
    helpers: list[Process] = field(default_factory=list)
    """Other processes that it needs, which are not measured."""

    def stop(self) -> None:
        for process in [self.process, *self.helpers]:
            process.stop()

    @property
    def authority(self) -> str:
        return f"{self.host}:{self.port}"

    def url(self, path: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"


class Contender(Protocol):
    """A proxy that is measured."""

    name: str
    title: str

    def start(self, setting: Setting, folder: Path) -> Running:
        """Starts it in a new folder of its own, and returns once it serves."""

    def launch(self, folder: Path, cores: set[int]) -> Process:
        """Starts it on what is in its folder, and returns at once."""


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate for localhost, for the rows that speak TLS."""

    chain: Path
    key: Path
    both: Path
    """Both in one file, as HAProxy wants them."""

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
