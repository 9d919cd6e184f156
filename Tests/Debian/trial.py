"""The trial of an installed gateway that package and image have in common: the simulated Apple, an application that notes
what it is told, and somebody who signs in."""

from __future__ import annotations

import http.client
import http.server
import os
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Benchmarks"))

from processes import Process, free_port, wait_for_port  # noqa: E402
from sign_in import sign_in  # noqa: E402

CORES = os.sched_getaffinity(0)
USER = "anna"


def expect(found: object, wanted: object, what: str) -> None:
    """Says that something is as it should be, or ends the program."""
    if found != wanted:
        raise SystemExit(f"{what}: expected {wanted!r}, found {found!r}")
    print(f"ok  {what}")


@dataclass
class Trial:
    """The ports of a gateway and of what it talks to, and what the application was told."""

    folder: Path
    """For logs, and for Apple's key."""
    port: int = field(default_factory=free_port)
    admin: int = field(default_factory=free_port)
    apple: int = field(default_factory=free_port)
    application: int = 0
    seen: dict[str, str | None] = field(default_factory=dict)
    """Headers of the application's last request."""

    @property
    def key(self) -> Path:
        """Apple's key, written by the simulator."""
        return self.folder / "AuthKey.p8"

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    def start_apple(self, simulator: Path) -> Process:
        self.key.unlink(missing_ok=True)
        process = Process.start(
            "apple-simulator",
            [str(simulator), "--port", str(self.apple), "--write-key", str(self.key), "--redirect-uri",
             f"{self.origin}/.auth/callback"], cores=CORES, folder=self.folder, output=self.folder / "simulator.log")
        wait_for_port(process, self.apple)
        return process

    def start_application(self) -> None:
        """An application that notes who asks."""
        seen = self.seen

        class Application(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.update({name: self.headers[name] for name in ("X-Forwarded-Name", "X-Forwarded-Email")})
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.application = server.server_address[1]

    def start_gateway(self, command: list[str]) -> Process:
        """Starts a gateway and waits until it listens."""
        gateway = Process.start("cordon", command, cores=CORES, folder=self.folder, output=self.folder / "cordon.log")
        wait_for_port(gateway, self.port, 30)
        gateway.settle()
        return gateway

    def fill_in(self, configuration: Path) -> None:
        """Fills the marked values into the configuration that the package installs."""
        text = configuration.read_text()
        for old, new in {
            'public_url = "https://app.example.com"': f'public_url = "{self.origin}"',
            'address = "127.0.0.1:8080"': f'address = "127.0.0.1:{self.port}"',
            'url = "http://127.0.0.1:3000"': f'url = "http://127.0.0.1:{self.application}"',
            'private_key_file =': f'base_url = "http://127.0.0.1:{self.apple}"\nprivate_key_file =',
        }.items():
            expect(text.count(old), 1, f"the configuration has a line {old}")
            text = text.replace(old, new)
        configuration.write_text(text)

    def signs_in(self) -> None:
        """Somebody signs in, gets the application's page, and the application reads who it is."""
        cookie = sign_in(self.origin, USER)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/hello", headers={"Host": f"localhost:{self.port}", "Cookie": cookie})
        expect(connection.getresponse().status, 200, "a signed-in user gets the application's page")
        expect((self.seen["X-Forwarded-Name"], "@" in (self.seen["X-Forwarded-Email"] or "")), ("Anna Apple", True),
               "the application reads who it is")
