"""Signs in like a browser: gateway, Apple's page, callback. The benchmark uses the resulting session."""

from __future__ import annotations

import http.client
import ssl
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

SESSION_COOKIE = "__Host-cordon"
FORM = "application/x-www-form-urlencoded"


def sign_in(origin: str, user: str = "anna", host: str = "localhost", new_email: str | None = None) -> str:
    """Signs the simulator's user in at a gateway, or a new one with this e-mail address.

    Returns the session cookie as `name=value`: that of `public_url`, or of another host, to which the session is handed
    over.
    """
    visitor = _sign_in(origin, {"user": "new", "new_email": new_email} if new_email else {"user": user})
    if host not in visitor.cookies or SESSION_COOKIE not in visitor.cookies[host]:
        parts = urlsplit(origin)
        visitor.go("GET", f"{parts.scheme}://{host}:{parts.port}/", until=host)
    session = visitor.cookies.get(host, {}).get(SESSION_COOKIE)
    if session is None:
        raise SystemExit(f"bench: no session on {host}; the last page was {visitor.address}:\n{visitor.page[:2_000]}")
    return f"{SESSION_COOKIE}={session}"


def _sign_in(origin: str, choice: dict[str, str]) -> _Visitor:
    """Returns a visitor with a session of `public_url`."""
    visitor = _Visitor()
    visitor.go("GET", f"{origin}/.auth/authorize")
    visitor.submit("/auth/authorize", {
        **choice, "first_name": "Anna", "last_name": "Apple", "new_first_name": "Anna", "new_last_name": "Apple",
        "email_choice": "share", "decision": "continue"})
    # Apple responds with an auto-submitted cross-site form, which is sent without our cookies (SameSite). The gateway
    # therefore has the form submitted again from its own page.
    for _ in range(3):
        if SESSION_COOKIE in visitor.cookies.get("localhost", {}):
            return visitor
        visitor.submit("/callback", {})
    if SESSION_COOKIE in visitor.cookies.get("localhost", {}):
        return visitor
    raise SystemExit(f"bench: no session after signing in; the last page was {visitor.address}:\n{visitor.page[:2_000]}")


class _Visitor:
    """A client that follows redirects, stores cookies by host, submits forms and sends a browser's headers."""

    def __init__(self) -> None:
        self.cookies: dict[str, dict[str, str]] = {}
        self.address = ""
        self.page = ""

    def submit(self, action: str, values: dict[str, str]) -> None:
        """Submits the form of the current page whose action ends with this text, with the given values."""
        forms = _Forms()
        forms.feed(self.page)
        form = next((form for form in forms.found if form[0].endswith(action)), None)
        if form is None:
            raise SystemExit(f"bench: no form for {action} on {self.address}:\n{self.page[:2_000]}")
        self.go("POST", urljoin(self.address, form[0]), urlencode({**form[1], **values}))

    def go(self, method: str, address: str, body: str | None = None, until: str = "localhost") -> None:
        """Opens a URL and follows redirects until the host has a session."""
        previous = self.address
        for _ in range(10):
            status, location = self._send(method, address, body, previous)
            self.address = address
            if status not in (302, 303):
                if status != 200:
                    raise SystemExit(f"bench: signing in, {address} answered {status}:\n{self.page[:2_000]}")
                return
            previous, address, method, body = address, urljoin(address, location), "GET", None
            if SESSION_COOKIE in self.cookies.get(until, {}):
                return
        raise SystemExit(f"bench: signing in, a redirect without end at {address}")

    def _send(self, method: str, address: str, body: str | None, previous: str) -> tuple[int, str]:
        parts = urlsplit(address)
        site = _site(previous, address)
        fields = {
            "Host": parts.netloc, "Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
            "Sec-Fetch-Site": site}
        jar = self.cookies.setdefault(parts.hostname or "", {})
        if jar and not (site == "cross-site" and method == "POST"):
            fields["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if body is not None:
            before = urlsplit(previous)
            fields |= {"Content-Type": FORM, "Origin": f"{before.scheme}://{before.netloc}"}
        connection = _connect(parts.scheme, parts.port or 80)
        try:
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request(method, target, body=body, headers=fields)
            response = connection.getresponse()
            self.page = response.read().decode(errors="replace")
        finally:
            connection.close()
        for line in response.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            if value and "max-age=0" not in line.lower():
                jar[name] = value
            else:
                jar.pop(name, None)
        return response.status, response.headers.get("Location", "")


class _Forms(HTMLParser):
    """Collects the forms of a page, with their actions and hidden inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self.found.append((attributes.get("action") or "", {}))
        elif tag == "input" and attributes.get("type") == "hidden" and self.found:
            self.found[-1][1][attributes.get("name") or ""] = attributes.get("value") or ""


def _connect(scheme: str, port: int) -> http.client.HTTPConnection:
    if scheme == "https":
        # The certificate is self-signed, made by this run.
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=ssl._create_unverified_context())
    return http.client.HTTPConnection("127.0.0.1", port, timeout=10)


def _site(previous: str, address: str) -> str:
    """Returns the value of `Sec-Fetch-Site`. Simulator (127.0.0.1) and gateway (localhost) are different sites."""
    if not previous:
        return "none"
    before, after = urlsplit(previous), urlsplit(address)
    if (before.scheme, before.netloc) == (after.scheme, after.netloc):
        return "same-origin"
    return "same-site" if before.hostname == after.hostname else "cross-site"
