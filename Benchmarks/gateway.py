"""Cordon as a contender, with a session from a complete sign-in at the simulated Apple."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contender import Running, Setting
from processes import Process, free_port, wait_for_port
from sign_in import sign_in

SECRET = "what signs the sessions of the benchmark, and nothing else"
CLIENT_ID, TEAM_ID, KEY_ID = "com.example.web", "DEF123GHIJ", "ABC123DEFG"
USER_EMAIL = "anna.bergstrom@example.com"
"""E-mail address of the simulated user who signs in (`sign_in.sign_in`)."""


@dataclass
class Cordon:
    """The gateway. Each start has its own simulated Apple, keys and store."""

    binary: Path
    simulator: Path
    simulator_cores: set[int]
    name: str = "cordon"
    title: str = "Cordon"

    def start(self, setting: Setting, folder: Path) -> Running:
        port, admin, apple = free_port(), free_port(), free_port()
        scheme = "https" if setting.certificate else "http"
        origin = f"{scheme}://localhost:{port}"
        folder.chmod(0o700)
        simulated_apple = self._start_simulator(folder, apple, f"{origin}/.auth/callback")
        (folder / "session.key").write_text(SECRET + "\n")
        (folder / "session.key").chmod(0o600)
        (folder / "gateway.conf").write_text(_configuration(setting, origin, port, admin, apple))
        if setting.access_lists:
            _write_members_file(folder)
        host = f"h{HOSTS // 2}.localhost" if setting.many_hosts else "localhost"
        running = Running(
            self.launch(folder, set(setting.cores)), port, host, "", health=(admin, "/readyz"), scheme=scheme,
            helpers=[simulated_apple])
        running.lines = running.process.log if setting.access_log else None
        self.wait_until_ready(running)
        running.session = sign_in(origin, host=host)
        return running

    def launch(self, folder: Path, cores: set[int]) -> Process:
        command = [str(self.binary), "run", "--config", str(folder / "gateway.conf")]
        return Process.start(self.name, command, cores=cores, folder=folder)

    def _start_simulator(self, folder: Path, port: int, redirect: str) -> Process:
        command = [
            str(self.simulator), "--port", str(port), "--write-key", str(folder / "AuthKey.p8"),
            "--redirect-uri", redirect, "--client-id", CLIENT_ID, "--team-id", TEAM_ID, "--key-id", KEY_ID]
        process = Process.start("apple-simulator", command, cores=self.simulator_cores, folder=folder)
        wait_for_port(process, port)
        return process

    def wait_until_ready(self, running: Running) -> None:
        """Waits for the readiness check. Overridden where more is done at this moment."""
        running.wait_until_ready()


def _configuration(setting: Setting, origin: str, port: int, admin: int, apple: int) -> str:
    """Returns gateway.conf."""
    tls = ""
    if setting.certificate:
        tls = (f'tls_certificate_file = "{setting.certificate.chain}"\n'
               f'tls_private_key_file = "{setting.certificate.key}"')
    text = _CONFIGURATION.format(
        origin=origin, port=port, admin=admin, apple=apple, tls=tls,
        upstream=f"unix:{setting.upstream_socket}" if setting.upstream_socket
        else f"http://127.0.0.1:{setting.upstream_port}",
        workers=len(setting.cores), access_log=str(setting.access_log).lower(), client=CLIENT_ID, team=TEAM_ID,
        key=KEY_ID)
    if setting.limits:
        text = text.replace("[session]\n", f'[session]\nmemory = "{setting.limits.session_mib}MiB"\n')
        text += f"\n[listen.limits]\nconnections = {setting.limits.connections}\n"
    if setting.revalidation_seconds:
        text += f'\n[revalidation]\ninterval = "{setting.revalidation_seconds}s"\n'
    if setting.forwarding:
        text += FORWARDING[setting.forwarding].replace("{upstream}", str(setting.upstream_port))
    for name in sorted(setting.many):
        text += MANY[name].replace("{port}", str(port))
    if setting.access_lists:
        text += _access_lists()
    if setting.many_hosts:
        text += _hosts(port)
    return text


HOSTS = 100
"""Number of hosts besides that of `public_url`, in the row with many hosts."""


def _hosts(port: int) -> str:
    """Returns hosts with a public route each."""
    return "".join(
        f'\n[[host]]\nname = "h{number}.localhost:{port}"\n'
        f'\n[[route]]\nhost = "h{number}.localhost:{port}"\npath = "/public/"\naccess = "public"\n'
        for number in range(HOSTS))


LISTED = 10_000
"""In the row with access lists: members of each of the two groups, and addresses in the deny list."""
ROUTES = 1_000
"""Routes in that row: half of them name a group, half of them methods."""


FORWARDING = {
    "basic": '\n[upstream.basic]\nuser = "{email}"\npassword = "s3cret"\n',
    "templated_header": '\n[upstream.headers]\nX-Remote-User = "{email|local:example.com|lower}"\nX-Env = "bench"\n',
    "strip_prefix": '\n[[upstreams]]\nname = "app"\nurl = "http://127.0.0.1:{upstream}"\nstrip_prefix = "/app"\n'
                    '\n[[route]]\npath = "/app"\nupstream = "app"\n',
}
"""Lines of the configuration, by row."""


def routes(count: int) -> str:
    """Returns public routes that do not match the measured request."""
    return "".join(f'\n[[route]]\npath = "/area{number}/"\naccess = "public"\n' for number in range(count))


MANY = {
    "routes": routes(10_000),
    "members": '\n[access]\nallow_groups = ["many"]\n\n[[group]]\nname = "many"\nmembers = ['
    + ", ".join(f'"user{number}@staff.example"' for number in range(10_000)) + f', "{USER_EMAIL}"]\n',
    "hosts": "".join(
        f'\n[[host]]\nname = "h{number}.localhost:{{port}}"\n' for number in range(1_000)),
}
"""Settings whose number must not affect the cost of a request, by kind."""


def _write_members_file(folder: Path) -> None:
    """Writes the members of a group of `_access_lists`; the signed-in user is the last one."""
    (folder / "staff.txt").write_text(
        "".join(f"user{number}@staff.example\n" for number in range(LISTED)) + f"{USER_EMAIL}\n")


def _access_lists() -> str:
    """Returns access rules that admit the signed-in user by a long group, with a deny list and many routes."""
    members = ", ".join(f'"user{number}@guests.example"' for number in range(LISTED))
    denied = ", ".join(f'"user{number}@former.example"' for number in range(LISTED))
    routes = "".join(
        f'\n[[route]]\npath = "/area{number}/"\n'
        + ('allow_groups = ["guests"]\n' if number % 2 else 'allow_groups = ["staff"]\nmethods = ["GET"]\n')
        for number in range(ROUTES))
    return (
        f'\n[access]\nallow_groups = ["staff"]\ndeny_emails = [{denied}]\ndeny_groups = ["guests"]\n'
        f'\n[[group]]\nname = "staff"\nmembers_file = "staff.txt"\n'
        f'\n[[group]]\nname = "guests"\nmembers = [{members}]\n{routes}')


_CONFIGURATION = """\
public_url = "{origin}"

[listen]
address = "127.0.0.1:{port}"
workers = {workers}
{tls}

[admin]
address = "127.0.0.1:{admin}"

[upstream]
url = "{upstream}"

[apple]
client_id = "{client}"
team_id = "{team}"
key_id = "{key}"
private_key_file = "AuthKey.p8"
base_url = "http://127.0.0.1:{apple}"

[session]
secret_files = ["session.key"]

[store]
url = "sqlite:cordon.db"

[identity.headers]
X-Forwarded-User = "sub"
X-Forwarded-Email = "email"
X-Forwarded-Name = "name"

[[route]]
path = "/public/"
access = "public"

[log]
access = {access_log}
level = "warning"
format = "json"
"""
