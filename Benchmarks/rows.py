"""Measurements under load. A row is one kind of request with one setup of the proxies; every contender runs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

CONNECTIONS = 64
"""Number of keep-alive connections of the loader."""
HTTP2_CONNECTIONS = 8
HTTP2_STREAMS = 32


class Kind(Enum):
    """Use of connections for requests."""

    KEPT = "kept"
    """Many requests on each keep-alive connection."""
    FULL = "full"
    """One request on each TLS connection, with a full handshake."""
    RESUMED = "resumed"
    """One request on each TLS connection, resumed with a ticket of the previous one."""
    NEW = "new"
    """One request on each clear-text connection."""
    HTTP2 = "http2"
    """HTTP/2: `HTTP2_CONNECTIONS` connections with `HTTP2_STREAMS` concurrent streams on each."""


@dataclass(frozen=True)
class Row:
    """One kind of request with one setup of the proxies."""

    key: str
    """Its name in budgets and in the raw figures."""
    title: str
    path: str
    signed_in: bool = True
    """Whether the session cookie is sent. The other contenders forward the same bytes."""
    access_log: bool = False
    """Whether each request is logged, to a file in memory."""
    tls: bool = False
    """Whether the loader uses TLS."""
    kind: Kind = Kind.KEPT
    access_lists: bool = False
    """Whether Cordon has groups of 10,000 members, deny lists and 1,000 routes; the others have one route."""
    many_hosts: bool = False
    """Whether Cordon serves 100 hosts, and the request is for one of them; the others serve one."""
    forwarding: str = ""
    """Changes that Cordon makes to each request, by name (`FORWARDING` of gateway.py); the others make none."""
    unix_socket: bool = False
    """Whether Cordon reaches the application through a Unix socket; the others reach it over TCP."""
    cores: int = 1
    """Cores of the proxy. With two, the loader and the application share them with it."""


SMALL = "/app/1k"
LARGE = "/app/1m"
PUBLIC = "/public/1k"

ROWS = [
    Row("authenticated", "Authenticated forwarding, 1 KB", SMALL),
    Row("unix_socket", "The same, application on a Unix socket", SMALL, unix_socket=True),
    Row("access_log", "The same, access log on", SMALL, access_log=True),
    Row("access_lists", "The same by groups of 10,000 members, 1,000 routes", SMALL, access_lists=True),
    Row("hosts", "The same on one of 100 hosts", SMALL, many_hosts=True),
    Row("basic", "The same with HTTP Basic for the application", SMALL, forwarding="basic"),
    Row("templated_header", "The same with a header of a template", SMALL, forwarding="templated_header"),
    Row("strip_prefix", "The same with a removed path prefix", SMALL, forwarding="strip_prefix"),
    Row("public", "Public route, 1 KB", PUBLIC, signed_in=False),
    Row("new_connection", "A new cleartext connection and one request", SMALL, kind=Kind.NEW),
    Row("one_megabyte", "1 MB bodies down", LARGE),
    Row("tls", "Authenticated forwarding, 1 KB, TLS 1.3 kept alive", SMALL, tls=True),
    Row("tls_one_megabyte", "1 MB bodies down, TLS 1.3", LARGE, tls=True),
    Row("http2", "Authenticated forwarding, 1 KB, HTTP/2 over TLS", SMALL, tls=True, kind=Kind.HTTP2),
    Row("tls_full", "TLS 1.3, full handshake and one request", SMALL, tls=True, kind=Kind.FULL),
    Row("tls_resumed", "TLS 1.3, resumed handshake and one request", SMALL, tls=True, kind=Kind.RESUMED),
    Row("two_cores", "Authenticated forwarding, 1 KB, two cores", SMALL, cores=2),
]


def request_head(path: str, fields: list[tuple[str, str]]) -> str:
    """Returns a GET request of HTTP/1.1."""
    return f"GET {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields) + "\r\n"


def browser_fields(authority: str, session: str | None) -> list[tuple[str, str]]:
    """Returns the headers of a browser navigation: twelve, with two cookies of the application in `Cookie`.

    `session` is the session cookie, `name=value`.
    """
    cookies = ["theme=dark", "_app_session=4bf92f3577b34da6a3ce929d0e0e4736"]
    if session:
        cookies.insert(1, session)
    return [
        ("Host", authority),
        ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
         "Safari/537.36"),
        ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
        ("Accept-Language", "en-GB,en;q=0.9,de;q=0.8"),
        ("Accept-Encoding", "gzip, deflate, br"),
        ("Cache-Control", "max-age=0"),
        ("Referer", f"http://{authority}/app/orders?page=2"),
        ("Upgrade-Insecure-Requests", "1"),
        ("Sec-Fetch-Dest", "document"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Site", "same-origin"),
        ("Cookie", "; ".join(cookies)),
    ]
