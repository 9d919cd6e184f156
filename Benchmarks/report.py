"""The results as Markdown, with their budgets."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
from pathlib import Path

import latency
from contender import Contender
from figures import NGINX_WITHOUT_LOG, Figures, Loaded
from full_store import SESSIONS_PER_ACCOUNT
from idle import CONNECTIONS as IDLE_CONNECTIONS
from rapid_reset import STREAMS
from rows import CONNECTIONS
from store import FirstSight

BUDGETS = Path(__file__).with_name("budgets.json")
BEGIN, END = "<!-- begin of what `make bench` writes -->", "<!-- end of what `make bench` writes -->"


def markdown(figures: Figures, contenders: list[Contender], conditions: str) -> str:
    """Returns the report: first the budgets, then all results."""
    parts = [conditions, _budgets(figures), _loaded(figures, contenders), _latency(figures, contenders),
             _once(figures, contenders), _quiet(figures, contenders), _floods(figures, contenders), _store(figures)]
    return "\n\n".join(part for part in parts if part)


def conditions(contenders: list[Contender], seconds: int, rounds: int) -> str:
    """Returns a description of the machine and of the measurements."""
    versions = [_version(["nginx", "-v"], r"nginx/([\d.]+)", "nginx"), _version(["haproxy", "-v"], r"version (\S+)",
        "HAProxy")]
    load = os.getloadavg()[0]
    return (
        f"{_processor()}, {os.cpu_count()} cores, Linux {platform.release()}, {', '.join(versions)}; {rounds} interleaved "
        f"rounds of {seconds} s each, medians (ratios too are medians, of rounds beside each other), {CONNECTIONS} connections; load average before the run {load:.1f}.")


def write_into(document: Path, text: str) -> None:
    """Replaces the text between the marks in the document."""
    before = document.read_text()
    if before.count(BEGIN) != 1 or before.count(END) != 1:
        raise SystemExit(f"bench: {document} has not exactly one pair of marks {BEGIN} and {END}")
    head, rest = before.split(BEGIN)
    document.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


def _budgets(figures: Figures) -> str:
    budgets, values = json.loads(BUDGETS.read_text()), figures.values()
    lines = []
    for key, budget in budgets.items():
        if key not in values:
            continue
        value = values[key]
        if "at_least" in budget:
            limit = budget["at_least"]
            bound, beyond = f"≥ {_number(limit)}", 1 - value / limit
        else:
            limit = budget["at_most"]
            bound, beyond = f"≤ {_number(limit)}", value / limit - 1
        verdict = "within" if beyond <= 0 else f"**missed** by {beyond * 100:.0f} %"
        if "goal" in budget:
            verdict += f"; goal {bound[0]} {_number(budget['goal'])}"
        lines.append(f"| {budget['title']} | {_number(value)} | {bound} | {verdict} |")
    if not lines:
        return ""
    return "\n".join(["| | measured | budget | |", "|---|---:|---:|---|", *lines])


def _loaded(figures: Figures, contenders: list[Contender]) -> str:
    if not figures.rows:
        return ""
    lines = ["| | | CPU µs/request | × nginx | requests/s | p99 ms | RSS MiB |", "|---|---|---:|---:|---:|---:|---:|"]
    for row in figures.rows:
        measured = figures.loaded[row.key]
        title = row.title
        for name, shown in [*((it.name, it.title) for it in contenders), (NGINX_WITHOUT_LOG,
            "nginx, plain, without one")]:
            if it := measured.get(name):
                lost = f", {it.lines_lost * 100:.0f} % of its lines lost" if it.lines_lost >= 0.005 else ""
                lines.append(
                    f"| {title} | {shown}{lost} | {it.cpu_us:.1f} | {_beside(it, measured.get('nginx'))} | "
                    f"{it.per_second:,.0f} | {it.p99_ms:.2f} | {it.resident_mib:.0f} |")
                title = ""
    return "\n".join(lines)


def _latency(figures: Figures, contenders: list[Contender]) -> str:
    if not (it := figures.latency):
        return ""
    lines = ["| open loop | latency, ms | p50 | p99 | p99.9 |", "|---|---|---:|---:|---:|"]
    names = []
    for contender in contenders:
        names.append((contender.name, f"added by {contender.title}"))
        if contender.name == "cordon":
            names.append((latency.BESIDE_WORK, "added by Cordon beside other work"))
    percentiles = ["p50_ms", "p99_ms", "p999_ms"]
    for share in it.rounds:
        lines.append(
            f"| {share:.0%} of capacity, {it.capacity * share:,.0f} requests/s | the application directly | "
            f"{' | '.join(f'{it.direct(share, figure):.2f}' for figure in percentiles)} |")
        for name, title in names:
            added = [it.added(share, name, figure) for figure in percentiles]
            lines.append(f"|  | {title} | {' | '.join('–' if value is None else f'{value:.2f}' for value in added)} |")
    if it.work:
        def mean(figure: str) -> float:
            return statistics.mean(getattr(done, figure) for done in it.work)

        lines += ["", f"The other work, in a second: {mean('sign_ins'):.1f} sign-ins, {mean('revalidations'):.0f} "
            f"revalidations, {mean('reloads'):.1f} reloads, {mean('scrapes'):.1f} scrapes of the metrics, "
            f"{mean('lines'):,.0f} lines of the access log."]
    return "\n".join(lines)


def _once(figures: Figures, contenders: list[Contender]) -> str:
    if not (figures.idle_kib or figures.idle_tls_kib or figures.first):
        return ""
    lines = [
        f"| | KiB per idle connection at {IDLE_CONNECTIONS:,} | over TLS | ms from exec to the first proxied answer | "
        "to `/readyz` | CPU ms to the first proxied answer |",
        "|---|---:|---:|---:|---:|---:|"]
    for contender in contenders:
        idle, first = figures.idle_kib.get(contender.name), figures.first.get(contender.name)
        secure = figures.idle_tls_kib.get(contender.name)
        cells = [
            contender.title, "–" if idle is None else f"{idle:.1f}", "–" if secure is None else f"{secure:.1f}",
            "–" if first is None else f"{first.proxied_ms:.0f}",
            "–" if first is None or first.ready_ms is None else f"{first.ready_ms:.0f}",
            "–" if first is None else f"{first.cpu_ms:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _quiet(figures: Figures, contenders: list[Contender]) -> str:
    if not figures.quiet:
        return ""
    lines = ["| idle | wake-ups a second | CPU ms a second |", "|---|---:|---:|"]
    for contender in contenders:
        if it := figures.quiet.get(contender.name):
            lines.append(f"| {contender.title} | {it.wake_ups_per_second:.1f} | {it.cpu_ms_per_second:.1f} |")
    return "\n".join(lines)


def _floods(figures: Figures, contenders: list[Contender]) -> str:
    if not figures.floods:
        return ""
    lines = [
        f"| {STREAMS:,} streams opened and reset | sent | connections | in s | honest p99 ms, quiet | meanwhile | × quiet | "
        "most RSS MiB |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for contender in contenders:
        if not (floods := figures.floods.get(contender.name)):
            continue

        def median(figure: str) -> float:
            return statistics.median(getattr(flood, figure) for flood in floods)

        lines.append(
            f"| {contender.title} | {median('streams'):,.0f} | {median('connections'):,.0f} | {median('seconds'):.1f} | "
            f"{median('quiet_p99_ms'):.2f} | {median('p99_ms'):.2f} | {median('p99_vs_quiet'):.1f} | "
            f"{max(flood.resident_mib for flood in floods):.0f} |")
    return "\n".join(lines)


def _store(figures: Figures) -> str:
    if not (it := figures.store):
        return ""
    full = f"SQLite, {it.size.accounts:,} accounts and {it.size.accounts * SESSIONS_PER_ACCOUNT:,} sessions"
    lines = ["| the store | |", "|---|---:|"]
    lines += [f"| {title} | {value} |" for title, value in [
        ("a sign-in, beside Apple's time: ms of the gateway's CPU", f"{it.sign_in_cpu_ms:.2f}"),
        ("PostgreSQL: sign-ins written in a second, every commit on the disk, one gateway",
            f"{it.postgresql_writes_per_second:,.0f}"),
        ("PostgreSQL: first sight of a session, the store alone, p50 and p99 ms", _pair(it.postgresql)),
        (f"{full}: first sight, the store alone, p50 and p99 ms", _pair(it.sqlite)),
        ("a whole request with a session seen for the first time, p50 and p99 ms", _pair(it.gateway)),
        ("the same with a session that is known, in turn with them", _pair(it.known)),
        ("start: ms from exec to the first answer, proxied or health", f"{it.start_ms:.0f}"),
        (f"most RSS after {it.size.first_sights + it.size.remembered:,} of the sessions were seen, MiB",
            f"{it.resident_mib:.0f}"),
        ("CPU per signed-in request, × the same with an empty store", f"{it.full_vs_empty:.2f}"),
    ]]
    return "\n".join(lines)


def _pair(it: FirstSight) -> str:
    return f"{it.p50_ms:.2f}, {it.p99_ms:.2f}"


def _beside(it: Loaded, nginx: Loaded | None) -> str:
    return "–" if nginx is None else f"{it.beside(nginx, 'cpu_us_per_request'):.2f}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.2f}".rstrip("0").rstrip(".")


def _version(command: list[str], pattern: str, name: str) -> str:
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(pattern, said.stdout + said.stderr)
    return f"{name} {found[1] if found else '(version unknown)'}"


def _processor() -> str:
    found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.machine()
