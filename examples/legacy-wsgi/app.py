#!/usr/bin/env python3
"""The time sheet of a small workshop: a web application without support for single sign-on.

It uses neither Apple's tokens nor cookies. It trusts three request headers, because only the gateway can connect to it:
X-Forwarded-User, X-Forwarded-Email and X-Forwarded-Name (UTF-8, percent-encoded where it is not ASCII).

    python3 app.py [PORT]        listens on 127.0.0.1:PORT, 3000 if none is given; needs only the standard library

Entries are kept in memory and are lost when it stops.
"""

import datetime
import html
import socketserver
import sys
import threading
import urllib.parse
import wsgiref.simple_server

MOST_ENTRIES = 200
LONGEST_FORM = 16 * 1024

JOBS = [
    ("2041", "Staircase, Mill Lane 4"),
    ("2043", "Shop counter, Harbour Bakery"),
    ("2044", "Window frames, St Mary's School"),
    ("2047", "Kitchen, Fam. Lindqvist"),
    ("0000", "Workshop, tools and machines"),
]


class TimeSheet:
    """The entries, newest first. Requests are handled on several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        today = datetime.date.today()
        self._entries = [
            (today, "Marta Kowalski", "2043", 6.5, "Oak top glued up, edges planed"),
            (today, "Piet de Vries", "2041", 4.0, "Treads 9 to 14 fitted"),
            (today - datetime.timedelta(days=1), "Marta Kowalski", "2043", 8.0, "Carcass assembled"),
            (today - datetime.timedelta(days=1), "Piet de Vries", "0000", 1.5, "Planer knives changed"),
        ]

    def add(self, who, job, hours, note):
        with self._lock:
            self._entries.insert(0, (datetime.date.today(), who, job, hours, note))
            del self._entries[MOST_ENTRIES:]

    def all(self):
        with self._lock:
            return list(self._entries)


SHEET = TimeSheet()


class User:
    """The user, from the identity headers that the gateway sets."""

    def __init__(self, environ):
        self.id = environ.get("HTTP_X_FORWARDED_USER", "")
        self.email = urllib.parse.unquote(environ.get("HTTP_X_FORWARDED_EMAIL", ""))
        # The gateway percent-encodes the name, which can contain any characters.
        self.name = urllib.parse.unquote(environ.get("HTTP_X_FORWARDED_NAME", "")).strip()

    @property
    def greeting(self):
        return self.name or self.email or "colleague"


# Responses


def application(environ, start_response):
    method = environ["REQUEST_METHOD"]
    path = environ.get("PATH_INFO", "/")
    user = User(environ)
    if path == "/" and method in ("GET", "HEAD"):
        return answer(start_response, "200 OK", time_sheet_page(user))
    if path == "/entries" and method == "POST":
        return add_entry(environ, start_response, user)
    if path in ("/public", "/public/") and method in ("GET", "HEAD"):
        return answer(start_response, "200 OK", opening_hours_page())
    if path in ("/headers", "/public/headers") and method in ("GET", "HEAD"):
        return answer(start_response, "200 OK", headers_text(environ), "text/plain; charset=utf-8")
    return answer(start_response, "404 Not Found", page("Not found", "<h1>Not found</h1><p>There is no such page.</p>", user))


def add_entry(environ, start_response, user):
    length = environ.get("CONTENT_LENGTH") or "0"
    if not length.isascii() or not length.isdigit() or int(length) > LONGEST_FORM:
        return answer(start_response, "413 Content Too Large", page("Too long", "<h1>That is too long</h1>", user))
    form = urllib.parse.parse_qs(environ["wsgi.input"].read(int(length)).decode("utf-8", "replace"))
    job = form.get("job", [""])[0]
    note = form.get("note", [""])[0].strip()[:120]
    try:
        hours = round(float(form.get("hours", [""])[0].replace(",", ".")) * 4) / 4
    except (ValueError, OverflowError):
        hours = 0
    if job not in dict(JOBS) or not 0 < hours <= 24:
        text = "<h1>That cannot be booked</h1><p>Choose a job, and between a quarter of an hour and 24 hours.</p>"
        return answer(start_response, "400 Bad Request", page("Not booked", text + BACK, user))
    SHEET.add(user.greeting, job, hours, note)
    start_response("303 See Other", [("Location", "/"), ("Content-Length", "0")])
    return [b""]


def answer(start_response, status, text, content_type="text/html; charset=utf-8"):
    body = text.encode("utf-8")
    start_response(status, [("Content-Type", content_type), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")])
    return [body]


# Pages

BACK = '<p><a href="/">Back to the time sheet</a></p>'


def time_sheet_page(user):
    names = dict(JOBS)
    entries = SHEET.all()
    rows = "".join(
        f"<tr><td>{date:%d.%m.%Y}</td><td>{html.escape(who)}</td><td>{job}</td><td>{html.escape(names[job])}</td>"
        f'<td class="number">{hours:.2f}</td><td>{html.escape(note)}</td></tr>'
        for date, who, job, hours, note in entries
    )
    options = "".join(f'<option value="{job}">{job} {html.escape(name)}</option>' for job, name in JOBS)
    total = sum(hours for _, _, _, hours, _ in entries)
    return page(
        "Time sheet",
        f"""
<h1 id="greeting">Good {part_of_day()}, {html.escape(user.greeting)}</h1>
<form class="entry" method="post" action="/entries">
  <fieldset><legend>Book hours</legend>
    <div><label for="job">Job</label><select id="job" name="job">{options}</select></div>
    <div><label for="hours">Hours</label><input id="hours" name="hours" size="5" inputmode="decimal" required></div>
    <div class="wide"><label for="note">What was done</label><input id="note" name="note" maxlength="120"></div>
    <div><button id="book" type="submit">Book</button></div>
  </fieldset>
</form>
<div class="scroll" tabindex="0" role="region" aria-label="Entries"><table>
<caption>Entries</caption>
<thead><tr><th scope="col">Date</th><th scope="col">Name</th><th scope="col">Job</th><th scope="col">Order</th>
<th scope="col" class="number">Hours</th><th scope="col">Note</th></tr></thead>
<tbody>{rows}</tbody>
<tfoot><tr><td colspan="4">Total</td><td class="number">{total:.2f}</td><td></td></tr></tfoot>
</table></div>""",
        user,
    )


def opening_hours_page():
    return page(
        "Opening hours",
        """
<h1>Opening hours</h1>
<table class="narrow"><tbody>
<tr><th scope="row">Monday to Thursday</th><td>7:00 to 16:30</td></tr>
<tr><th scope="row">Friday</th><td>7:00 to 13:00</td></tr>
<tr><th scope="row">Saturday</th><td>by arrangement</td></tr>
</tbody></table>
<p>Anybody may read this page. The time sheet wants to know who you are.</p>""" + BACK,
        None,
    )


def headers_text(environ):
    lines = [f"{environ['REQUEST_METHOD']} {environ.get('PATH_INFO', '')}", ""]
    for key in sorted(environ):
        if key.startswith("HTTP_"):
            lines.append(f"{key[5:].replace('_', '-').title()}: {environ[key]}")
    return "\n".join(lines) + "\n"


def part_of_day():
    hour = datetime.datetime.now().hour
    return "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"


def page(title, body, user):
    who = ""
    if user is not None and user.id:
        email = f" &middot; {html.escape(user.email)}" if user.email else ""
        who = f"""<p class="who">Signed in as <strong id="user-name">{html.escape(user.greeting)}</strong>{email}
<br><small>Staff number <span id="user-id">{html.escape(user.id)}</span></small>
<br><a id="sign-out" href="/.auth/sign-out">Sign out</a></p>"""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} - Brandt &amp; Daughters Joinery</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style></head>
<body>
<header><div><p class="firm">Brandt &amp; Daughters</p><p class="trade">Joinery and interior works, since 1974</p></div>{who}</header>
<nav aria-label="Main"><a href="/">Time sheet</a> <a href="/public/">Opening hours</a> <a href="/headers">Request headers</a></nav>
<main>{body}</main>
<footer>Time sheet 3.2 &middot; Questions? Ask the office, extension 12.</footer>
</body></html>"""


STYLE = """
body { margin: 0 auto; max-width: 60em; padding: 0 1em; background: #e9e6df; color: #222;
  font: 15px/1.45 Verdana, "DejaVu Sans", Geneva, sans-serif; }
header { display: flex; justify-content: space-between; align-items: flex-start; flex-wrap: wrap; gap: .5em 2em;
  background: #3d5a45; color: #fff; padding: 1em 1.25em; margin-top: 1em; }
header p { margin: 0; } .firm { font: bold 1.6em Georgia, "DejaVu Serif", serif; } .trade { font-size: .85em; }
.who { font-size: .85em; text-align: right; } .who a { color: #fff; } small { opacity: .85; overflow-wrap: anywhere; }
nav { background: #2b4031; padding: .5em 1.25em; } nav a { color: #fff; margin-right: 1.25em; white-space: nowrap; }
main { background: #fff; border: 1px solid #c9c3b5; border-top: 0; padding: 1.25em; }
h1 { font: bold 1.4em Georgia, "DejaVu Serif", serif; margin: 0 0 .75em; }
fieldset { border: 1px solid #c9c3b5; display: flex; flex-wrap: wrap; gap: .75em; align-items: flex-end; margin: 0 0 1.5em;
  padding: .75em 1em 1em; min-width: 0; } fieldset div { min-width: 0; max-width: 100%; } legend { font-weight: bold; padding: 0 .4em; }
label { display: block; font-size: .85em; } .wide { flex: 1 1 14em; } .wide input { width: 100%; }
input, select, button { font: inherit; height: 2.3em; padding: 0 .5em; box-sizing: border-box; max-width: 100%; }
button { background: #3d5a45; color: #fff; border: 1px solid #2b4031; padding: 0 1.2em; cursor: pointer; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible { outline: 3px solid #c77700; outline-offset: 1px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9em; } .narrow { width: auto; }
caption { text-align: left; font-weight: bold; padding-bottom: .4em; }
th, td { border: 1px solid #d8d3c6; padding: .35em .6em; text-align: left; vertical-align: top; } thead th, tfoot td { background: #f1eee6; }
tbody tr:nth-child(even) td { background: #faf8f3; } .number { text-align: right; } tfoot td { font-weight: bold; }
@media (max-width: 40em) { body { padding: 0; } header { margin-top: 0; } .who { text-align: left; } main { border: 0; } }
footer { font-size: .8em; color: #5c574b; padding: .75em 1.25em 2em; }
"""


class ThreadedServer(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 128


class QuietHandler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, format, *arguments):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    with wsgiref.simple_server.make_server("127.0.0.1", port, application, ThreadedServer, QuietHandler) as server:
        print(f"time sheet at http://127.0.0.1:{server.server_port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
