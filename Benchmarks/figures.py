"""Measurements, and the results computed from them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from first_answer import FirstAnswer
from latency import LatencyFigures
from load import Round
from quiet import Quiet
from rapid_reset import Flood
from rows import Row
from store import StoreFigures


NGINX_WITHOUT_LOG = "nginx-without-log"
"""nginx without an access log, in the row with access logs: the baseline for the cost of Cordon's log."""


@dataclass
class Loaded:
    """One contender in one row."""

    rounds: list[Round] = field(default_factory=list)
    resident_mib: float = 0
    """After the last round."""
    private_dirty_mib: float = 0
    """After the last round."""

    @property
    def cpu_us(self) -> float:
        return statistics.median(round.cpu_us_per_request for round in self.rounds)

    @property
    def per_second(self) -> float:
        return statistics.median(round.requests_per_second for round in self.rounds)

    @property
    def p99_ms(self) -> float:
        return statistics.median(round.p99_ms for round in self.rounds)

    def beside(self, other: Loaded, figure: str) -> float:
        """Returns the median ratio to another measurement. Each round is compared with the adjacent one, so that
        changes in the speed of the machine cancel out."""
        return statistics.median(
            getattr(ours, figure) / getattr(theirs, figure) for ours, theirs in zip(self.rounds, other.rounds))

    @property
    def lines_lost(self) -> float:
        return statistics.median(round.lines_lost for round in self.rounds)


@dataclass
class Figures:
    """All results of one run. Contenders are keyed by name."""

    loaded: dict[str, dict[str, Loaded]] = field(default_factory=dict)
    """By row key, then by contender."""
    rows: list[Row] = field(default_factory=list)
    idle_kib: dict[str, float] = field(default_factory=dict)
    idle_tls_kib: dict[str, float] = field(default_factory=dict)
    first: dict[str, FirstAnswer] = field(default_factory=dict)
    floods: dict[str, list[Flood]] = field(default_factory=dict)
    manifest_share: dict[str, float] = field(default_factory=dict)
    """Memory as a fraction of the Kubernetes manifest's limit, by scheme."""
    latency: LatencyFigures | None = None
    store: StoreFigures | None = None
    quiet: dict[str, Quiet] = field(default_factory=dict)
    growth: dict[str, float] = field(default_factory=dict)
    """CPU time per request relative to none configured, by kind of setting."""
    upload_vs_download: float | None = None
    reload_cpu_ms: float | None = None
    binary_mb: float | None = None

    def values(self) -> dict[str, float]:
        """Returns the results with budgets that this run has measured."""
        found: dict[str, float] = {}

        def ratio(name: str, row: str, other: str, figure: str) -> None:
            measured = self.loaded.get(row, {})
            if "cordon" in measured and other in measured:
                found[name] = measured["cordon"].beside(measured[other], figure)

        ratio("authenticated_cpu_vs_nginx", "authenticated", "nginx", "cpu_us_per_request")
        ratio("hosts_cpu_vs_nginx", "hosts", "nginx", "cpu_us_per_request")
        ratio("access_lists_cpu_vs_nginx", "access_lists", "nginx", "cpu_us_per_request")
        ratio("unix_socket_cpu_vs_nginx", "unix_socket", "nginx", "cpu_us_per_request")
        ratio("new_connection_cpu_vs_nginx", "new_connection", "nginx", "cpu_us_per_request")
        for row in ["basic", "templated_header", "strip_prefix"]:
            ratio(f"{row}_cpu_vs_nginx", row, "nginx", "cpu_us_per_request")
        ratio("access_log_cpu_vs_nginx", "access_log", NGINX_WITHOUT_LOG, "cpu_us_per_request")
        ratio("authenticated_p99_vs_nginx", "authenticated", "nginx", "p99_ms")
        ratio("one_megabyte_cpu_vs_haproxy", "one_megabyte", "haproxy", "cpu_us_per_request")
        for row in ["tls", "tls_one_megabyte", "http2", "tls_full", "tls_resumed"]:
            ratio(f"{row}_cpu_vs_nginx", row, "nginx", "cpu_us_per_request")
        if resident := [row["cordon"].resident_mib for row in self.loaded.values() if "cordon" in row]:
            found["rss_mib"] = max(resident)
        plain = self.loaded.get("authenticated", {})
        if "cordon" in plain and "nginx" in plain:
            found["private_dirty_vs_nginx"] = plain["cordon"].private_dirty_mib / plain["nginx"].private_dirty_mib
        if "cordon" in self.quiet:
            found["wake_ups_per_second"] = self.quiet["cordon"].wake_ups_per_second
        for name, times in self.growth.items():
            found[f"many_{name}_cpu_vs_none"] = times
        for name in ["upload_vs_download", "reload_cpu_ms", "binary_mb"]:
            if (value := getattr(self, name)) is not None:
                found[name] = value
        if "cordon" in self.idle_kib:
            found["idle_connection_kib"] = self.idle_kib["cordon"]
        if "cordon" in self.idle_tls_kib:
            found["idle_tls_connection_kib"] = self.idle_tls_kib["cordon"]
        if floods := self.floods.get("cordon"):
            found["rapid_reset_p99_vs_quiet"] = statistics.median(flood.p99_vs_quiet for flood in floods)
            found["rapid_reset_rss_mib"] = max(flood.resident_mib for flood in floods)
        if self.manifest_share:
            found["manifest_memory_vs_limit"] = max(self.manifest_share.values())
        if self.latency:
            found |= self.latency.values()
        if self.store:
            found |= self.store.values()
        if first := self.first.get("cordon"):
            found["first_answer_ms"] = max(first.proxied_ms, first.ready_ms or 0)
            found["first_answer_cpu_ms"] = first.cpu_ms
        return found
